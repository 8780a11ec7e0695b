//! Plays one scenario through one door, on a server of its own.

use std::collections::BTreeMap;
use std::path::Path;

use policy::Principal;
use sluice::config::{self, Config, Inputs};
use sluice::server::FIRST_ADMIN;
use sluice::{Options, Running, Server};
use stdx::Secret;

use crate::answer::{Answer, Failure, Outcome};
use crate::check::{Compared, check};
use crate::door::{DoorName, PASSWORD, Session};
use crate::file::{Does, Kind, Scenario, Step};

/// The key of hash masks, the same for every server, so that a file can give the digits.
const MASK_KEY: &str = "the scenarios' own mask key";

/// How a scenario came out at one door.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// What went wrong, each with the line of its step.
    pub(crate) faults: Vec<(usize, String)>,
    /// The error of each step, for comparison between doors.
    pub(crate) errors: Vec<Option<Failure>>,
    pub(crate) n_statements: usize,
}

/// Plays every step, whatever fails on the way; a server that does not start is an error.
pub(crate) async fn play(scenario: &Scenario, door: DoorName) -> anyhow::Result<Played> {
    let folder = tempfile::tempdir()?;
    let config = server_config(scenario, folder.path())?;
    let options = Options { admin_password: Some(Secret::new(PASSWORD.to_owned())), ..Options::default() };
    let running = Server::start(&config, options).await?;
    let mut stage = Stage { scenario, door, running: &running, sessions: BTreeMap::new() };
    let played = stage.play().await;
    drop(stage);
    running.shutdown().await?;
    played
}

fn server_config(scenario: &Scenario, folder: &Path) -> anyhow::Result<Config> {
    let mut inputs = Inputs::default()
        .with_flag("server.data_dir", folder.join("data").display().to_string())
        .with_flag("postgres.listen", "127.0.0.1:0")
        .with_flag("http.listen", "off")
        .with_flag("engine.mask_key", MASK_KEY);
    for catalog in &scenario.catalogs {
        let warehouse = folder.join("warehouse").join(catalog);
        inputs = inputs.with_flag(&format!("catalogs.{catalog}.warehouse"), warehouse.display().to_string());
    }
    for (name, value) in &scenario.config {
        inputs = inputs.with_flag(name, value.as_str());
    }
    Ok(config::load(&inputs)?.config)
}

/// A server, and the sessions of everybody who plays.
struct Stage<'a> {
    scenario: &'a Scenario,
    door: DoorName,
    running: &'a Running,
    sessions: BTreeMap<String, Session>,
}

impl Stage<'_> {
    async fn play(&mut self) -> anyhow::Result<Played> {
        for user in &self.scenario.users {
            let statement = format!("CREATE USER {user} PASSWORD '{PASSWORD}'");
            let answer = match self.session(FIRST_ADMIN).await {
                Ok(session) => session.say(&statement).await,
                Err(failure) => failure.into(),
            };
            if let Outcome::Failed(failure) = answer.outcome {
                anyhow::bail!("the user `{user}` cannot be made: {failure}");
            }
        }
        let mut played = Played::default();
        for step in &self.scenario.steps {
            let (answer, verdict) = self.step(step, &mut played.n_statements).await;
            if let Err(wrong) = verdict {
                played.faults.push((step.line, wrong));
            }
            let error = match answer.outcome {
                Outcome::Failed(failure) => Some(failure),
                Outcome::Rows { .. } | Outcome::Done { .. } => None,
            };
            played.errors.push(error);
        }
        Ok(played)
    }

    async fn session(&mut self, user: &str) -> Result<&mut Session, Failure> {
        if !self.sessions.contains_key(user) {
            let mut principal = Principal::user(user);
            let claims = self.scenario.claims.iter().filter(|claim| claim.user == user);
            principal.claimed_roles.extend(claims.map(|claim| claim.role.clone()));
            let session = Session::open(self.door, self.running, principal).await?;
            self.sessions.insert(user.to_owned(), session);
        }
        self.sessions.get_mut(user).ok_or_else(|| Failure::of_runner("the session is gone"))
    }

    async fn step(&mut self, step: &Step, n_statements: &mut usize) -> (Answer, Result<(), String>) {
        *n_statements += 1;
        let session = match self.session(&step.user).await {
            Ok(session) => session,
            Err(failure) => {
                let answer = Answer::from(failure);
                let verdict = check(&step.expected, &answer, None);
                return (
                    answer,
                    verdict.map_err(|wrong| format!("`{}` opens a session\n{wrong}", step.user)),
                );
            }
        };
        let mut other = None;
        let (text, answer) = match &step.does {
            Does::Prepares { name, statement } => (statement.clone(), session.prepare(name, statement).await),
            Does::Runs { name, arguments } => (name.clone(), session.run(name, arguments).await),
            Does::Says(statements) => {
                let Some((last, before)) = statements.split_last() else {
                    return (Failure::of_runner("nothing is said").into(), Err("nothing is said".to_owned()));
                };
                for statement in before {
                    *n_statements += 1;
                    let answer = session.say(statement).await;
                    if let Outcome::Failed(failure) = &answer.outcome {
                        let wrong = format!("{statement}\nexpected ok\ngot {failure}");
                        return (answer, Err(wrong));
                    }
                }
                if let Kind::SameErrorAs(statement) = &step.expected.kind {
                    other = Some(session.say(statement).await);
                }
                (last.clone(), session.say(last).await)
            }
        };
        let compared = match (&step.expected.kind, &other) {
            (Kind::SameErrorAs(other_statement), Some(other)) => {
                Some(Compared { statement: &text, other_statement, other })
            }
            _ => None,
        };
        let verdict = check(&step.expected, &answer, compared.as_ref());
        let verdict = verdict.map_err(|wrong| format!("{} says: {text}\n{wrong}", step.user));
        (answer, verdict)
    }
}
