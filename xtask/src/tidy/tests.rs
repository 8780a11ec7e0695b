//! The repository is tidy, and each rule finds the fault that it is there for.

use super::*;

/// Runs one check over a small tree and compares what it says with `expected`, each as `path:line: words in the fault`.
pub(super) fn check(check: Check, files: &[(&str, &str)], expected: &[&str]) {
    let mut faults = check(&House::sample(), &Tree::of(files));
    faults.sort();
    let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), expected.len(), "{shown:#?}");
    for (fault, part) in shown.iter().zip(expected) {
        assert!(fault.contains(part), "`{fault}` does not hold `{part}`");
    }
}

#[test]
fn the_house_is_tidy() {
    let root = crate::root::workspace().unwrap();
    let tree = Tree::read(&root).unwrap();
    let house = House::of(&tree).unwrap();
    let faults: Vec<String> =
        check_all(&house, &tree).into_iter().flat_map(|(_, faults)| faults).map(|f| f.to_string()).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

const LINTS: &str = "[lints]\nworkspace = true\n";

#[test]
fn an_arrow_that_house_toml_lacks_is_a_fault() {
    let b = format!("[package]\nname = \"b\"\n{LINTS}[dependencies]\na.workspace = true\n");
    let a = format!("[package]\nname = \"a\"\n{LINTS}[dependencies]\nb.workspace = true\n");
    let free = format!(
        "[package]\nname = \"free\"\n{LINTS}[dependencies]\na.workspace = true\nb.workspace = true\n"
    );
    let files = [("crates/a/Cargo.toml", &*a), ("crates/b/Cargo.toml", &*b), ("free/Cargo.toml", &*free)];
    check(arrows::arrows, &files, &["crates/b/Cargo.toml:6: `b` may not import `a`"]);
}

#[test]
fn an_arrow_in_tests_is_free() {
    let b = format!("[package]\nname = \"b\"\n{LINTS}[dev-dependencies]\na.workspace = true\n");
    let a = format!("[package]\nname = \"a\"\n{LINTS}");
    let free = format!("[package]\nname = \"free\"\n{LINTS}");
    let files = [("crates/a/Cargo.toml", &*a), ("crates/b/Cargo.toml", &*b), ("free/Cargo.toml", &*free)];
    check(arrows::arrows, &files, &[]);
}

#[test]
fn a_crate_that_stands_elsewhere_than_written_is_a_fault() {
    let files = [("crates/new/Cargo.toml", "[package]\nname = \"new\"\n")];
    let missing = "the crate of this path is not there";
    check(
        arrows::arrows,
        &files,
        &[missing, missing, "crates/new/Cargo.toml:1: house.toml does not name", missing],
    );
}

#[test]
fn an_outside_crate_is_forbidden_under_any_name_and_target() {
    let a = "[package]\nname = \"a\"\n[dependencies]\nquick = { package = \"tokio\", workspace = true }\n\
             [target.'cfg(unix)'.dependencies]\ndatafusion-expr.workspace = true\n";
    let expected =
        ["crates/a/Cargo.toml:4: `a` must never contain `tokio`", "`a` must never contain `datafusion-expr`"];
    check(arrows::contents, &[("crates/a/Cargo.toml", a)], &expected);
}

#[test]
fn a_forbidden_text_counts_in_production_code_only() {
    let source = "//! Says.\n// async is a word here.\nasync fn f() {}\n#[cfg(test)]\nmod tests {\n    async fn g() {}\n}\n";
    let files = [
        ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n"),
        ("crates/a/src/lib.rs", source),
        ("crates/a/src/x/tests.rs", "async fn g() {}"),
    ];
    check(arrows::contents, &files, &["crates/a/src/lib.rs:3: `a` must never say `async `"]);
}

#[test]
fn a_manifest_without_lints_or_with_a_version_of_its_own_is_a_fault() {
    let text = "[package]\nname = \"a\"\n[dependencies]\nserde = \"1\"\nb.workspace = true\n";
    let expected = [
        "crates/a/Cargo.toml:1: needs `[lints] workspace = true`",
        "crates/a/Cargo.toml:4: `serde` takes its version",
    ];
    check(arrows::manifests, &[("crates/a/Cargo.toml", text)], &expected);
}

#[test]
fn a_second_registry_is_a_fault() {
    let text = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\nsource = \"git+https://a.b/c\"\n";
    check(arrows::lock, &[("Cargo.lock", text)], &["Cargo.lock:2"]);
}

#[test]
fn a_file_without_a_sentence_on_top_is_a_fault() {
    let files = [
        ("a.rs", "//! psql sees what it may.\n"),
        ("b.rs", "fn main() {}\n"),
        ("c.rs", "//! This module contains things.\n"),
        ("d.rs", "//! No sentence at all\n"),
        ("f.rs", "//! Kernel.\n"),
        ("e.rs", "//! A sentence that goes on\n//! in a second line.\n"),
    ];
    check(source::openings, &files, &["b.rs:1", "c.rs:1", "d.rs:1", "f.rs:1"]);
}

#[test]
fn long_files_and_functions_are_faults_but_not_in_tests() {
    let function = "fn f(\n    x: u8,\n) -> u8 {\n    x\n}\n";
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function.repeat(9));
    let files = [
        ("a.rs", &*format!("//! Says.\n{function}{tests}")),
        ("b.rs", &*function.repeat(3)),
        ("b/tests.rs", &*function.repeat(9)),
        ("tests/it/b.rs", &*function.repeat(9)),
        ("c.rs", "trait T {\n    fn f();\n    fn g(\n        x: u8,\n    );\n    fn h() {}\n}\n"),
    ];
    let expected = [
        "a.rs:2: `f` has 5 lines",
        "b.rs:1: `f`",
        "b.rs:11: `f`",
        "b.rs:1: 15 production lines",
        "b.rs:6: `f`",
    ];
    let faults: Vec<String> =
        source::lengths(&House::sample(), &Tree::of(&files)).iter().map(ToString::to_string).collect();
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
    for part in expected {
        assert!(faults.iter().any(|f| f.contains(part)), "{part} in {faults:#?}");
    }
}

#[test]
fn names_that_say_nothing_are_faults() {
    let files =
        [("a/mod.rs", ""), ("a/utils.rs", ""), ("utils/a.rs", ""), ("futile.rs", ""), ("docs/utils.md", "")];
    check(source::names, &files, &["a/mod.rs:1", "a/utils.rs:1", "utils/a.rs:1"]);
}

#[test]
fn a_test_that_naps_is_a_fault() {
    let inline = "//! Says.\nfn nap() { nap(1) }\n#[cfg(test)]\nmod tests {\n    fn t() { nap(1) }\n}\n";
    check(source::tests, &[("a.rs", inline), ("tests/it/b.rs", "nap(2)\n")], &["a.rs:5", "tests/it/b.rs:1"]);
}

#[test]
fn banned_words_are_found_whole_and_in_any_case() {
    let text = "A Robot.\nrobotics\nsee ticket 12\nticket office\nin /machine/x\nTICKET #7\n";
    let files = [("a.md", text), ("house.toml", "robot")];
    check(
        words::banned,
        &files,
        &["a.md:1: `robot`", "a.md:3: `ticket #`", "a.md:5: `/machine/`", "a.md:6: `ticket #`"],
    );
}

#[test]
fn trailing_space_and_a_missing_last_line_end_are_faults() {
    check(words::line_ends, &[("a.rs", "x \ny\n"), ("b.md", "x"), ("c.slt", "x ")], &["a.rs:1", "b.md:1"]);
}

#[test]
fn a_page_has_one_title() {
    let files = [("a.md", "# A\n```\n# no title\n```\n"), ("b.md", "text\n"), ("c.md", "# A\n# B\n")];
    check(prose::titles, &files, &["b.md:1", "c.md:2"]);
}

#[test]
fn links_lead_to_files_and_headings() {
    let page = "# A page\n[b](b.md) [folder](x) [web](https://a.b) [top](#a-page)\n[gone](c.md)\n[part](b.md#no-part)\n`[code](gone.md)`\n";
    let files = [
        ("docs/a.md", page),
        ("docs/b.md", "# B\n## A part\n"),
        ("docs/x/y.md", "# Y\n[up](../b.md#a-part)\n"),
    ];
    check(prose::links, &files, &["docs/a.md:3: `c.md`", "docs/a.md:4: `b.md#no-part`"]);
}

#[test]
fn two_sentences_on_a_line_are_a_fault() {
    let page = "# T\nOne. Two.\nOne, e.g. Two, at 5.5 and v. Three.\n1. First. Second.\n1. First.\n| a. B | c. D |\n";
    check(prose::sentences, &[("a.md", page)], &["a.md:2", "a.md:4"]);
}

#[test]
fn a_decision_keeps_its_form_and_number() {
    let good = "# 0001. A thing\n\nStatus: accepted\nDate: 2026-11-30\n\n## Context\n\n## Decision\n\n## Consequences\n\n## What would change it\n";
    let files = [("docs/decisions/0001-a-thing.md", good), ("docs/decisions/0003-b.md", "# B\n")];
    let faults = records::decisions(&House::sample(), &Tree::of(&files));
    assert!(faults.iter().all(|f| f.path == "docs/decisions/0003-b.md"), "{faults:#?}");
    assert_eq!(faults.len(), 8, "{faults:#?}");
}

#[test]
fn a_crate_without_an_invariant_is_a_fault() {
    let page = "# A\n### `a`\nDoes.\n**Invariant:** never.\n### `b`\nDoes.\n### `free`\n**Invariant:** x.\n";
    check(map::invariants, &[("ARCHITECTURE.md", page)], &["`b` has no"]);
}

#[test]
fn a_log_field_that_the_page_lacks_is_a_fault() {
    let source = "//! Logs.\nfn f() {\n    tracing::info!(%who, n_rows = 3, \"done\");\n    warn!(\n        elapsed_ms,\n        odd = ?x,\n        \"slow\"\n    );\n    error!(\"bad, very = bad\");\n    let _ = info_span!(\"peer\", who = \"x, y = z\", %elapsed_ms, other);\n}\n";
    let page = "# Fields\n`who` `elapsed_ms` `n_rows`\n";
    let files = [("crates/a/src/lib.rs", source), ("docs/reference/log-fields.md", page)];
    let expected = ["crates/a/src/lib.rs:4: log field `odd`", "crates/a/src/lib.rs:10: log field `other`"];
    check(map::log_fields, &files, &expected);
}

#[test]
fn a_scenario_that_is_not_there_is_a_fault() {
    let page =
        "# A\n\nShown by `here.scn`, `gone.scn`; a file is `cases/x.scn` or `*.scn`.\n\n| x | `lost.scn` |\n";
    let files = [("docs/a.md", page), ("crates/prove/scenarios/cases/here.scn", "# name: x\n")];
    let gone = "docs/a.md:3: there is no scenario `gone.scn`";
    check(prose::scenarios, &files, &[gone, "docs/a.md:5: there is no scenario `lost.scn`"]);
}
