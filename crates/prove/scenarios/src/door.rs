//! The doors that a scenario goes through, and one user's session at one of them.

mod binary;
mod in_process;
mod postgres;
mod text;

use std::time::Duration;

use policy::Principal;
use sluice::Running;
use tokio::time::timeout;

use crate::answer::{Answer, Failure};
use crate::file::Argument;

/// Everybody's password in a scenario.
pub(crate) const PASSWORD: &str = "pw";

/// A statement that takes longer hangs.
const STATEMENT_TIME_MAX: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DoorName {
    InProcess,
    /// PostgreSQL's simple protocol, in which every value is a text.
    Simple,
    /// PostgreSQL's extended protocol: every statement is prepared, and values are binary.
    Extended,
}

impl DoorName {
    pub(crate) const ALL: [Self; 3] = [Self::InProcess, Self::Simple, Self::Extended];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::InProcess => "in-process",
            Self::Simple => "simple",
            Self::Extended => "extended",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|door| door.name() == name)
    }
}

/// One user's session.
pub(crate) enum Session {
    InProcess(in_process::Session),
    Simple(postgres::Session),
    Extended(postgres::Session),
}

impl Session {
    pub(crate) async fn open(
        door: DoorName,
        running: &Running,
        principal: Principal,
    ) -> Result<Self, Failure> {
        Ok(match door {
            DoorName::InProcess => Self::InProcess(in_process::Session::open(running, principal).await?),
            DoorName::Simple => Self::Simple(postgres::Session::open(running, &principal.user).await?),
            DoorName::Extended => Self::Extended(postgres::Session::open(running, &principal.user).await?),
        })
    }

    /// Runs one statement.
    pub(crate) async fn say(&mut self, statement: &str) -> Answer {
        let answer = async {
            match self {
                Self::InProcess(session) => session.say(statement).await,
                Self::Simple(session) => session.say_simple(statement).await,
                Self::Extended(session) => session.say_extended(statement).await,
            }
        };
        within(answer).await
    }

    /// Prepares a statement for later runs.
    pub(crate) async fn prepare(&mut self, name: &str, statement: &str) -> Answer {
        let answer = async {
            match self {
                Self::InProcess(session) => session.prepare(name, statement).await,
                Self::Simple(session) => session.say_simple(&format!("PREPARE {name} AS {statement}")).await,
                Self::Extended(session) => session.prepare(name, statement).await,
            }
        };
        within(answer).await
    }

    /// Runs a prepared statement.
    pub(crate) async fn run(&mut self, name: &str, arguments: &[Argument]) -> Answer {
        let answer = async {
            match self {
                Self::InProcess(session) => session.run(name, arguments).await,
                Self::Simple(session) => {
                    let literals: Vec<&str> =
                        arguments.iter().map(|argument| argument.literal.as_str()).collect();
                    let list = if literals.is_empty() {
                        String::new()
                    } else {
                        format!("({})", literals.join(", "))
                    };
                    session.say_simple(&format!("EXECUTE {name}{list}")).await
                }
                Self::Extended(session) => session.run(name, arguments).await,
            }
        };
        within(answer).await
    }
}

async fn within(answer: impl Future<Output = Answer>) -> Answer {
    match timeout(STATEMENT_TIME_MAX, answer).await {
        Ok(answer) => answer,
        Err(_) => Failure::of_runner("the statement did not end in time").into(),
    }
}
