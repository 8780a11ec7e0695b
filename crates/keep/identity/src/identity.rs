//! Logins against the users that the authority keeps.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use policy::Principal;
use stdx::Secret;
use store::PolicyStore;

use crate::verifier::{PASSWORD_BYTES_MAX, Verifier};
use crate::{IdentityError, ScramError, ServerExchange};

/// The name under which the store keeps the key that mock salts come from.
const MOCK_KEY: &str = "scram-mock-key";

const MOCK_KEY_BYTES: usize = 32;

/// Looks users up in the store's newest snapshot, so that a dropped user or a new password counts at once.
pub struct Identity {
    store: Arc<dyn PolicyStore>,
    mock_key: Secret,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Identity {
    /// The mock key is kept in the store, since a salt that changes at each start would tell that nobody has it.
    pub async fn open(store: Arc<dyn PolicyStore>) -> Result<Self, IdentityError> {
        let make = |_: &str| {
            let key: [u8; MOCK_KEY_BYTES] = rand::random();
            Secret::new(STANDARD.encode(key))
        };
        let mock_key = store.secret(MOCK_KEY, &make).await?;
        Ok(Self { store, mock_key })
    }

    /// The verifier of a user who can log in with a password.
    pub fn verifier(&self, user: &str) -> Option<Secret> {
        self.store.current().state().users.get(user).and_then(|user| user.credential.clone())
    }

    /// A user whom a door has proved by other means; `None` if the authority does not know her.
    pub fn principal(&self, user: &str) -> Option<Principal> {
        self.store.current().state().users.contains_key(user).then(|| Principal::user(user))
    }

    /// Checks a password that the client sent as it is.
    ///
    /// An unknown user costs as much time as a known one. This takes some milliseconds of pure computing: leave the
    /// async runtime for it.
    pub fn log_in_plain(&self, user: &str, password: &Secret) -> Result<Principal, IdentityError> {
        if password.reveal().len() > PASSWORD_BYTES_MAX {
            return Err(IdentityError::WrongPassword);
        }
        let known = self.verifier(user).and_then(|text| Verifier::parse(&text));
        let is_known = known.is_some();
        let verifier = known.unwrap_or_else(|| Verifier::mock(&self.mock_key, user));
        if !(verifier.fits(password.reveal()) & is_known) {
            return Err(IdentityError::WrongPassword);
        }
        self.principal(user).ok_or(IdentityError::WrongPassword)
    }

    /// Answers the first message of a SCRAM-SHA-256 login; see [`ServerExchange::start`].
    pub fn start_scram(&self, client_first: &str, user: Option<&str>) -> Result<ServerExchange, ScramError> {
        ServerExchange::start(client_first, user, &|user| self.verifier(user), &self.mock_key)
    }

    /// Checks the final message, and gives the principal with the message to send back.
    pub fn finish_scram(
        &self,
        exchange: ServerExchange,
        client_final: &str,
    ) -> Result<(Principal, String), ScramError> {
        let proved = exchange.finish(client_final)?;
        // The user may have been dropped between the two messages.
        let principal = self.principal(&proved.user).ok_or(ScramError::WrongProof)?;
        Ok((principal, proved.server_final))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use policy::Principal;
    use policy::edit::Change;
    use policy::model::{State, User, Version};
    use stdx::{ErrorKind, Secret, Timestamp};
    use store::{MemoryStore, PolicyStore};

    use super::Identity;
    use crate::make_verifier;

    fn user(name: &str, password: Option<&str>) -> User {
        let credential = password.map(|password| make_verifier(&Secret::new(password)).unwrap());
        User { id: 0, name: name.to_owned(), credential, attributes: Default::default() }
    }

    async fn identity() -> (Arc<dyn PolicyStore>, Identity) {
        let mut state = State { version: Version(1), ..State::default() };
        for user in [user("alice", Some("wonder")), user("robot", None)] {
            state.users.insert(user.name.clone(), user);
        }
        let store: Arc<dyn PolicyStore> = Arc::new(MemoryStore::new(state).unwrap());
        (Arc::clone(&store), Identity::open(store).await.unwrap())
    }

    fn log_in(identity: &Identity, user: &str, password: &str) -> Result<Principal, ErrorKind> {
        identity.log_in_plain(user, &Secret::new(password)).map_err(|error| error.kind())
    }

    #[tokio::test]
    async fn only_the_right_password_of_a_user_who_has_one_logs_in() {
        let (_, identity) = identity().await;
        assert_eq!(log_in(&identity, "alice", "wonder"), Ok(Principal::user("alice")));
        for (user, password) in [
            ("alice", "wander"),
            ("alice", ""),
            ("Alice", "wonder"),
            ("robot", ""),
            ("robot", "wonder"),
            ("ghost", "wonder"),
            ("", ""),
        ] {
            assert_eq!(
                log_in(&identity, user, password),
                Err(ErrorKind::Unauthenticated),
                "{user} {password}"
            );
        }
    }

    #[tokio::test]
    async fn why_a_login_failed_is_not_told() {
        let (_, identity) = identity().await;
        let told = |user: &str| identity.log_in_plain(user, &Secret::new("x")).unwrap_err().to_string();
        assert_eq!(told("alice"), "password authentication failed");
        assert_eq!(told("alice"), told("ghost"));
        assert_eq!(told("alice"), told("robot"));
    }

    #[tokio::test]
    async fn an_edit_of_users_counts_at_once() {
        let (store, identity) = identity().await;
        let change = Change {
            put_users: vec![user("alice", Some("changed"))],
            delete_users: vec!["robot".to_owned()],
            ..Change::default()
        };
        assert!(identity.principal("robot").is_some());
        store.commit(&change, Version(1), "root", Timestamp::from_millis(0)).await.unwrap();
        assert_eq!(identity.principal("robot"), None);
        assert_eq!(log_in(&identity, "alice", "wonder"), Err(ErrorKind::Unauthenticated));
        assert_eq!(log_in(&identity, "alice", "changed"), Ok(Principal::user("alice")));
    }

    #[tokio::test]
    async fn mock_salts_outlive_the_process() {
        let (store, identity) = identity().await;
        let again = Identity::open(store).await.unwrap();
        let salt = |identity: &Identity, user: &str| {
            let exchange = identity.start_scram("n,,n=,r=abc", Some(user)).unwrap();
            exchange.server_first().split(",s=").nth(1).unwrap().to_owned()
        };
        for user in ["ghost", "robot", "alice"] {
            assert_eq!(salt(&identity, user), salt(&again, user));
        }
    }
}
