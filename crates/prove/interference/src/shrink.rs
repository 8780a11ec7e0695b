//! Makes a statement that shows a fault smaller, as long as it shows it.

use crate::ask::Told;
use crate::oracle::Answer;
use crate::tree::{Reader, Tree};
use crate::trial::Trial;

/// What holding an answer against the oracle's comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    Agrees,
    Differs,
    /// The oracle cannot tell; why.
    Open(&'static str),
}

pub(crate) fn judged(told: &Told, expected: &Answer, may_fail: bool) -> Judged {
    match (told, expected) {
        (Told::Rows { rows, .. }, Answer::Rows(wanted)) if rows == wanted => Judged::Agrees,
        (Told::Rows { .. }, Answer::Rows(_)) => Judged::Differs,
        (Told::Failed { .. }, Answer::Failed(_) | Answer::NotPlanned(_)) => Judged::Agrees,
        (Told::Failed { sqlstate, .. }, Answer::Rows(_)) => match sqlstate.as_str() {
            "0A000" | "42601" => Judged::Open("not offered by the engine"),
            _ if may_fail => Judged::Open("whether a part that fails is reached is open"),
            _ => Judged::Differs,
        },
        (Told::Rows { .. }, Answer::Failed(_)) if may_fail => {
            Judged::Open("whether a part that fails is reached is open")
        }
        (Told::Rows { .. }, Answer::Failed(_)) => Judged::Open("the oracle's plan does not run"),
        (Told::Rows { .. }, Answer::NotPlanned(_)) => Judged::Open("the oracle cannot plan it"),
        (Told::Done { .. }, _) => Judged::Differs,
    }
}

/// Of a query that tells two lakes apart.
pub(crate) async fn between(trial: &Trial, mut tree: Tree) -> Tree {
    let mut n_left = trial.n_shrinks();
    'smaller: loop {
        for candidate in tree.smaller() {
            if n_left == 0 {
                return tree;
            }
            if candidate.text(Reader::Engine).len() >= tree.text(Reader::Engine).len() {
                continue;
            }
            n_left -= 1;
            let (one, other) = trial.both(&candidate).await;
            if one != other {
                tree = candidate;
                continue 'smaller;
            }
        }
        return tree;
    }
}

/// Of a query that gives another answer than the oracle.
pub(crate) async fn against_oracle(trial: &Trial, user: &str, mut tree: Tree, may_fail: bool) -> Tree {
    let mut n_left = trial.n_shrinks();
    let was_failure = trial.told(user, &tree).await.is_failure();
    'smaller: loop {
        for candidate in tree.smaller() {
            if n_left == 0 {
                return tree;
            }
            if candidate.text(Reader::Engine).len() >= tree.text(Reader::Engine).len() {
                continue;
            }
            n_left -= 1;
            let (told, expected) =
                (trial.told(user, &candidate).await, trial.expected(user, &candidate).await);
            if told.is_failure() == was_failure && judged(&told, &expected, may_fail) == Judged::Differs {
                tree = candidate;
                continue 'smaller;
            }
        }
        return tree;
    }
}
