//! One client's bytes: requests read, answers gathered and written, and her leaving noticed while a statement runs.

use std::future::{Future, pending};
use std::io;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use pgwire::messages::PgWireBackendMessage;
use query_api::QueryError;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::answer::Refusal;
use crate::frame::{self, Opening};
use crate::limits::{CANCEL_GRACE, FLUSH_BYTES, READ_AHEAD_BYTES_MAX, READ_BYTES, STARTUP_BYTES_MAX};

/// A socket, with TLS or without.
pub(crate) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// Why something did not come to its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The statement failed; the connection goes on.
    Refused(Refusal),
    /// The client does not keep to the protocol, or may not be here: told once, and the connection ends.
    Fatal(Refusal),
    /// There is nobody left to tell.
    Gone,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        // The kind of a network failure matters to nobody: the client is not there any more.
        Self::Gone
    }
}

pub(crate) struct Wire {
    reader: ReadHalf<Box<dyn Socket>>,
    writer: WriteHalf<Box<dyn Socket>>,
    inbox: BytesMut,
    outbox: BytesMut,
}

impl Wire {
    pub(crate) fn new(socket: Box<dyn Socket>) -> Self {
        let (reader, writer) = tokio::io::split(socket);
        Self { reader, writer, inbox: BytesMut::new(), outbox: BytesMut::new() }
    }

    /// Goes over to TLS.
    pub(crate) async fn upgrade(&mut self, acceptor: &TlsAcceptor) -> Result<(), Failure> {
        // Bytes that came before the handshake were not protected by it, and must not pass for those that were.
        if !self.inbox.is_empty() {
            return Err(Failure::Fatal(Refusal::protocol(
                "received unencrypted data after a request for TLS",
            )));
        }
        let nobody: Box<dyn Socket> = Box::new(tokio::io::empty());
        let Self { reader, writer, .. } = std::mem::replace(self, Self::new(nobody));
        let secured = acceptor.accept(reader.unsplit(writer)).await?;
        *self = Self::new(Box::new(secured));
        Ok(())
    }

    pub(crate) async fn opening(&mut self) -> Result<Opening, Failure> {
        loop {
            if let Some(opening) =
                frame::opening(&mut self.inbox, STARTUP_BYTES_MAX).map_err(Failure::Fatal)?
            {
                return Ok(opening);
            }
            self.fill().await?;
        }
    }

    /// The next message; dropped while it waits, it loses nothing.
    pub(crate) async fn message(&mut self, bytes_max: usize) -> Result<(u8, Bytes), Failure> {
        loop {
            if let Some(message) = frame::typed(&mut self.inbox, bytes_max).map_err(Failure::Fatal)? {
                return Ok(message);
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Result<(), Failure> {
        self.inbox.reserve(READ_BYTES);
        match self.reader.read_buf(&mut self.inbox).await? {
            0 => Err(Failure::Gone),
            _ => Ok(()),
        }
    }

    /// Answers with one raw byte, as TLS negotiation does.
    pub(crate) async fn send_byte(&mut self, byte: u8) -> Result<(), Failure> {
        self.outbox.extend_from_slice(&[byte]);
        self.flush().await
    }

    pub(crate) fn put(&mut self, message: &PgWireBackendMessage) -> Result<(), Failure> {
        let start = self.outbox.len();
        message.encode(&mut self.outbox).map_err(|_| {
            self.outbox.truncate(start);
            Failure::Refused(Refusal::internal())
        })
    }

    pub(crate) fn outbox(&mut self) -> &mut BytesMut {
        &mut self.outbox
    }

    pub(crate) fn is_full(&self) -> bool {
        self.outbox.len() >= FLUSH_BYTES
    }

    /// Writes all that is gathered, reading ahead meanwhile: a client that writes many requests before it reads must
    /// not block us for ever.
    pub(crate) async fn flush(&mut self) -> Result<(), Failure> {
        let Self { reader, writer, inbox, outbox } = self;
        while !outbox.is_empty() {
            tokio::select! {
                written = writer.write_buf(outbox) => {
                    if written? == 0 {
                        return Err(Failure::Gone);
                    }
                }
                failure = read_ahead(reader, inbox) => return Err(failure),
            }
        }
        writer.flush().await?;
        Ok(())
    }

    /// Runs a part of a statement. It ends early when the client leaves, or when it was cancelled and does not stop by
    /// itself in time; a panic in it becomes an error like any other.
    pub(crate) async fn supervise<T>(
        &mut self,
        cancel: &CancellationToken,
        work: impl Future<Output = Result<T, QueryError>>,
        refuse: impl Fn(&QueryError) -> Refusal,
    ) -> Result<T, Failure> {
        let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
        let mut overdue = pin!(async {
            cancel.cancelled().await;
            tokio::time::sleep(CANCEL_GRACE).await;
        });
        tokio::select! {
            biased;
            ended = &mut work => match ended {
                Ok(ended) => ended.map_err(|error| Failure::Refused(refuse(&error))),
                Err(_panic) => {
                    tracing::error!("a statement panicked");
                    Err(Failure::Refused(Refusal::internal()))
                }
            },
            () = &mut overdue => Err(Failure::Refused(Refusal::cancelled())),
            failure = read_ahead(&mut self.reader, &mut self.inbox) => {
                cancel.cancel();
                Err(failure)
            }
        }
    }

    /// The last words of a connection; whether they arrive does not matter any more.
    pub(crate) async fn farewell(&mut self, refusal: Refusal) {
        if self.put(&refusal.fatal()).is_ok() && self.flush().await.is_ok() {
            let _ = self.writer.shutdown().await;
        }
    }
}

/// Reads on until the client has left; once enough lies ready it only waits.
async fn read_ahead(reader: &mut ReadHalf<Box<dyn Socket>>, inbox: &mut BytesMut) -> Failure {
    while inbox.len() < READ_AHEAD_BYTES_MAX {
        inbox.reserve(READ_BYTES);
        match reader.read_buf(inbox).await {
            Ok(0) | Err(_) => return Failure::Gone,
            Ok(_) => {}
        }
    }
    pending().await
}

/// Runs a call that may panic, for the parts that are not async.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Refusal> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_panic| {
        tracing::error!("a statement panicked");
        Refusal::internal()
    })
}
