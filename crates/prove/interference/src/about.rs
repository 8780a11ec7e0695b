//! Statements that ask about tables and not for their rows.

use crate::dice::Dice;

/// About one relation, which `{t}` stands for.
const OF_A_TABLE: [&str; 30] = [
    "DESCRIBE g.{t}",
    "SHOW COLUMNS FROM g.{t}",
    "SHOW STATS FOR g.{t}",
    "SHOW EFFECTIVE POLICY ON g.{t}",
    "SHOW TAGS ON g.{t}",
    "SHOW CREATE TABLE g.{t}",
    "SHOW GRANTS ON g.{t}",
    "SHOW POLICIES ON g.{t}",
    "CHECK ACCESS SELECT ON g.{t}",
    "EXPLAIN POLICY SELECT * FROM g.{t}",
    "SELECT * FROM g.\"{t}$files\"",
    "SELECT * FROM g.\"{t}$snapshots\"",
    "SELECT * FROM g.\"{t}$history\"",
    "SELECT * FROM g.\"{t}$refs\"",
    "SELECT * FROM g.\"{t}$manifests\"",
    "SELECT * FROM g.\"{t}$partitions\"",
    "SELECT count(*) FROM table_files('g', '{t}')",
    "SELECT sum(record_count) FROM table_partitions('g', '{t}')",
    "SELECT relname, reltuples, relpages FROM pg_catalog.pg_class WHERE relname = '{t}'",
    "SELECT attname, attnotnull FROM pg_catalog.pg_attribute WHERE attname IN ('id', 'a', 's') ORDER BY 1, 2",
    "SELECT * FROM pg_catalog.pg_stats WHERE tablename = '{t}'",
    "SELECT n_live_tup FROM pg_catalog.pg_stat_user_tables WHERE relname = '{t}'",
    "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = '{t}' ORDER BY 1",
    "SELECT count(*) FROM g.{t} FOR VERSION AS OF 'nothing'",
    "SELECT count(*), min(id), max(id) FROM g.{t} FOR TIMESTAMP AS OF now() + INTERVAL '1 day'",
    "SELECT count(*) FROM g.{t} FOR SYSTEM_TIME AS OF TIMESTAMP '2000-01-01 00:00:00'",
    "EXPLAIN ANALYZE SELECT * FROM g.{t}",
    "EXPLAIN VERBOSE SELECT * FROM g.{t}",
    "EXPLAIN FORMAT JSON SELECT * FROM g.{t}",
    "SELECT * FROM g.{t} TABLESAMPLE BERNOULLI (100)",
];

const OF_ALL: [&str; 19] = [
    "SELECT s FROM g.mask_fails",
    "SELECT count(*) FROM g.filter_fails",
    "SELECT id FROM g.filter_fails WHERE s = 'kestrel'",
    "SHOW TABLES",
    "SHOW VIEWS",
    "SHOW SCHEMAS",
    "SHOW POLICIES",
    "SHOW MASKING POLICIES",
    "SHOW ROW FILTERS",
    "SHOW CURRENT ROLES",
    "SHOW CREATE VIEW g.v",
    "DESCRIBE g.j",
    "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'g' ORDER BY 1",
    "SELECT table_name, view_definition FROM information_schema.views ORDER BY 1",
    "SELECT * FROM sys.policies",
    "SELECT * FROM sys.privileges",
    "SELECT * FROM sys.roles",
    "SELECT nspname FROM pg_catalog.pg_namespace ORDER BY 1",
    "SELECT * FROM sys.membership",
];

/// What differs from one installation to the next and hides nothing: file names, numbers of snapshots, moments.
const OF_THE_FREE: [&str; 6] = [
    "SELECT record_count, content FROM g.\"free$files\"",
    "SELECT operation FROM g.\"free$snapshots\"",
    "SELECT is_current_ancestor FROM g.\"free$history\"",
    "SELECT name, type FROM g.\"free$refs\"",
    "SELECT added_rows_count FROM g.\"free$manifests\"",
    "SHOW STATS FOR g.free",
];

pub(crate) fn statement(dice: &mut Dice) -> String {
    match dice.roll(10) {
        0..=2 => (*dice.pick(&OF_ALL)).to_owned(),
        3 => (*dice.pick(&OF_THE_FREE)).to_owned(),
        _ => {
            let table = *dice.pick(&["t", "s", "d", "v"]);
            dice.pick(&OF_A_TABLE).replace("{t}", table)
        }
    }
}
