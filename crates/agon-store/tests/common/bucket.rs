//! A bucket in a folder: a server that speaks S3 and checks signatures.

use std::path::Path;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The keys, in the format of `objects.key`.
#[allow(dead_code, reason = "not each program of tests writes that file")]
pub const KEYS: &str = "AWS_ACCESS_KEY_ID=key\nAWS_SECRET_ACCESS_KEY=secret of the bucket\n";

/// Serves the buckets of a folder until it is dropped, with all its connections.
pub async fn serve(folder: &Path, listener: TcpListener) {
    let mut service = S3ServiceBuilder::new(FileSystem::new(folder).expect("a folder"));
    service.set_auth(SimpleAuth::from_single("key", "secret of the bucket"));
    let service = service.build();
    let mut open = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        // Answers come in two parts; without this the second waits 40 ms for the first to be acknowledged.
        let _ = stream.set_nodelay(true);
        let service = service.clone();
        open.spawn(async move {
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
        // Drops the ones that have ended.
        while open.try_join_next().is_some() {}
    }
}
