//! Options are read, checked and shown, and every fault of a file is told at once.

use std::path::PathBuf;

use super::*;

/// Reads a text as a file in a folder of its own, with an environment.
fn read(text: &str, env: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sluice.toml");
    std::fs::write(&file, text).unwrap();
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    load(&Inputs { file: Some(file), env, flags: Vec::new() })
}

fn check_faults(text: &str, env: &[(&str, &str)], expected: &[&str]) {
    let error = read(text, env).unwrap_err();
    let told: Vec<String> = error
        .faults()
        .iter()
        .map(|fault| {
            let told = fault.to_string();
            match &fault.place {
                Place::At { file, .. } => told.replace(&file.display().to_string(), "sluice.toml"),
                _ => told,
            }
        })
        .collect();
    assert_eq!(told, expected);
}

fn effective(loaded: &Loaded, name: &str) -> (String, Source) {
    let setting = loaded.effective.iter().find(|setting| setting.name == name).unwrap();
    (setting.value.clone(), setting.source.clone())
}

#[test]
fn an_empty_configuration_is_all_defaults() {
    let loaded = load(&Inputs::default()).unwrap();
    assert_eq!(loaded.config.postgres.listen.as_deref(), Some("127.0.0.1:5433"));
    assert_eq!(loaded.config.http.listen.as_deref(), Some("127.0.0.1:8090"));
    assert_eq!(loaded.config.catalogs[0].warehouse, PathBuf::from("sluice-data/warehouse/lake"));
    assert_eq!(loaded.config.audit.path, PathBuf::from("sluice-data/audit.jsonl"));
    assert!(loaded.effective.iter().all(|setting| setting.source == Source::Default));
}

#[test]
fn an_unknown_key_is_refused_with_line_and_column_and_the_name_that_was_meant() {
    check_faults(
        "[server]\ndata_dir = \"d\"\n\n[postgres]\n  lisen = \"127.0.0.1:1\"\n",
        &[],
        &["sluice.toml:5:3: unknown key `lisen` in `[postgres]`; did you mean `listen`?"],
    );
}

#[test]
fn an_unknown_section_is_refused() {
    check_faults(
        "[postgre]\nlisten = \"off\"\n",
        &[],
        &["sluice.toml:1:2: unknown section `[postgre]`; did you mean `postgres`?"],
    );
}

#[test]
fn a_key_in_the_wrong_section_is_told_where_it_belongs() {
    check_faults(
        "[server]\nbatch_rows = 100\n",
        &[],
        &["sluice.toml:2:1: unknown key `batch_rows` in `[server]`; `batch_rows` belongs under `[engine]`"],
    );
    check_faults(
        "batch_rows = 100\n",
        &[],
        &["sluice.toml:1:1: `batch_rows` stands outside a section; it belongs under `[engine]`"],
    );
}

#[test]
fn every_fault_is_told_at_once() {
    check_faults(
        "[engine]\nbatch_rows = \"many\"\nmask_precedence = \"role\"\n[http]\nlisten = \"here\"\n",
        &[],
        &[
            "sluice.toml:2:14: `batch_rows` takes a whole number from 64 to 1048576",
            "sluice.toml:3:19: `mask_precedence` takes `tag` or `resource`",
            "sluice.toml:5:10: `listen` takes `host:port` or `off`",
        ],
    );
}

#[test]
fn a_file_that_is_no_toml_is_refused_with_its_place() {
    let error = read("[server\ndata_dir = 1\n", &[]).unwrap_err();
    assert!(matches!(error.faults()[0].place, Place::At { line: 1, .. }), "{error}");
}

#[test]
fn the_environment_wins_over_the_file_and_a_flag_over_both() {
    let loaded = read("[http]\nlisten = \"off\"\n", &[("SLUICE_HTTP__LISTEN", "127.0.0.1:0")]).unwrap();
    assert_eq!(loaded.config.http.listen.as_deref(), Some("127.0.0.1:0"));
    assert_eq!(
        effective(&loaded, "http.listen"),
        ("\"127.0.0.1:0\"".to_owned(), Source::At(Place::Env("SLUICE_HTTP__LISTEN".to_owned())))
    );
    let inputs =
        Inputs { env: vec![("SLUICE_SERVER__DATA_DIR".to_owned(), "/a".to_owned())], ..Inputs::default() };
    let loaded = load(&inputs.with_flag("server.data_dir", "/b")).unwrap();
    assert_eq!(loaded.config.server.data_dir, PathBuf::from("/b"));
}

#[test]
fn an_unknown_environment_setting_is_refused() {
    check_faults(
        "",
        &[("SLUICE_HTTP__LISTN", "off")],
        &[
            "environment variable `SLUICE_HTTP__LISTN`: unknown key `listn` in `[http]`; did you mean `listen`?",
        ],
    );
    check_faults(
        "",
        &[("SLUICE_SERVER_DATA_DIR", "/d")],
        &[
            "environment variable `SLUICE_SERVER_DATA_DIR`: names no setting; did you mean `SLUICE_SERVER__DATA_DIR`, with two underscores?",
        ],
    );
    assert!(read("", &[("SLUICE_CONFIG", "x"), ("PATH", "/bin")]).is_ok());
}

#[test]
fn names_of_the_seed_are_accepted_where_the_option_exists() {
    let loaded =
        read("[policy]\nmask-precedence = \"resource\"\nmask_key = \"0123456789abcdef\"\n", &[]).unwrap();
    assert_eq!(loaded.config.engine.mask_precedence, "resource");
    assert_eq!(loaded.config.engine.mask_key.as_ref().unwrap().reveal(), "0123456789abcdef");
    let loaded = read("[metrics]\naudit_log_path = \"/x/audit.log\"\n", &[]).unwrap();
    assert_eq!(loaded.config.audit.path, PathBuf::from("/x/audit.log"));
    assert!(read("[access_control]\ngrant_authority = \"ranger-delegate\"\n", &[]).is_ok());
    assert!(read("[access_control]\ngrant_authority = \"admin-role\"\n", &[]).is_err());
    assert!(read("[policy.ranger]\ncache-ttl-secs = 30\n", &[]).is_err());
}

#[test]
fn one_option_under_two_names_is_refused() {
    check_faults(
        "[engine]\nmask_precedence = \"tag\"\n[policy]\nmask-precedence = \"resource\"\n",
        &[],
        &["sluice.toml:4:1: `engine.mask_precedence` is set twice"],
    );
}

#[test]
fn secrets_are_not_shown() {
    let loaded = read("[engine]\nmask_key = \"0123456789abcdef\"\n", &[]).unwrap();
    assert_eq!(effective(&loaded, "engine.mask_key").0, "(set, not shown)");
    assert!(!format!("{loaded:?}").contains("0123456789"));
}

#[test]
fn catalogs_keep_their_order_and_relative_paths_start_at_the_file() {
    let loaded = read("[catalogs.sales_wh]\nwarehouse = \"w\"\n[catalogs.archive]\n", &[]).unwrap();
    let names: Vec<&str> = loaded.config.catalogs.iter().map(|catalog| catalog.name.as_str()).collect();
    assert_eq!(names, ["sales_wh", "archive"]);
    assert!(loaded.config.catalogs[0].warehouse.is_absolute());
    assert!(loaded.config.catalogs[0].warehouse.ends_with("w"));
    let loaded = read("", &[("SLUICE_CATALOGS__ARCHIVE__WAREHOUSE", "/a")]).unwrap();
    assert_eq!(loaded.config.catalogs[0].warehouse, PathBuf::from("/a"));
}

#[test]
fn a_catalog_name_that_sql_could_not_say_is_refused() {
    check_faults(
        "[catalogs.\"a/b\"]\n",
        &[],
        &[
            "sluice.toml:1:11: `a/b` is no catalog name: lower-case letters, digits and `_`, at most 63, a letter first",
        ],
    );
    check_faults("[catalogs.sys]\n", &[], &["sluice.toml:1:11: `sys` is a name that Sluice itself uses"]);
}

#[test]
fn tls_is_whole_or_not_at_all() {
    check_faults(
        "[postgres]\ntls_cert = \"c.pem\"\n",
        &[],
        &["sluice.toml:2:1: `tls_cert` needs `tls_key` beside it"],
    );
    check_faults(
        "[postgres]\nrequire_tls = true\n",
        &[],
        &["sluice.toml:2:1: `require_tls` needs `tls_cert` and `tls_key`"],
    );
}

#[test]
fn the_reference_and_the_effective_settings_tell_every_option() {
    let page = reference();
    let loaded = load(&Inputs::default()).unwrap();
    for def in options::OPTIONS {
        assert!(page.contains(&format!("| `{}` |", def.key)), "{} is not in the reference", def.key);
        if def.section != options::CATALOGS {
            let (value, _) = effective(&loaded, &format!("{}.{}", def.section, def.key));
            if let Some(default) = def.default {
                assert_eq!(value, default, "{}", def.key);
            }
        }
    }
}
