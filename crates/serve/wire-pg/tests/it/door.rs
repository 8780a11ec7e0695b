//! A door that is open for one test, and clients for it.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Buf, BufMut, BytesMut};
use identity::{Identity, make_verifier};
use policy::model::{State, User};
use stdx::Secret;
use store::MemoryStore;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_postgres::{Client, Config, Connection, NoTls, Socket, tls::NoTlsStream};
use tokio_util::sync::CancellationToken;
use wire_pg::{PgConfig, PgServer, bind};

use crate::engine::Engine;

pub(crate) struct Door {
    pub(crate) addr: SocketAddr,
    pub(crate) server: Option<PgServer>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) engine: Arc<Engine>,
    identity: Arc<Identity>,
}

pub(crate) fn config() -> PgConfig {
    PgConfig { listen: ([127, 0, 0, 1], 0).into(), tls: None, require_tls: false, connections_max: 10 }
}

pub(crate) async fn open() -> Door {
    open_with(config(), Engine::default()).await
}

pub(crate) async fn open_with(config: PgConfig, engine: Engine) -> Door {
    let mut state = State::default();
    let credential = Some(make_verifier(&Secret::new("wonder")).unwrap());
    let alice = User { id: 1, name: "alice".to_owned(), credential, attributes: Default::default() };
    state.users.insert(alice.name.clone(), alice);
    let store = Arc::new(MemoryStore::new(state).unwrap());
    let identity = Arc::new(Identity::open(store).await.unwrap());
    let engine = Arc::new(engine);
    let shutdown = CancellationToken::new();
    let service = Arc::clone(&engine) as Arc<dyn query_api::QueryService>;
    let server = bind(config, service, Arc::clone(&identity), shutdown.clone()).await.unwrap();
    Door { addr: server.local_addr, server: Some(server), shutdown, engine, identity }
}

impl Door {
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new();
        config.host("127.0.0.1").port(self.addr.port()).user("alice").password("wonder").dbname("lake");
        config
    }

    pub(crate) fn identity(&self) -> Arc<Identity> {
        Arc::clone(&self.identity)
    }

    pub(crate) async fn connect(&self) -> Client {
        self.try_connect(&self.config()).await.unwrap()
    }

    pub(crate) async fn try_connect(&self, config: &Config) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = config.connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    pub(crate) async fn halves(&self) -> (Client, Connection<Socket, NoTlsStream>) {
        self.config().connect(NoTls).await.unwrap()
    }

    /// A client that speaks the protocol byte by byte, logged in.
    pub(crate) async fn raw(&self) -> Raw {
        // The login is the library's; the socket underneath is ours.
        let (outer, inner) = tokio::io::duplex(1 << 20);
        let mut socket = TcpStream::connect(self.addr).await.unwrap();
        let login = tokio::spawn({
            let config = self.config();
            async move { config.connect_raw(inner, NoTls).await.map(|(client, _)| drop(client)) }
        });
        let mut outer = outer;
        // The library is let go at once when it is logged in, so what it reads is what the login sent.
        let mut seen = BytesMut::new();
        let mut tail = Vec::new();
        while !tail.ends_with(b"Z\0\0\0\x05I") {
            tokio::select! {
                n = outer.read_buf(&mut seen) => {
                    n.unwrap();
                    socket.write_all_buf(&mut seen).await.unwrap();
                }
                n = async { let mut chunk = [0; 4096]; socket.read(&mut chunk).await.map(|n| chunk[..n].to_vec()) } => {
                    let chunk = n.unwrap();
                    outer.write_all(&chunk).await.unwrap();
                    tail.extend_from_slice(&chunk);
                }
            }
        }
        login.await.unwrap().unwrap();
        Raw { socket, inbox: BytesMut::new() }
    }
}

pub(crate) struct Raw {
    pub(crate) socket: TcpStream,
    inbox: BytesMut,
}

pub(crate) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    out.put_i32(i32::try_from(body.len()).unwrap() + 4);
    out.extend_from_slice(body);
    out
}

impl Raw {
    pub(crate) fn new(socket: TcpStream) -> Self {
        Self { socket, inbox: BytesMut::new() }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).await.unwrap();
    }

    /// The next message; `None` once the server has closed.
    pub(crate) async fn next(&mut self) -> Option<(char, Vec<u8>)> {
        loop {
            if self.inbox.len() >= 5 {
                let length = (&self.inbox[1..5]).get_i32() as usize;
                if self.inbox.len() > length {
                    let message = self.inbox.split_to(length + 1);
                    return Some((char::from(message[0]), message[5..].to_vec()));
                }
            }
            if self.socket.read_buf(&mut self.inbox).await.unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    /// The kinds of the messages up to the next `ReadyForQuery`.
    pub(crate) async fn kinds(&mut self) -> String {
        let mut kinds = String::new();
        while let Some((kind, _)) = self.next().await {
            kinds.push(kind);
            if kind == 'Z' {
                break;
            }
        }
        kinds
    }
}

/// The fields of an error or notice.
pub(crate) fn fields(body: &[u8]) -> Vec<(char, String)> {
    body.split(|byte| *byte == 0)
        .filter(|field| !field.is_empty())
        .map(|field| (char::from(field[0]), String::from_utf8(field[1..].to_vec()).unwrap()))
        .collect()
}

pub(crate) fn field(body: &[u8], wanted: char) -> String {
    fields(body).into_iter().find(|(kind, _)| *kind == wanted).map(|(_, value)| value).unwrap_or_default()
}

/// The SQLSTATE and the message of a failed call.
pub(crate) fn told(error: &tokio_postgres::Error) -> (String, String) {
    let error = error.as_db_error().unwrap_or_else(|| panic!("no answer of the server: {error:?}"));
    (error.code().code().to_owned(), error.message().to_owned())
}

pub(crate) fn assert_told<T: std::fmt::Debug>(
    result: Result<T, tokio_postgres::Error>,
    code: &str,
    message: &str,
) {
    assert_eq!(told(&result.unwrap_err()), (code.to_owned(), message.to_owned()));
}
