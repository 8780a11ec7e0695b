//! The SQL that README and the pages show runs as they say, and gives what they show.

use std::path::{Path, PathBuf};

use sluice::config::{self, Inputs};
use sluice::{Options, Running, Server};
use stdx::Secret;
use tokio_postgres::{Client, NoTls};

use crate::process::rows;

/// Part of a page: a fenced text with the language after its fence, or a line of prose.
enum Part {
    Fenced { language: String, text: String },
    Prose(String),
}

fn parts(page: &str) -> Vec<Part> {
    let own = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let page = std::fs::read_to_string(Path::new(&own).join("../..").join(page)).unwrap();
    let mut parts = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            Some(language) => {
                let text: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
                parts.push(Part::Fenced { language: language.to_owned(), text: text.join("\n") });
            }
            None => parts.push(Part::Prose(line.to_owned())),
        }
    }
    parts
}

fn statements(text: &str) -> Vec<String> {
    let pieces = text.split(';').map(str::trim).filter(|piece| !piece.is_empty());
    pieces.map(str::to_owned).collect()
}

struct Site {
    running: Running,
    dir: tempfile::TempDir,
}

impl Site {
    async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let files: PathBuf = dir.path().join("in");
        std::fs::create_dir(&files).unwrap();
        std::fs::write(files.join("orders.csv"), "id,region,ssn\n1,EU,111-11-1111\n").unwrap();
        let inputs = Inputs::default()
            .with_flag("server.data_dir", dir.path().join("data").display().to_string())
            .with_flag("postgres.listen", "127.0.0.1:0")
            .with_flag("http.listen", "off")
            .with_flag("engine.load_roots", files.display().to_string())
            .with_flag("catalogs.sales_wh.warehouse", dir.path().join("warehouse").display().to_string());
        let options = Options { admin_password: Some(Secret::new("admin-secret")), ..Options::default() };
        let running = Server::start(&config::load(&inputs).unwrap().config, options).await.unwrap();
        Self { running, dir }
    }

    async fn connect(&self, user: &str) -> Client {
        let addr = self.running.pg_addr.unwrap();
        let mut config = tokio_postgres::Config::new();
        config.host(addr.ip().to_string()).port(addr.port()).dbname("sales_wh");
        config.user(user).password(format!("{user}-secret"));
        let (client, connection) = config.connect(NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    async fn run(&self, user: &str, script: &str) {
        let client = self.connect(user).await;
        for sql in statements(script) {
            if let Err(error) = rows(&client, &sql).await {
                panic!("`{sql}` as {user}: {error:?}");
            }
        }
    }
}

/// The user whom a line of prose names as the one who writes what follows.
fn speaker(prose: &str) -> Option<&str> {
    let (_, rest) =
        prose.split_once("s `").filter(|(before, _)| before.ends_with('A') || before.ends_with(" a"))?;
    let name = rest.split_once('`')?.0;
    ["admin", "alice", "bob", "carol", "dave"].contains(&name).then_some(name)
}

/// The cells of a table as psql draws it, without its head.
fn cells(drawn: &str) -> Vec<Vec<Option<String>>> {
    let lines = drawn.lines().skip(2).filter(|line| !line.starts_with('('));
    lines.map(|line| line.split('|').map(|cell| Some(cell.trim().to_owned())).collect()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guide_runs_in_its_order_as_the_users_it_names() {
    let site = Site::start().await;
    let mut user = "admin".to_owned();
    // The guide shows two statements for their refusal.
    let mut refusals = vec![
        ("SELECT id FROM sales_wh.acdemo.orders", "42P01"),
        ("GRANT ALL ON sales_wh.acdemo.orders TO ROLE analyst", ""),
    ];
    let mut last = Vec::new();
    for part in parts("docs/guide/first-policies.md") {
        match part {
            Part::Prose(line) => {
                if let Some(name) = speaker(&line) {
                    user = name.to_owned();
                }
            }
            Part::Fenced { language, text } if language == "sql" => {
                let client = site.connect(&user).await;
                for sql in statements(&text) {
                    let refusal = refusals.iter().position(|(refused, _)| *refused == sql);
                    match (rows(&client, &sql).await, refusal) {
                        (Ok(found), None) => last = found,
                        (Err(error), Some(place)) => {
                            let (_, code) = refusals.remove(place);
                            assert!(error.code().unwrap().code().contains(code), "`{sql}`: {error:?}");
                        }
                        (Ok(_), Some(_)) => panic!("`{sql}` as {user} is not refused"),
                        (Err(error), None) => panic!("`{sql}` as {user}: {error:?}"),
                    }
                }
            }
            Part::Fenced { text, .. } if text.contains("-+-") => assert_eq!(last, cells(&text)),
            Part::Fenced { .. } => {}
        }
    }
    assert!(refusals.is_empty(), "the guide no longer shows {refusals:?}");
    let promised = [
        ("bob", "SELECT 1/(id-2) FROM sales_wh.acdemo.orders", 2),
        ("bob", "SELECT id FROM sales_wh.acdemo.orders WHERE ssn = '111-11-1111'", 0),
    ];
    for (user, sql, n_rows) in promised {
        assert_eq!(rows(&site.connect(user).await, sql).await.unwrap().len(), n_rows, "`{sql}`");
    }
    site.running.shutdown().await.unwrap();
}

/// What the shorter examples stand on.
const GROUND: &str = "CREATE SCHEMA sales_wh.acdemo;
    CREATE USER dave PASSWORD 'dave-secret'";

const ORDERS: &str = "CREATE TABLE sales_wh.acdemo.orders (id BIGINT, region VARCHAR, ssn VARCHAR);
    INSERT INTO sales_wh.acdemo.orders VALUES (1, 'EU', '111-11-1111'), (2, 'US', '222-22-2222')";

#[tokio::test(flavor = "multi_thread")]
async fn the_example_of_the_readme_shows_what_it_says() {
    let site = Site::start().await;
    site.run("admin", GROUND).await;
    site.run("admin", ORDERS).await;
    let users =
        "CREATE ROLE analyst; CREATE USER alice PASSWORD 'alice-secret'; GRANT ROLE analyst TO USER alice";
    site.run("admin", users).await;
    let mut n_examples = 0;
    for part in parts("README.md") {
        if let Part::Fenced { language, text } = part
            && language == "sql"
        {
            site.run("admin", &text).await;
            n_examples += 1;
        }
    }
    assert_eq!(n_examples, 1);
    let seen =
        rows(&site.connect("alice").await, "SELECT region, ssn FROM sales_wh.acdemo.orders").await.unwrap();
    assert_eq!(seen, [["EU", "xxx-xx-1111"].map(|text| Some(text.to_owned()))]);
    let other = site.connect("dave").await;
    let error = rows(&other, "SELECT region FROM sales_wh.acdemo.orders").await.unwrap_err();
    assert_eq!(error.code().unwrap().code(), "42P01");
    site.running.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_the_sql_page_run_in_their_order() {
    let site = Site::start().await;
    site.run("admin", GROUND).await;
    site.run("admin", ORDERS).await;
    let files = site.dir.path().join("in").display().to_string();
    let mut n_examples = 0;
    for part in parts("docs/reference/sql.md") {
        if let Part::Fenced { language, text } = part
            && language == "sql"
        {
            site.run("admin", &text.replace("/data/in", &files)).await;
            n_examples += 1;
        }
    }
    assert!(n_examples >= 8, "{n_examples}");
    site.running.shutdown().await.unwrap();
}
