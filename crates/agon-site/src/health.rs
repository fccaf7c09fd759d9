//! What proxies and service managers ask: is this process alive, and is it to be sent requests?

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get as on_get;

use crate::problem::Refused;
use crate::routes::{self, Route};
use crate::site::Site;

/// Answers as long as the process does.
pub const LIVE: &str = "/health/live";
/// Answers 200 while requests can be answered, 503 with the reason while the database is away.
pub const READY: &str = "/health/ready";

pub const ROUTES: &[Route] =
    &[routes::still(LIVE, || on_get(|| async { "alive\n" })), routes::still(READY, || on_get(ready))];

async fn ready(State(site): State<Arc<Site>>) -> Result<&'static str, Refused> {
    if *site.away().borrow() { Err(Refused::away()) } else { Ok("ready\n") }
}
