//! The server, the shell and the demo as a user meets them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by ending"
)]

mod audit;
mod demo;
mod docs;
mod kill;
mod process;
mod psql;
mod serve;
mod server;
mod shell;

use std::path::Path;

use sluice::config::{self, Config, Inputs};

/// A configuration with both doors on free ports and everything in one folder.
fn config(data_dir: &Path) -> Config {
    let inputs = Inputs::default()
        .with_flag("server.data_dir", data_dir.display().to_string())
        .with_flag("postgres.listen", "127.0.0.1:0")
        .with_flag("http.listen", "127.0.0.1:0")
        .with_flag("catalogs.lake.warehouse", data_dir.join("warehouse").display().to_string());
    config::load(&inputs).unwrap().config
}
