//! Log lines on stderr, as text or JSON.

use std::io::IsTerminal;
use std::panic::PanicHookInfo;

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
    std::panic::set_hook(Box::new(tell_panic));
    Ok(())
}

/// Rust would print the text of a panic, and a text may hold a value of a row; the place says enough to look it up.
fn tell_panic(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map_or_else(String::new, ToString::to_string);
    tracing::error!(place, "panic");
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
    use std::io::Write;
    use std::sync::{Arc, Mutex};

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

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_is_told_by_its_place_without_its_text() {
        let written = Written::default();
        let writer = written.clone();
        let lines = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(super::tell_panic));
        let ended = tracing::subscriber::with_default(lines, || {
            std::panic::catch_unwind(|| std::panic::panic_any("111-11-1111".to_owned()))
        });
        std::panic::set_hook(before);
        assert!(ended.is_err());
        let told = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        assert!(told.contains("log.rs:") && !told.contains("111-11"), "{told}");
    }

    #[test]
    fn a_level_that_is_none_is_refused() {
        assert!(filter("info,,=x").is_err());
    }
}
