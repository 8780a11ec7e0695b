//! The page of claims: what each scenario shows, under the laws that it is about.

use std::path::Path;

use anyhow::{Context as _, Result};

pub(crate) const PAGE: &str = "docs/reference/claims.md";

const CASES: &str = "crates/prove/scenarios/cases";

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

Each line is the claim of a scenario, under every law that the scenario is about.
A scenario's statements are said by an allowed and by a restricted user, in process and over Postgres in both protocols ([how they are written](scenarios.md)).
`cargo xtask scenarios NAME` runs one; `cargo xtask test` runs all.
L2 and L4 are searched besides by pairs of lakes that differ in what is hidden, and L1 by an oracle in memory ([interference](interference.md)).
The suite's list of sabotages takes protections away one at a time, and sees that it misses them.

Where a claim ends, [limits](limits.md) says so.
";

/// A scenario's own words about itself.
struct Claim {
    scenario: String,
    claim: String,
    laws: Vec<String>,
}

pub(crate) fn page(root: &Path) -> Result<String> {
    let claims = claims(root)?;
    let mut page = HEAD.to_owned();
    for (law, title) in LAWS {
        page.push_str(&format!("\n## {law} {title}\n\n| claim | scenario |\n|---|---|\n"));
        for claim in claims.iter().filter(|claim| claim.laws.iter().any(|own| own == law)) {
            page.push_str(&format!("| {} | `{}` |\n", claim.claim.replace('|', "\\|"), claim.scenario));
        }
    }
    Ok(page)
}

fn claims(root: &Path) -> Result<Vec<Claim>> {
    let folder = root.join(CASES);
    let mut claims = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("`{CASES}` cannot be read"))? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "scn") {
            continue;
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("`{}`", path.display()))?;
        let scenario = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        claims.push(claim(scenario, &text));
    }
    claims.sort_by(|a, b| a.scenario.cmp(&b.scenario));
    Ok(claims)
}

fn claim(scenario: String, text: &str) -> Claim {
    let said = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_default().trim();
    let laws = said("# law:").split(',').map(|law| law.trim().to_owned()).collect();
    Claim { scenario, claim: said("# name:").to_owned(), laws }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_stands_under_each_of_its_laws() {
        let claim = claim("a".to_owned(), "# name: nothing | leaks\n# law: L1, L10\n# users: ana\n");
        assert_eq!(claim.claim, "nothing | leaks");
        assert_eq!(claim.laws, ["L1", "L10"]);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let page = page(&root).unwrap();
        let n_claims = claims(&root).unwrap().len();
        assert!(page.lines().filter(|line| line.starts_with("| ")).count() >= n_claims + LAWS.len());
        for (law, _) in LAWS {
            assert!(page.contains(&format!("## {law} ")), "{law}");
        }
    }
}
