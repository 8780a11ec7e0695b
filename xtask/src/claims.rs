//! The page of claims: what each scenario and each test of the engine shows, under the laws that it is about.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::sabotage;

pub(crate) const PAGE: &str = "docs/reference/claims.md";

const CASES: &str = "crates/prove/scenarios/cases";

/// Tests whose names say what they show, and whose files open with the laws that they are about.
const TESTS: &str = "crates/run/engine/tests/it";

const LAWS: &[(&str, &str)] = &[
    ("L1", "One meaning: a query runs over filtered and masked tables, wherever it names them"),
    ("L2", "Non-interference: what is hidden changes nothing that its reader can observe"),
    ("L3", "Sealed scans: nothing runs that was not cleared for this user"),
    ("L4", "The barrier: no expression of the user that can fail meets a hidden row or raw value"),
    ("L5", "Every door"),
    ("L6", "Fail closed, and say so"),
    ("L7", "Protections do not fall off"),
    ("L8", "Nothing is told to who may not know"),
    ("L9", "Writes"),
    ("L10", "Grants say what they do"),
];

const HEAD: &str = "# Claims, and what proves them

Each line is the claim of a scenario or of a test of the engine, under every law that it is about.
A scenario's statements are said by an allowed and by a restricted user, in process and over Postgres in both protocols ([how they are written](scenarios.md)).
`cargo xtask scenarios NAME` runs one; `cargo xtask test` runs all.
L2 and L4 are searched besides by pairs of lakes that differ in what is hidden, and L1 by an oracle in memory ([interference](interference.md)).
L1 and L9 are held against PostgreSQL's row security, and L1 against DuckDB's views by hand ([peers](peers.md)).
What was taken away to see the suite fail, and what nothing proves yet, stands at the end.

Where a claim ends, [limits](limits.md) says so.
";

const TAKEN_AWAY: &str = "
## What was taken away

`cargo xtask test sabotage --long` takes each of these protections away in a copy of the sources, and fails unless the interference suite finds it.

| what the sources then do | where |
|---|---|
";

const NOT_PROVEN: &str = "
## Not proven yet

| claim | what there is instead |
|---|---|
| plan and result caches keep readers apart | there are no such caches: every run is planned and governed anew |
| each scenario fails without its protection | shown for the list above, and not for scenarios one by one |
| EXPLAIN ANALYZE, query history and progress tell nothing | the first is refused, and the others are not there |
| tags of tables, schemas and views by statement | refused ([limits](limits.md)) |
| other doors give the same answers (L5) | shown in process and over Postgres; there are no others |
";

/// What one test says about itself.
struct Claim {
    test: String,
    claim: String,
    laws: Vec<String>,
}

pub(crate) fn page(root: &Path) -> Result<String> {
    let mut claims = scenarios(root)?;
    claims.extend(tests_of_engine(root)?);
    let mut page = HEAD.to_owned();
    for (law, title) in LAWS {
        page.push_str(&format!("\n## {law} {title}\n\n| claim | shown by |\n|---|---|\n"));
        for claim in claims.iter().filter(|claim| claim.laws.iter().any(|own| own == law)) {
            page.push_str(&format!("| {} | `{}` |\n", claim.claim.replace('|', "\\|"), claim.test));
        }
    }
    page.push_str(TAKEN_AWAY);
    for (name, file) in sabotage::names(root)? {
        page.push_str(&format!("| {} | `{file}` |\n", name.replace('|', "\\|")));
    }
    page.push_str(NOT_PROVEN);
    Ok(page)
}

fn scenarios(root: &Path) -> Result<Vec<Claim>> {
    let files = texts(&root.join(CASES), "scn")?;
    Ok(files.into_iter().map(|(name, text)| scenario(format!("{name}.scn"), &text)).collect())
}

fn scenario(test: String, text: &str) -> Claim {
    let said = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_default().trim();
    let laws = said("# law:").split(',').map(|law| law.trim().to_owned()).collect();
    Claim { test, claim: said("# name:").to_owned(), laws }
}

fn tests_of_engine(root: &Path) -> Result<Vec<Claim>> {
    let files = texts(&root.join(TESTS), "rs")?;
    Ok(files.into_iter().flat_map(|(module, text)| tests(&module, &text)).collect())
}

/// The tests of a file under the laws that its first line ends with, as in `(L6, L7).`; none where it names no law.
fn tests(module: &str, text: &str) -> Vec<Claim> {
    let laws = laws_of(text.lines().next().unwrap_or_default());
    if laws.is_empty() {
        return Vec::new();
    }
    let is_marked = |line: &&str| matches!(line.trim(), "#[test]" | "#[tokio::test]");
    let mut claims = Vec::new();
    let mut lines = text.lines();
    while lines.by_ref().find(is_marked).is_some() {
        let name =
            lines.by_ref().find_map(|line| line.split_once("fn ")).and_then(|(_, rest)| rest.split_once('('));
        if let Some((name, _)) = name {
            let test = format!("engine::{module}::{name}");
            claims.push(Claim { test, claim: name.replace('_', " "), laws: laws.clone() });
        }
    }
    claims
}

fn laws_of(line: &str) -> Vec<String> {
    let named = line.strip_suffix(").").and_then(|line| line.rsplit_once('(')).map_or("", |(_, laws)| laws);
    let laws = named.split(',').map(str::trim);
    laws.filter(|law| LAWS.iter().any(|(known, _)| known == law)).map(str::to_owned).collect()
}

/// The files of one kind in a folder, each with its name, in order.
fn texts(folder: &Path, extension: &str) -> Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for entry in
        std::fs::read_dir(folder).with_context(|| format!("`{}` cannot be read", folder.display()))?
    {
        let path = entry?.path();
        if path.extension().is_none_or(|own| own != extension) {
            continue;
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("`{}`", path.display()))?;
        texts.push((
            path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
            text,
        ));
    }
    texts.sort();
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn a_scenario_stands_under_each_of_its_laws() {
        let claim = scenario("a.scn".to_owned(), "# name: nothing | leaks\n# law: L1, L10\n# users: ana\n");
        assert_eq!(claim.claim, "nothing | leaks");
        assert_eq!(claim.laws, ["L1", "L10"]);
        let page = page(&root()).unwrap();
        let n_claims = scenarios(&root()).unwrap().len() + tests_of_engine(&root()).unwrap().len();
        assert!(page.lines().filter(|line| line.starts_with("| ")).count() >= n_claims + LAWS.len());
        for (law, _) in LAWS {
            assert!(page.contains(&format!("## {law} ")), "{law}");
        }
    }

    #[test]
    fn a_test_stands_under_the_laws_of_its_file() {
        let file = "//! Says (and more) what (L6, L7).\n\nfn help() {}\n\n#[tokio::test]\nasync fn no_row_leaves() {}\n\n\
                    #[test]\nfn nor_a_name() {}\n";
        let shown: Vec<String> =
            tests("m", file).iter().map(|c| format!("{} {} {:?}", c.claim, c.test, c.laws)).collect();
        assert_eq!(
            shown,
            [
                "no row leaves engine::m::no_row_leaves [\"L6\", \"L7\"]",
                "nor a name engine::m::nor_a_name [\"L6\", \"L7\"]"
            ]
        );
        assert!(tests("m", &file.replace("(L6, L7)", "(L77)")).is_empty());
    }

    #[test]
    fn the_page_is_what_is_generated() {
        let stored = std::fs::read_to_string(root().join(PAGE)).unwrap();
        assert_eq!(stored, page(&root()).unwrap(), "`cargo xtask docs` writes it anew");
    }
}
