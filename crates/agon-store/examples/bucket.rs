//! An S3 bucket for tests, in a process of its own that can be killed: `cargo run -p agon-store --example bucket -- FOLDER [PORT]`. Each
//! bucket is a folder in FOLDER. It prints its address, which is reachable from this machine only, and ends when its standard input does.

use std::io::Read as _;
use std::path::PathBuf;

use tokio::net::TcpListener;

#[path = "../tests/common/bucket.rs"]
mod bucket;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder: PathBuf = arguments.next().expect("a folder").into();
    let port: u16 = arguments.next().map_or(0, |port| port.parse().expect("a port"));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread");
    runtime.spawn(async move {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("a port");
        println!("http://{}", listener.local_addr().expect("it listens"));
        bucket::serve(&folder, listener).await;
    });
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
