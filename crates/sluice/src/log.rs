//! Log lines on stderr, as text or JSON.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

pub use crate::config::LogFormat;

/// Outside crates that write statement texts, and so literals, into their lower levels.
const KEPT_QUIET: &[&str] = &["datafusion", "iceberg", "sqlparser", "sqlx", "tokio_postgres"];

/// Starts logging for the process. Once; a second call changes nothing.
pub fn start(level: &str, format: LogFormat) -> Result<(), ParseError> {
    let filter = filter(level)?;
    let is_terminal = std::io::stderr().is_terminal();
    let lines =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(is_terminal);
    // An error here says that somebody, such as a test, logs already.
    let _ = match format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(())
}

fn filter(level: &str) -> Result<EnvFilter, ParseError> {
    let mut filter = EnvFilter::try_new(level)?;
    for target in KEPT_QUIET {
        filter = filter.add_directive(format!("{target}=warn").parse()?);
    }
    Ok(filter)
}

#[cfg(test)]
mod tests {
    use super::filter;

    #[test]
    fn no_level_makes_outside_crates_log_statements() {
        for level in ["trace", "info,sqlparser=trace", "sqlx=debug"] {
            let filter = filter(level).unwrap().to_string();
            for target in super::KEPT_QUIET {
                assert!(filter.contains(&format!("{target}=warn")), "{filter}");
                assert!(!filter.contains(&format!("{target}=trace")), "{filter}");
            }
        }
    }

    #[test]
    fn a_level_that_is_none_is_refused() {
        assert!(filter("info,,=x").is_err());
    }
}
