//! The HTTP door: tells load balancers and people whether the server lives and whether it can answer.

mod health;
mod routes;
mod server;

pub use health::Readiness;
pub use server::{HttpDoorError, HttpServer, bind};
