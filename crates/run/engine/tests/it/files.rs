//! File functions read what is set free for them, for those who hold the right, and no governed table.

use std::path::{Path, PathBuf};

use engine::EngineSettings;
use stdx::ErrorKind;
use testkit::{ADMIN, CATALOG, Client, Site};

fn parquet_below(folder: &Path) -> Option<PathBuf> {
    std::fs::read_dir(folder).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            parquet_below(&path)
        } else {
            path.extension().is_some_and(|e| e == "parquet").then_some(path)
        }
    })
}

struct Files {
    site: Site,
    root: Client,
    ana: Client,
    /// A data file of the governed table.
    data_file: PathBuf,
}

/// `free/` may be read, `shut/` may not; both hold the same file.
async fn files() -> Files {
    let site = Site::open().await;
    for folder in ["free", "shut", "free/in"] {
        std::fs::create_dir_all(site.path(folder)).unwrap();
    }
    let settings = EngineSettings {
        load_roots: vec![site.path("free")],
        load_role: "loader".to_owned(),
        ..EngineSettings::default()
    };
    let engine = site.engine(settings);
    let root = Client::open(&engine, ADMIN).await;
    root.all(&[
        "CREATE SCHEMA s",
        "CREATE TABLE s.t AS SELECT 1 AS id, 'geheim' AS a",
        "CREATE USER ana",
        "CREATE USER lotte",
        "CREATE ROLE loader",
        "GRANT ROLE loader TO USER lotte",
        "GRANT ROLE loader TO USER root",
        "GRANT SELECT ON s.t TO USER lotte",
        "CREATE POLICY f ON TABLE s.t ROW FILTER TO USER lotte USING (id > 1)",
    ])
    .await;
    let data_file = parquet_below(&site.warehouse(CATALOG)).unwrap();
    for copy in ["free/a.parquet", "shut/a.parquet", "free/in/b.parquet"] {
        std::fs::copy(&data_file, site.path(copy)).unwrap();
    }
    let ana = Client::open(&engine, "ana").await;
    let lotte = Client::open(&engine, "lotte").await;
    let files = Files { site, root: lotte, ana, data_file };
    drop(root);
    files
}

fn read(path: &Path) -> String {
    format!("SELECT a FROM read_parquet('{}')", path.display())
}

#[tokio::test]
async fn a_file_set_free_is_read_by_who_may() {
    let files = files().await;
    for path in ["free/a.parquet", "free/in", "free/../free/in/b.parquet"] {
        assert_eq!(files.root.rows(&read(&files.site.path(path))).await, ["geheim"], "{path}");
    }
    assert_eq!(files.root.rows("SELECT * FROM s.t").await, Vec::<String>::new());
}

#[tokio::test]
async fn one_without_the_role_reads_no_file_and_is_told_nothing_of_it() {
    let files = files().await;
    let told: Vec<_> = ["free/a.parquet", "free/none.parquet", "shut/a.parquet"]
        .map(|path| files.site.path(path))
        .into_iter()
        .map(|path| read(&path))
        .collect();
    for sql in &told {
        let error = files.ana.fails(sql).await;
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Denied, "permission denied to call `read_parquet`"),
            "{sql}"
        );
    }
    for function in ["read_csv", "read_json"] {
        let error = files.ana.fails(&format!("SELECT * FROM {function}('/etc/passwd')")).await;
        assert_eq!(error.kind(), ErrorKind::Denied);
    }
}

#[tokio::test]
async fn no_path_leads_out_of_the_folders_set_free() {
    let files = files().await;
    let site = &files.site;
    std::os::unix::fs::symlink(site.path("shut/a.parquet"), site.path("free/link.parquet")).unwrap();
    std::os::unix::fs::symlink(site.path("shut"), site.path("free/door")).unwrap();
    std::os::unix::fs::symlink(&files.data_file, site.path("free/table.parquet")).unwrap();
    for path in [
        "shut/a.parquet",
        "free/../shut/a.parquet",
        "free/in/../../shut/a.parquet",
        "free/link.parquet",
        "free/door/a.parquet",
        "free/door",
        "free/table.parquet",
        "free/none.parquet",
    ] {
        let error = files.root.fails(&read(&site.path(path))).await;
        assert_eq!(error.kind(), ErrorKind::Denied, "{path}: {error:?}");
    }
    let error = files.root.fails(&read(&files.data_file)).await;
    assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
    for sql in [
        "SELECT * FROM read_parquet('a.parquet')".to_owned(),
        format!("SELECT * FROM read_parquet('file://{}')", site.path("free/a.parquet").display()),
        format!("SELECT * FROM read_parquet('{}/*.parquet')", site.path("shut").display()),
        format!("SELECT * FROM '{}'", site.path("free/a.parquet").display()),
        format!(
            "CREATE EXTERNAL TABLE x STORED AS PARQUET LOCATION '{}'",
            site.path("free/a.parquet").display()
        ),
    ] {
        files.root.fails(&sql).await;
    }
}

/// A folder that is read as a whole is listed by the file system's rules, links in it included.
#[tokio::test]
async fn a_link_inside_a_folder_is_not_followed_out_of_it() {
    let files = files().await;
    let site = &files.site;
    std::fs::create_dir_all(site.path("free/mixed")).unwrap();
    std::fs::copy(&files.data_file, site.path("free/mixed/own.parquet")).unwrap();
    std::os::unix::fs::symlink(&files.data_file, site.path("free/mixed/link.parquet")).unwrap();
    std::os::unix::fs::symlink(site.path("shut"), site.path("free/mixed/door")).unwrap();
    match files.root.run(&read(&site.path("free/mixed"))).await {
        Ok(answer) => assert_eq!(answer.rows, ["geheim"], "the folder's own file and no other"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}"),
    }
}

#[tokio::test]
async fn a_root_that_overlaps_a_warehouse_starts_no_engine() {
    let site = Site::open().await;
    for root in [site.warehouse(CATALOG), site.path("")] {
        let settings = EngineSettings { load_roots: vec![root], ..EngineSettings::default() };
        assert_eq!(site.try_engine(settings).unwrap_err().kind(), ErrorKind::Invalid);
    }
}
