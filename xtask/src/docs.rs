//! Writes the reference pages that the binary itself can tell, and shows where one has fallen behind.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::claims;
use crate::suites::Context;
use crate::tally::Tally;

/// A page and the command of `sluice` that prints it.
struct Page {
    path: &'static str,
    command: &'static [&'static str],
}

const PAGES: &[Page] = &[Page { path: "docs/reference/config.md", command: &["config", "reference"] }];

pub(crate) fn write(context: &Context) -> Result<()> {
    let sluice = context.sluice()?;
    for page in PAGES {
        let path = context.root.join(page.path);
        std::fs::write(&path, page.print(&sluice)?)
            .with_context(|| format!("`{}` cannot be written", page.path))?;
        println!("wrote {}", page.path);
    }
    std::fs::write(context.root.join(claims::PAGE), claims::page(&context.root)?)
        .with_context(|| format!("`{}` cannot be written", claims::PAGE))?;
    println!("wrote {}", claims::PAGE);
    if let Some(text) = compatibility(context)? {
        std::fs::write(context.root.join(COMPATIBILITY), text)
            .with_context(|| format!("`{COMPATIBILITY}` cannot be written"))?;
        println!("wrote {COMPATIBILITY}");
    }
    Ok(())
}

/// What differs from Ranger, which the conformance runner tells where Ranger's test data are at hand.
const COMPATIBILITY: &str = "docs/reference/ranger-compatibility.md";

/// None without the data.
fn compatibility(context: &Context) -> Result<Option<String>> {
    let args = ["run", "--quiet", "--locked", "--package", "conformance", "--", "--page"];
    let output = crate::run::cargo(&context.root, args).output().context("cargo did not start")?;
    if !output.status.success() {
        bail!("the conformance runner failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8(output.stdout).context("the page is not UTF-8")?;
    Ok(Some(text).filter(|text| text.starts_with("# ")))
}

/// Each page is a test: it is what the binary prints now.
pub(crate) fn check(context: &Context) -> Result<Tally> {
    let sluice = context.sluice()?;
    let mut tally = Tally::default();
    for page in PAGES {
        let expected = page.print(&sluice)?;
        tally += compare(context, page.path, &expected);
    }
    tally += compare(context, claims::PAGE, &claims::page(&context.root)?);
    if let Some(expected) = compatibility(context)? {
        tally += compare(context, COMPATIBILITY, &expected);
    }
    Ok(tally)
}

fn compare(context: &Context, path: &str, expected: &str) -> Tally {
    let stored = std::fs::read_to_string(context.root.join(path)).unwrap_or_default();
    match first_difference(expected, &stored) {
        None => Tally::success(),
        Some(line) => {
            println!("{path}:{line}: is not what is generated; `cargo xtask docs` writes it anew");
            Tally::failure()
        }
    }
}

impl Page {
    fn print(&self, sluice: &std::path::Path) -> Result<String> {
        let output = Command::new(sluice).args(self.command).output().context("`sluice` did not start")?;
        if !output.status.success() {
            bail!(
                "`sluice {}` failed: {}",
                self.command.join(" "),
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        String::from_utf8(output.stdout).context("the page is not UTF-8")
    }
}

/// The first line, counted from 1, in which two texts differ.
fn first_difference(a: &str, b: &str) -> Option<usize> {
    if a == b {
        return None;
    }
    let n_same = a.lines().zip(b.lines()).take_while(|(x, y)| x == y).count();
    Some(n_same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_told() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\nb\n", ""), Some(1));
        assert_eq!(first_difference("a\nb\n", "a\nb"), Some(3));
    }
}
