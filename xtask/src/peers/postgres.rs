//! Debian's PostgreSQL in a folder of its own, reached through a socket in that folder and stopped at the end.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::psql::{Session, bound};

/// Where Debian keeps the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The first version whose views can read with their reader's rights, and that has MERGE.
const VERSION_MIN: u32 = 15;

/// The account that Debian's package makes; the server refuses to run as root.
const ACCOUNT: &str = "postgres";

/// Names the socket alone: nothing listens on the network.
const PORT: u16 = 5432;

/// A running server; it is stopped, and its data are gone, with the value.
pub(crate) struct Postgres {
    child: Child,
    programs: PathBuf,
    folder: TempDir,
}

impl Postgres {
    pub(crate) fn start() -> Result<Self> {
        let programs = programs(Path::new(VERSIONS))?;
        let folder = tempfile::Builder::new().prefix("pg").tempdir().context("no temporary folder")?;
        if is_root()? {
            to_end(Command::new("chown").arg(ACCOUNT).arg(folder.path()))?;
        }
        let data = folder.path().join("data");
        to_end(
            as_account(&programs.join("initdb"))?
                .args([
                    "--auth=trust",
                    "--username=admin",
                    "--encoding=UTF8",
                    "--locale=C",
                    "--no-sync",
                    "-D",
                ])
                .arg(&data)
                .stdout(Stdio::null()),
        )?;
        let child = as_account(&programs.join("postgres"))?
            .arg("-D")
            .arg(&data)
            .args([
                "-p",
                &PORT.to_string(),
                "-c",
                "listen_addresses=",
                "-c",
                "fsync=off",
                "-c",
                "log_min_messages=fatal",
                "-k",
            ])
            .arg(folder.path())
            .stdin(Stdio::null())
            .spawn()
            .context("PostgreSQL did not start")?;
        let postgres = Self { child, programs, folder };
        postgres.wait()?;
        Ok(postgres)
    }

    pub(crate) fn session(&self, user: &str) -> Result<Session> {
        Session::open(&self.folder.path().to_string_lossy(), PORT, user, "postgres", "")
    }

    /// Asks again and again, as a server does not tell when it is ready.
    fn wait(&self) -> Result<()> {
        let mut command = Command::new("timeout");
        command.args([
            "60",
            "sh",
            "-c",
            "until \"$0\" -q -U admin -d postgres -h \"$1\" -p \"$2\"; do sleep 0.1; done",
        ]);
        command.arg(self.programs.join("pg_isready")).arg(self.folder.path()).arg(PORT.to_string());
        to_end(&mut command).context("PostgreSQL did not come up")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGINT is its own word for stopping at once and in order. Without it, waiting would have no end.
        let asked = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        if !asked.is_ok_and(|status| status.success()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// The folder with the programs of the newest version.
fn programs(versions: &Path) -> Result<PathBuf> {
    let entries = std::fs::read_dir(versions).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let version =
        found.filter(|version| versions.join(version.to_string()).join("bin/initdb").is_file()).max();
    let version = version.context("no PostgreSQL; install it (Debian: postgresql)")?;
    ensure!(version >= VERSION_MIN, "PostgreSQL {version} is older than {VERSION_MIN}");
    Ok(versions.join(version.to_string()).join("bin"))
}

/// A program as somebody who is not root.
fn as_account(program: &Path) -> Result<Command> {
    let mut command = bound();
    if is_root()? {
        command.args(["--reuid", ACCOUNT, "--regid", ACCOUNT, "--init-groups"]);
    }
    command.arg(program).current_dir("/");
    Ok(command)
}

fn is_root() -> Result<bool> {
    let output = Command::new("id").arg("-u").output().context("`id` did not start")?;
    Ok(output.stdout.trim_ascii() == b"0")
}

fn to_end(command: &mut Command) -> Result<()> {
    let shown = format!("{command:?}");
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("`{shown}` did not start"))?;
    ensure!(status.success(), "`{shown}` failed: {status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_taken_and_an_old_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(programs(folder.path()).unwrap_err().to_string().contains("install it"));
        let add = |version: &str| {
            let bin = folder.path().join(version).join("bin");
            std::fs::create_dir_all(&bin).unwrap();
            std::fs::write(bin.join("initdb"), "").unwrap();
        };
        add("9");
        assert!(programs(folder.path()).unwrap_err().to_string().contains("older than 15"));
        add("17");
        add("15");
        assert_eq!(programs(folder.path()).unwrap(), folder.path().join("17/bin"));
    }
}
