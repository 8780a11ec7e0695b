//! Whether the process lives, and which of its parts are not ready for work.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Whether queries can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    /// Parts that are not there yet, or not any more.
    ///
    /// INVARIANT: their names are texts of the program, so no name of a table or a user can be told here (L8).
    Waiting {
        parts: Vec<&'static str>,
    },
}

pub(crate) type Probe = Arc<dyn Fn() -> Readiness + Send + Sync>;

/// That this answers at all is the answer.
pub(crate) async fn healthz() -> &'static str {
    "ok"
}

pub(crate) async fn readyz(State(probe): State<Probe>) -> Response {
    // A probe that panics is a part that is not ready, and nothing of the panic is told.
    let readiness = std::panic::catch_unwind(AssertUnwindSafe(|| probe()))
        .unwrap_or_else(|_panic| Readiness::Waiting { parts: vec!["readiness probe"] });
    match readiness {
        Readiness::Ready => Json(json!({ "status": "ready" })).into_response(),
        Readiness::Waiting { parts } => {
            let body = json!({ "status": "not ready", "waiting_for": parts });
            (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
        }
    }
}
