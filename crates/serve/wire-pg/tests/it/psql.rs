//! psql itself against the door, where it is installed.

use std::process::Stdio;

use crate::door::open;

const PSQL: &str = "/usr/bin/psql";

#[tokio::test]
async fn psql_reads_rows_notices_and_errors() {
    if !std::path::Path::new(PSQL).exists() {
        println!("skipped: there is no {PSQL}");
        return;
    }
    let door = open().await;
    let script = "COUNT 2; INSERT 3;\nGRANT hello;\nWHO;\nSELECT x;\n";
    let output = tokio::process::Command::new(PSQL)
        .args([
            "-X",
            "-A",
            "-t",
            "-h",
            "127.0.0.1",
            "-U",
            "alice",
            "-d",
            "lake",
            "-p",
            &door.addr.port().to_string(),
        ])
        .args(["-c", script])
        .env("PGPASSWORD", "wonder")
        .env_remove("PGCLIENTENCODING")
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(out, "0\n1\nINSERT 0 3\nGRANT\nalice\n", "{err}");
    assert!(err.contains("NOTICE:  hello") && err.contains("ERROR:  no such column `x`"), "{err}");
    assert!(err.contains("HINT:  there is `y`") && err.contains("LINE 4: SELECT x;"), "{err}");
}
