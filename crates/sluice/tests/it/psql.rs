//! What psql's own commands list, and to whom.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::process::Process;

const SET_UP: &str = "
    CREATE SCHEMA lake.shop;
    CREATE SCHEMA lake.secret;
    CREATE TABLE lake.shop.orders (id BIGINT NOT NULL, region VARCHAR, ssn VARCHAR);
    CREATE TABLE lake.shop.hidden (h BIGINT);
    CREATE TABLE lake.secret.plans (a BIGINT);
    CREATE VIEW lake.shop.regions AS SELECT region FROM lake.shop.orders;
    CREATE ROLE analyst;
    CREATE ROLE spy;
    CREATE USER alice PASSWORD 'alice-secret';
    CREATE USER dave PASSWORD 'dave-secret';
    GRANT ROLE analyst TO USER alice;
    GRANT USAGE ON DATABASE lake TO USER dave;
    GRANT SELECT ON lake.shop.orders TO ROLE analyst";

struct Site {
    process: Process,
    _dir: tempfile::TempDir,
}

impl Site {
    async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let process = Process::start(dir.path());
        let admin = process.connect("admin", &process.password().unwrap()).await;
        admin.batch_execute(SET_UP).await.unwrap();
        Self { process, _dir: dir }
    }

    /// What psql shows on both of its outputs.
    fn psql(&self, user: &str, input: &str) -> String {
        self.run(Command::new("psql"), user, input)
    }

    /// Where there is no terminal, psql asks its input for passwords.
    fn psql_without_terminal(&self, user: &str, input: &str) -> String {
        let mut command = Command::new("setsid");
        command.args(["--wait", "psql"]);
        self.run(command, user, input)
    }

    fn run(&self, mut command: Command, user: &str, input: &str) -> String {
        let password = match user {
            "admin" => self.process.password().unwrap(),
            other => format!("{other}-secret"),
        };
        let mut child = command
            .args(["-X", "-A", "-t", "-v", "VERBOSITY=verbose", "-h", "127.0.0.1", "-U", user, "-d", "lake"])
            .args(["-p", &self.process.pg_addr.port().to_string()])
            .env("PGPASSWORD", password)
            .env("PGCONNECT_TIMEOUT", "60")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("psql is needed (Debian: postgresql-client)");
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }

    fn check(&self, user: &str, input: &str, expected: &str) {
        assert_eq!(self.psql(user, input), expected, "{input} as {user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn relations_are_those_that_the_user_may_see() {
    let site = Site::start().await;
    let tables = "secret|plans|table|\nshop|hidden|table|\nshop|orders|table|\n";
    site.check("admin", "\\dt", tables);
    site.check("admin", "\\dt *.*", tables);
    site.check("admin", "\\dv", "shop|regions|view|\n");
    site.check("admin", "\\dn", "secret|\nshop|\n");
    site.check("alice", "\\d", "shop|orders|table|\n");
    site.check("alice", "\\dt *.*", "shop|orders|table|\n");
    site.check("alice", "\\dn", "shop|\n");
    assert!(!site.psql("alice", "\\dv").contains("regions"));
    assert!(!site.psql("dave", "\\dt *.*").contains("orders"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_described_to_those_who_see_it() {
    let site = Site::start().await;
    for command in ["\\d shop.orders", "\\d+ shop.orders"] {
        let told = site.psql("alice", command);
        assert!(told.contains("id|bigint||not null|") && told.contains("ssn|text||"), "{command}: {told}");
        assert!(!told.contains("ERROR"), "{command}: {told}");
    }
    let told = site.psql("alice", "\\d shop.hidden");
    assert_eq!(told, "Did not find any relation named \"shop.hidden\".\n");
    let told = site.psql("admin", "\\d+ shop.regions");
    assert!(told.contains("region|text") && !told.contains("ERROR"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_are_the_catalogs_that_the_user_may_see() {
    let site = Site::start().await;
    let told = site.psql("alice", "\\l");
    assert!(told.starts_with("lake||UTF") && told.lines().count() == 1, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_are_those_that_show_users_and_show_roles_list() {
    let site = Site::start().await;
    let told = site.psql("admin", "\\du");
    for expected in ["admin|Superuser", "alice||{analyst}", "analyst|Cannot login|", "spy|"] {
        assert!(told.contains(expected), "no `{expected}` in {told}");
    }
    let told = site.psql("alice", "\\du");
    assert!(told.contains("alice|") && told.contains("analyst|"), "{told}");
    assert!(!told.contains("spy") && !told.contains("dave") && !told.contains("ERROR"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_listing_command_fails() {
    let site = Site::start().await;
    for user in ["admin", "alice", "dave"] {
        for command in [
            "\\conninfo",
            "\\d",
            "\\d+",
            "\\dt",
            "\\dt+",
            "\\dv+",
            "\\dn",
            "\\dn+",
            "\\l",
            "\\du",
            "\\du+",
            "\\df",
            "\\di",
            "\\ds",
            "\\dm",
            "\\db",
            "\\dg",
            "\\dE",
            "\\dT",
            "\\dT+",
            "\\dp",
            "\\dp shop.*",
            "\\encoding",
        ] {
            let told = site.psql(user, command);
            assert!(!told.contains("ERROR"), "{command} as {user}: {told}");
        }
    }
}

/// psql makes the verifier itself, and sends no password.
#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_changed_by_psqls_own_command() {
    let site = Site::start().await;
    let told = site.psql_without_terminal("admin", "\\password dave\ndave-changed\ndave-changed\n");
    assert!(!told.contains("ERROR"), "{told}");
    let dave = site.process.connect("dave", "dave-changed").await;
    assert_eq!(dave.query_one("SELECT 1::bigint", &[]).await.unwrap().get::<_, i64>(0), 1);
    assert!(site.psql("dave", "SELECT 1;").contains("password authentication failed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_point_at_the_token() {
    let site = Site::start().await;
    for (sql, line, caret) in [
        ("SELEC 1;", "LINE 1: SELEC 1;", "        ^"),
        ("SELECT 1 AS ä, 2 FRM x y;", "LINE 1: SELECT 1 AS ä, 2 FRM x y;", "                             ^"),
        (
            "SELECT 1; CREATE POLICY p ON TABEL t;",
            "LINE 1: CREATE POLICY p ON TABEL t;",
            "                           ^",
        ),
    ] {
        let told = site.psql("alice", sql);
        assert!(told.contains("42601") && told.contains(&format!("{line}\n{caret}\n")), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_results_and_refusals_come_as_psql_expects() {
    let site = Site::start().await;
    site.check("admin", "SELECT 1 AS a \\; SELECT 2 AS b;", "1\n2\n");
    site.check("admin", "SELECT id, region FROM shop.orders \\gdesc", "id|bigint\nregion|text\n");
    site.check("admin", "\\x\nSELECT 1 AS a;", "Expanded display is on.\na|1\n");
    let told = site.psql("admin", "COPY shop.orders TO STDOUT;\nSELECT 'still here' AS x;");
    assert!(told.contains("0A000") && told.contains("still here"), "{told}");
    let many = site.psql("admin", "SELECT value, repeat('x', 50) AS x FROM generate_series(1, 100000);");
    assert_eq!(many.lines().count(), 100_000);
}
