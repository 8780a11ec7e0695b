//! Puts a made-up lake into a whole engine, by the statements that anybody would use.

use std::sync::Arc;

use engine::{Engine, EngineSettings};
use testkit::{ADMIN, Client, Site};

use crate::lake::{FREE, Lake, OTHER, READER, Row, Secrets, Table};

/// One installation: a lake of its own, and a session of everybody who asks.
pub(crate) struct Installation {
    pub(crate) admin: Client,
    pub(crate) reader: Client,
    pub(crate) other: Client,
    pub(crate) free: Client,
    // Last, so that its folder goes after the sessions.
    _site: Site,
}

impl Installation {
    pub(crate) async fn open(lake: &Lake, secrets: Secrets) -> Self {
        let site = Site::open().await;
        let settings = EngineSettings {
            target_partitions: Some(lake.settings.target_partitions),
            batch_rows: lake.settings.batch_rows,
            pushdown_filters: lake.settings.is_pushing,
            reorder_filters: lake.settings.is_reordering,
            ..EngineSettings::default()
        };
        let engine = site.engine(settings);
        let admin = session(&engine, ADMIN).await;
        for statement in people() {
            admin.ok(&statement).await;
        }
        for table in &lake.tables {
            for statement in contents(table, secrets) {
                admin.ok(&statement).await;
            }
        }
        for statement in protections(lake).into_iter().chain(failing(secrets)) {
            admin.ok(&statement).await;
        }
        let (reader, other, free) =
            (session(&engine, READER).await, session(&engine, OTHER).await, session(&engine, FREE).await);
        Self { admin, reader, other, free, _site: site }
    }

    pub(crate) fn client(&self, user: &str) -> &Client {
        match user {
            READER => &self.reader,
            OTHER => &self.other,
            FREE => &self.free,
            _ => &self.admin,
        }
    }
}

async fn session(engine: &Arc<Engine>, user: &str) -> Client {
    Client::open(engine, user).await
}

fn people() -> Vec<String> {
    let mut statements = vec!["CREATE SCHEMA g".to_owned()];
    statements.extend([READER, OTHER, FREE].map(|user| format!("CREATE USER {user}")));
    for (role, user) in [("staff", READER), ("clerk", OTHER)] {
        statements.push(format!("CREATE ROLE {role}"));
        statements.push(format!("GRANT ROLE {role} TO USER {user}"));
    }
    statements
}

fn contents(table: &Table, secrets: Secrets) -> Vec<String> {
    let name = table.name;
    let columns: Vec<String> =
        table.columns.iter().map(|column| format!("{} {}", column.name, column.sql_type)).collect();
    let partition = table.partition.map(|column| format!(" PARTITION BY ({column})")).unwrap_or_default();
    let mut statements = vec![format!("CREATE TABLE g.{name} ({}){partition}", columns.join(", "))];
    for (n, rows) in table.content.of(secrets).iter().enumerate() {
        statements.push(format!("INSERT INTO g.{name} {}", values(rows, table)));
        if n == 0 {
            statements.push(format!("ALTER TABLE g.{name} CREATE TAG old"));
        }
    }
    statements
}

/// The rows as a source of INSERT.
fn values(rows: &[Row], table: &Table) -> String {
    let row = |row: &Row| {
        let values: Vec<String> = row
            .iter()
            .zip(&table.columns)
            .map(|(value, column)| match value {
                crate::lake::Value::Null => format!("CAST(NULL AS {})", column.sql_type),
                value => value.literal(),
            })
            .collect();
        format!("({})", values.join(", "))
    };
    format!("VALUES {}", rows.iter().map(row).collect::<Vec<_>>().join(", "))
}

/// Tables whose policies fail on what they hide, which differs between the lakes.
fn failing(secrets: Secrets) -> Vec<String> {
    let secret = if secrets == Secrets::One { "kestrel" } else { "heron" };
    let mut statements = Vec::new();
    for table in ["mask_fails", "filter_fails"] {
        statements.push(format!("CREATE TABLE g.{table} (id INT, s VARCHAR)"));
        statements.push(format!("INSERT INTO g.{table} VALUES (1, '{secret}')"));
        statements.push(format!("GRANT SELECT ON g.{table} TO USER {READER}"));
    }
    statements.push(format!(
        "CREATE POLICY failing_mask ON TABLE g.mask_fails COLUMN MASK CUSTOM TO USER {READER} ON COLUMN s USING (CAST(CAST({{col}} AS INT) AS VARCHAR))"
    ));
    statements.push(format!(
        "CREATE POLICY failing_filter ON TABLE g.filter_fails ROW FILTER TO USER {READER} USING (CAST(s AS INT) > 0)"
    ));
    statements
}

/// Views, grants, and the policies; the last of all, as a lake is governed that is there already.
fn protections(lake: &Lake) -> Vec<String> {
    let mut statements = views(lake, definers(lake));
    for user in [READER, OTHER, FREE] {
        statements.push(format!("GRANT SELECT ON g.t, g.s, g.free, g.d TO USER {user}"));
        statements.push(format!("GRANT SELECT ON VIEW g.v TO USER {user}"));
        statements.push(format!("GRANT SELECT ON VIEW g.j TO USER {user}"));
    }
    statements.push(format!("GRANT INSERT, UPDATE, DELETE, MERGE, TRUNCATE ON g.d TO USER {READER}"));
    for table in lake.tables.iter().filter(|table| table.is_governed()) {
        statements.extend(table.reader.statements(table.name, &table.columns));
        statements.extend(table.other.statements(table.name, &table.columns));
    }
    statements
}

/// Which of the views of a lake read with their owner's rights: by turns none, the lower, the upper, both.
pub(crate) fn definers(lake: &Lake) -> [bool; 2] {
    [lake.seed & 1 != 0, lake.seed & 2 != 0]
}

/// A narrow view over `t`, and a view over a join with it. Their rows are the same with whatever rights they are read.
pub(crate) fn views(lake: &Lake, definers: [bool; 2]) -> Vec<String> {
    let [lower, upper] = definers.map(|is_definer| if is_definer { " SECURITY DEFINER" } else { "" });
    let last = lake.table("t").columns.len() - 1;
    let (t, s) = (&lake.table("t").columns[last], &lake.table("s").columns[1]);
    vec![
        format!("CREATE VIEW g.v{lower} AS SELECT id, {} FROM g.t WHERE id > 2", t.name),
        format!(
            "CREATE VIEW g.j (i, one, two){upper} AS SELECT v.id, v.{}, s.{} FROM g.v v JOIN g.s s ON v.id = s.id",
            t.name, s.name
        ),
    ]
}
