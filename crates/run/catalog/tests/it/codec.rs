//! A plan that travels to another process reads what it read here.

use std::sync::Arc;

use catalog::IcebergCodec;
use datafusion::physical_plan::collect;
use datafusion::prelude::SessionContext;
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::physical_plan::PhysicalExtensionCodec;

use crate::deletes::{delete_positions, five_rows};
use crate::fixture::{Lake, ns, open, show, small};

/// Plans here, runs in a session that knows only what a worker knows.
async fn there_and_back(lake: &Lake, sql: &str) -> String {
    let session = lake.session(small()).await;
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let bytes = physical_plan_to_bytes_with_extension_codec(plan, &IcebergCodec).unwrap();
    let worker = SessionContext::new();
    open(&lake.folder).await.register(&worker.runtime_env());
    let context = worker.task_ctx();
    let plan = physical_plan_from_bytes_with_extension_codec(&bytes, &context, &IcebergCodec).unwrap();
    show(&collect(plan, Arc::clone(&context)).await.unwrap())
}

#[tokio::test]
async fn renames_and_deletes_survive_the_way() {
    let lake = five_rows().await;
    delete_positions(&lake, "t", &[1, 3]).await;
    lake.catalog.rename_column(&ns(), "t", "b", "c").await.unwrap();
    lake.catalog.drop_column(&ns(), "t", "a").await.unwrap();
    lake.catalog
        .add_column(&ns(), "t", &crate::fixture::field("a", arrow::datatypes::DataType::Int64))
        .await
        .unwrap();
    assert_eq!(there_and_back(&lake, "SELECT c, a FROM t ORDER BY c").await, "a NULL\nc NULL\ne NULL");
    assert_eq!(there_and_back(&lake, "SELECT c FROM t WHERE c > 'a' ORDER BY c").await, "c\ne");
    assert_eq!(there_and_back(&lake, "SELECT upper(c) FROM t ORDER BY c LIMIT 2").await, "A\nC");
    assert_eq!(there_and_back(&lake, "SELECT count(*) FROM t LIMIT 5000000000").await, "3");
}

#[tokio::test]
async fn other_plans_are_refused() {
    let context = SessionContext::new().task_ctx();
    for bytes in ["", "other", "sluice-iceberg-scan-1\n", "sluice-iceberg-scan-1\n\u{1}\0\0\0{"] {
        let wrong = IcebergCodec.try_decode(bytes.as_bytes(), &[], &context).unwrap_err().to_string();
        assert!(wrong.contains("an encoded Iceberg scan is malformed"), "{bytes:?}: {wrong}");
    }
}
