//! What the figures were taken on: processor, memory, load, and the versions of all that took part.

use std::fs;
use std::process::Command;

use serde_json::{Map, Value, json};

/// The machine as it can be told to others.
#[derive(Clone, Debug)]
pub struct Machine {
    pub processor: String,
    pub n_processors: usize,
    pub memory_gib: u64,
    pub system: String,
}

impl Machine {
    pub fn look() -> Self {
        let unknown = || "unknown".to_owned();
        let processor = value_of("/proc/cpuinfo", "model name", ':').unwrap_or_else(unknown);
        let memory = value_of("/proc/meminfo", "MemTotal", ':').unwrap_or_default();
        let memory_kib: u64 = memory.trim_end_matches("kB").trim().parse().unwrap_or_default();
        let system = value_of("/etc/os-release", "PRETTY_NAME", '=').unwrap_or_else(unknown);
        Self {
            processor,
            n_processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_gib: memory_kib.div_ceil(1024 * 1024),
            system: system.trim_matches('"').to_owned(),
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "processor": self.processor,
            "processors": self.n_processors,
            "memory_gib": self.memory_gib,
            "system": self.system,
        })
    }
}

fn value_of(file: &str, key: &str, separator: char) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (found, value) = line.split_once(separator)?;
        (found.trim() == key).then(|| value.trim().to_owned())
    })
}

/// How many processes wanted a processor in the last minute; what other work there is shows in the figures.
pub fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Our own version, those of `others` that the suite links, and those of the compiler and the source.
pub fn versions(others: &[(&str, &str)]) -> Map<String, Value> {
    let mut versions = Map::new();
    versions.insert("sluice".to_owned(), env!("CARGO_PKG_VERSION").into());
    for (name, version) in others {
        versions.insert((*name).to_owned(), (*version).into());
    }
    if let Some(rustc) = first_line("rustc", &["--version"]) {
        versions.insert("rustc".to_owned(), rustc.into());
    }
    if let Some(commit) =
        first_line("git", &["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty"])
    {
        versions.insert("commit".to_owned(), commit.into());
    }
    versions
}

fn first_line(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()?.lines().next().map(str::to_owned)
}
