//! The tutorial comes out as it says.

use sluice::demo::{self, DemoOptions};

async fn check(scale: f64) {
    let options = DemoOptions { data_dir: None, scale, keep: false, listen: "127.0.0.1:0".to_owned() };
    let outcome = demo::run(&options).await.unwrap();
    assert_eq!(outcome.n_wrong, 0, "of {} steps", outcome.n_steps);
    assert!(outcome.n_steps > 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_step_of_the_tutorial_comes_out_as_it_says() {
    check(0.0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tpch_is_loaded_and_governed() {
    check(0.001).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_with_something_in_it_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("mine"), "x").unwrap();
    let data_dir = Some(dir.path().to_owned());
    let options = DemoOptions { data_dir, scale: 0.0, keep: false, listen: "127.0.0.1:0".to_owned() };
    assert!(matches!(demo::run(&options).await, Err(demo::DemoError::NotEmpty(_))));
    assert!(dir.path().join("mine").exists());
}
