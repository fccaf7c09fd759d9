//! What proxies and service managers ask: is this process alive, and is it to be sent requests?

use axum::routing::get as on_get;

use crate::routes::{self, Route};

/// Answers as long as the process does.
pub const LIVE: &str = "/health/live";
/// Answers 200 while requests can be answered, 503 with the reason while the database is away ([`crate::gate::reach`]).
pub const READY: &str = "/health/ready";

pub const ROUTES: &[Route] = &[
    routes::still(LIVE, || on_get(|| async { "alive\n" })),
    routes::still(READY, || on_get(|| async { "ready\n" })),
];
