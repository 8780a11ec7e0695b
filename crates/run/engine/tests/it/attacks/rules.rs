//! No protection rests on a rule of the analyzer or an optimizer: without it the answer is the same, or there is none (L2).

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;

use datafusion::optimizer::{Analyzer, Optimizer};
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use engine::EngineSettings;
use futures::FutureExt;
use stdx::ErrorKind;
use testkit::{ADMIN, Client};

use super::lake::{READERS, Secrets, in_namespace, site};
use super::list::{self, Teeth};
use super::{Told, ask};

/// Rules without which some statement has no plan.
const NEEDED: [&str; 9] = [
    "EnforceSorting",
    "decorrelate_lateral_join",
    "decorrelate_predicate_subquery",
    "join_selection",
    "replace_distinct_aggregate",
    "rewrite_set_comparison",
    "scalar_subquery_to_join",
    "simplify_expressions",
    "type_coercion",
];

/// Without it one partition's first rows are taken for the first of all, governed or not.
const OF_EVERY_ANSWER: &str = "EnforceDistribution";

/// Each rule is tried on one in so many attacks, another part of them for each; with `SLUICE_LONG` on all.
fn stride() -> usize {
    if std::env::var_os("SLUICE_LONG").is_some() { 1 } else { 8 }
}

/// All rules that there are, each once.
fn rules() -> BTreeSet<String> {
    let analyzer = Analyzer::new().rules.iter().map(|rule| rule.name().to_owned()).collect::<Vec<_>>();
    let optimizer = Optimizer::new().rules.iter().map(|rule| rule.name().to_owned()).collect::<Vec<_>>();
    let physical =
        PhysicalOptimizer::new().rules.iter().map(|rule| rule.name().to_owned()).collect::<Vec<_>>();
    analyzer.into_iter().chain(optimizer).chain(physical).collect()
}

fn settings(rules_off: Vec<String>) -> EngineSettings {
    EngineSettings {
        target_partitions: Some(3),
        pushdown_filters: true,
        batch_rows: 512,
        rules_off,
        ..EngineSettings::default()
    }
}

/// Attacks of every sort that have an answer, a few of each list.
fn chosen() -> Vec<&'static str> {
    list::ALL
        .iter()
        .flat_map(|list| list.iter().filter(|(teeth, _)| *teeth != Teeth::Same))
        .map(|(_, sql)| *sql)
        .collect()
}

/// An error that says that there is no plan, and nothing of a value.
fn is_refusal(error: &ErrorKind) -> bool {
    matches!(
        error,
        ErrorKind::Internal | ErrorKind::Unsupported | ErrorKind::Invalid | ErrorKind::ColumnNotFound
    )
}

/// A plan that DataFusion itself takes for impossible ends in a panic, as a kind `Internal`.
async fn without(client: &Client, sql: &str) -> Result<Vec<String>, ErrorKind> {
    match AssertUnwindSafe(client.run(sql)).catch_unwind().await {
        Ok(answer) => answer.map(|answer| answer.sorted().rows).map_err(|error| error.kind()),
        Err(_) => Err(ErrorKind::Internal),
    }
}

#[tokio::test]
async fn no_protection_rests_on_a_rule() {
    let site = site(Secrets::Hostile).await;
    let whole = site.engine(settings(Vec::new()));
    let (attacks, mut faults, mut needed) = (chosen(), Vec::new(), BTreeSet::new());
    let mut expected = Vec::new();
    for reader in READERS {
        let copy = in_namespace(&whole, ADMIN, reader.copy).await;
        for sql in &attacks {
            match ask(&copy, sql).await {
                Told::Rows(rows) => expected.push((reader, *sql, rows)),
                Told::Error(error) => panic!("{sql}: {error}"),
            }
        }
    }
    for (turn, rule) in rules().into_iter().filter(|rule| rule != OF_EVERY_ANSWER).enumerate() {
        let engine = site.engine(settings(vec![rule.clone()]));
        let mut n_answers = 0;
        for reader in READERS {
            let governed = in_namespace(&engine, reader.user, "raw").await;
            let own = expected.iter().filter(|(own, ..)| own.user == reader.user);
            for (_, sql, wanted) in own.skip(turn % stride()).step_by(stride()) {
                match without(&governed, sql).await {
                    Ok(rows) if rows == *wanted => n_answers += 1,
                    Err(error) if is_refusal(&error) => {
                        needed.insert(rule.clone());
                    }
                    other => faults.push(format!(
                        "without {rule}, {}: {sql}\n  wanted {wanted:?}\n  got    {other:?}",
                        reader.user
                    )),
                }
            }
        }
        println!("without {rule}: {n_answers} of {} answered", expected.len());
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    let unlisted: Vec<&String> = needed.iter().filter(|rule| !NEEDED.contains(&rule.as_str())).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
}
