//! Each attack must give what the reader would get from a table that holds nothing but what she may see.

mod lake;
mod list;
mod pairs;
mod rules;

use query_api::QueryError;
use testkit::{ADMIN, Client};

use lake::{READERS, Secrets, all_settings, in_namespace, site};
use list::{Attack, Teeth};

/// Rows in an order of their own, or an error as its reader knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Rows(Vec<String>),
    Error(String),
}

async fn ask(client: &Client, sql: &str) -> Told {
    match client.run(sql).await {
        Ok(answer) => Told::Rows(answer.sorted().rows),
        Err(error) => Told::Error(words_of(&error)),
    }
}

/// Kind, text and hint; the number of the query is the one thing that may differ.
fn words_of(error: &QueryError) -> String {
    let message = error.message().split(" (query ").next().unwrap_or_default();
    format!("{:?}: {message} [{:?}]", error.kind(), error.hint())
}

async fn check(attacks: &[Attack]) {
    let site = site(Secrets::Hostile).await;
    let mut faults = Vec::new();
    let mut raised = vec![false; attacks.len()];
    for settings in all_settings() {
        let engine = site.engine(settings.clone());
        let exempt = in_namespace(&engine, ADMIN, "raw").await;
        for reader in READERS {
            let governed = in_namespace(&engine, reader.user, "raw").await;
            let copy = in_namespace(&engine, ADMIN, reader.copy).await;
            for ((teeth, sql), raised) in attacks.iter().zip(&mut raised) {
                let expected = ask(&copy, sql).await;
                let got = ask(&governed, sql).await;
                if *raised {
                    // That it has teeth is shown; what remains is whether they bite.
                    compare(&mut faults, reader.user, sql, &expected, &got);
                    continue;
                }
                let raw = ask(&exempt, sql).await;
                *raised = *teeth == Teeth::Raises && matches!(raw, Told::Error(_));
                let fits = match teeth {
                    Teeth::Raises => matches!(expected, Told::Rows(_)),
                    Teeth::Differs => matches!((&expected, &raw), (Told::Rows(a), Told::Rows(b)) if a != b),
                    Teeth::Same => expected == raw && matches!(raw, Told::Rows(_)),
                };
                if !fits {
                    faults.push(format!(
                        "no teeth ({teeth:?}) for {}: {sql}\n  copy {expected:?}\n  raw  {raw:?}",
                        reader.user
                    ));
                }
                compare(&mut faults, reader.user, sql, &expected, &got);
            }
        }
    }
    let never = |((teeth, _), raised): &(&Attack, &bool)| *teeth == Teeth::Raises && !**raised;
    for ((_, sql), _) in attacks.iter().zip(&raised).filter(never) {
        faults.push(format!("never raised on the stored table: {sql}"));
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

fn compare(faults: &mut Vec<String>, user: &str, sql: &str, expected: &Told, got: &Told) {
    if got != expected {
        faults.push(format!("{user}: {sql}\n  wanted {expected:?}\n  got    {got:?}"));
    }
}

#[tokio::test]
async fn the_first_list_tells_nothing_of_hidden_rows() {
    check(list::FIRST).await;
}

#[tokio::test]
async fn orders_limits_and_windows_tell_nothing_of_hidden_rows() {
    check(list::ORDERS_AND_WINDOWS).await;
}

#[tokio::test]
async fn subqueries_and_views_tell_nothing_of_hidden_rows() {
    check(list::SUBQUERIES).await;
}

#[tokio::test]
async fn joins_and_set_operations_tell_nothing_of_hidden_rows() {
    check(list::JOINS_AND_SETS).await;
}

#[tokio::test]
async fn expressions_that_fail_tell_nothing_of_hidden_rows() {
    check(list::EXPRESSIONS).await;
}

#[tokio::test]
async fn masked_values_and_statistics_tell_nothing() {
    check(list::MASKS_AND_STATISTICS).await;
}
