//! The exchange of RFC 7677, and everything that must not get through it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use stdx::Secret;

use super::{Proved, ServerExchange};
use crate::ScramError;
use crate::verifier::{Verifier, hmac, make_verifier, sha256};

const CLIENT_FIRST: &str = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
const SERVER_NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const CLIENT_FINAL: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";

fn mock_key() -> Secret {
    Secret::new("mock")
}

fn verifier_of(password: &str) -> Secret {
    let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
    Verifier::of(password, salt, 4_096).to_text()
}

fn start(client_first: &str) -> Result<ServerExchange, ScramError> {
    let lookup = |user: &str| (user == "user").then(|| verifier_of("pencil"));
    ServerExchange::start_with_nonce(client_first, None, &lookup, &mock_key(), SERVER_NONCE)
}

fn run(client_first: &str, client_final: &str) -> Result<Proved, ScramError> {
    start(client_first)?.finish(client_final)
}

/// What an honest client answers, made from the password by the RFC's formulas.
fn client_final(client_first_bare: &str, gs2_header: &str, server_first: &str, password: &str) -> String {
    let mut parts = server_first.split(',');
    let nonce = parts.next().unwrap().strip_prefix("r=").unwrap();
    let salt = STANDARD.decode(parts.next().unwrap().strip_prefix("s=").unwrap()).unwrap();
    let iterations = parts.next().unwrap().strip_prefix("i=").unwrap().parse().unwrap();
    let mut salted = [0; 32];
    pbkdf2::pbkdf2_hmac::<sha2::Sha256>(password.as_bytes(), &salt, iterations, &mut salted);
    let client_key = hmac(&salted, &[b"Client Key"]);
    let without_proof = format!("c={},r={nonce}", STANDARD.encode(gs2_header));
    let auth_message = format!("{client_first_bare},{server_first},{without_proof}");
    let signature = hmac(&sha256(&client_key), &[auth_message.as_bytes()]);
    let proof: Vec<u8> = client_key.iter().zip(signature).map(|(key, mask)| key ^ mask).collect();
    format!("{without_proof},p={}", STANDARD.encode(proof))
}

#[test]
fn the_example_of_rfc_7677_runs() {
    let exchange = start(CLIENT_FIRST).unwrap();
    assert_eq!(
        exchange.server_first(),
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    );
    let proved = exchange.finish(CLIENT_FINAL).unwrap();
    assert_eq!(proved.user, "user");
    assert_eq!(proved.server_final, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

#[test]
fn the_protocols_user_counts_before_the_messages() {
    let password = Secret::new("s3cret");
    let verifier = make_verifier(&password).unwrap();
    let lookup = |user: &str| (user == "alice").then(|| verifier.clone());
    for (bare, header) in [("n=,r=abc", "n,,"), ("n=*,r=abc", "y,,"), ("n=,r=abc,x=ext", "n,,")] {
        let first = format!("{header}{bare}");
        let exchange = ServerExchange::start(&first, Some("alice"), &lookup, &mock_key()).unwrap();
        let answer = client_final(bare, header, exchange.server_first(), "s3cret");
        assert_eq!(exchange.finish(&answer).unwrap().user, "alice");

        let exchange = ServerExchange::start(&first, Some("alice"), &lookup, &mock_key()).unwrap();
        let answer = client_final(bare, header, exchange.server_first(), "s3cres");
        assert_eq!(exchange.finish(&answer), Err(ScramError::WrongProof));
    }
}

#[test]
fn a_name_may_hold_commas_and_equal_signs() {
    let verifier = make_verifier(&Secret::new("pw")).unwrap();
    let lookup = |user: &str| (user == "a,b=c").then(|| verifier.clone());
    let bare = "n=a=2Cb=3Dc,r=abc";
    let exchange = ServerExchange::start(&format!("n,,{bare}"), None, &lookup, &mock_key()).unwrap();
    let answer = client_final(bare, "n,,", exchange.server_first(), "pw");
    assert_eq!(exchange.finish(&answer).unwrap().user, "a,b=c");
    assert_eq!(start("n,,n=a=2D,r=abc").err(), Some(ScramError::Malformed));
}

#[test]
fn every_exchange_has_a_nonce_of_its_own() {
    let lookup = |_: &str| None;
    let nonce = || {
        let exchange = ServerExchange::start(CLIENT_FIRST, None, &lookup, &mock_key()).unwrap();
        exchange.server_first().to_owned()
    };
    assert_ne!(nonce(), nonce());
}

#[test]
fn an_unknown_user_looks_like_a_known_one_and_fails_at_the_end() {
    let nobody = |_: &str| None;
    let broken = |_: &str| Some(Secret::new("md5 of old"));
    for lookup in [&nobody as &dyn Fn(&str) -> Option<Secret>, &broken] {
        let first = |user: &str, key: &str| {
            let key = Secret::new(key);
            let message = format!("n,,n={user},r=abc");
            ServerExchange::start_with_nonce(&message, None, lookup, &key, "xyz").unwrap()
        };
        let ghost = first("ghost", "mock");
        assert_eq!(ghost.server_first(), first("ghost", "mock").server_first(), "the salt stays");
        assert_ne!(ghost.server_first(), first("ghoul", "mock").server_first(), "each user has her own");
        assert_ne!(
            ghost.server_first(),
            first("ghost", "other").server_first(),
            "outsiders cannot compute it"
        );
        let known = start("n,,n=user,r=abc").unwrap();
        assert_eq!(ghost.server_first().len() + SERVER_NONCE.len(), known.server_first().len() + "xyz".len());
        let answer = client_final("n=ghost,r=abc", "n,,", ghost.server_first(), "");
        assert_eq!(ghost.finish(&answer), Err(ScramError::WrongProof));
    }
}

#[test]
fn channel_binding_is_refused_with_the_rfcs_word() {
    let refused = start("p=tls-server-end-point,,n=user,r=abc").unwrap_err();
    assert_eq!(refused, ScramError::ChannelBindingNotOffered);
    assert_eq!(refused.server_final(), "e=channel-binding-not-supported");
    // The flag that was sent first must come back in `c=`: `eSws` is `y,,`, `biws` is `n,,`.
    let changed = CLIENT_FINAL.replace("c=biws", "c=eSws");
    assert_eq!(run(CLIENT_FIRST, &changed), Err(ScramError::ChannelBindingMismatch));
}

#[test]
fn what_does_not_fit_the_exchange_is_refused() {
    let cases = [
        (CLIENT_FINAL.replace("rOprNGfw", "rOprNGfx"), ScramError::NonceMismatch),
        (CLIENT_FINAL.replace("p=dHz", "p=dHy"), ScramError::WrongProof),
        (CLIENT_FINAL.replace(",p=dHz", ",x=1,p=dHz"), ScramError::WrongProof),
        (CLIENT_FINAL.replace(",p=dHz", ",p=short"), ScramError::Malformed),
        ("c=biws,r=x".to_owned(), ScramError::Malformed),
        (String::new(), ScramError::Malformed),
        (",p=".to_owned(), ScramError::Malformed),
    ];
    for (client_final, expected) in cases {
        assert_eq!(run(CLIENT_FIRST, &client_final), Err(expected), "{client_final}");
    }
}

#[test]
fn malformed_first_messages_are_refused() {
    let cases = [
        ("", ScramError::Malformed),
        ("n", ScramError::Malformed),
        ("n,", ScramError::Malformed),
        ("n,,", ScramError::Malformed),
        ("n,,n=user", ScramError::Malformed),
        ("n,,n=user,r=", ScramError::Malformed),
        ("n,,n=user,r=a b", ScramError::Malformed),
        ("n,,r=abc,n=user", ScramError::Malformed),
        ("x,,n=user,r=abc", ScramError::Malformed),
        ("n,user,n=user,r=abc", ScramError::Malformed),
        ("n,,m=ext,n=user,r=abc", ScramError::ExtensionUnknown),
        ("n,a=other,n=user,r=abc", ScramError::OtherAuthorizationId),
    ];
    for (first, expected) in cases {
        assert_eq!(start(first).err(), Some(expected), "{first}");
    }
    assert!(start("n,a=user,n=user,r=abc").is_ok());
}
