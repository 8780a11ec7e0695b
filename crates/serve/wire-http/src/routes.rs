//! Which path leads where.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

use crate::health::{self, Probe};

/// Every path of this door; a new family of paths is a `merge` here.
pub(crate) fn routes(readiness: Probe) -> Router {
    Router::new()
        .merge(health_routes(readiness))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
}

fn health_routes(readiness: Probe) -> Router {
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .with_state(readiness)
}

async fn not_found() -> Response {
    error(StatusCode::NOT_FOUND, "no such path")
}

async fn method_not_allowed() -> Response {
    error(StatusCode::METHOD_NOT_ALLOWED, "this path does not take this method")
}

fn error(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "error": { "code": status.as_u16(), "message": message } }))).into_response()
}
