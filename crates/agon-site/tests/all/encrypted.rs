//! A site that does its own encryption: sessions travel encrypted only, and browsers are bound to it only if somebody
//! vouches for it.

use std::sync::Arc;

use crate::common::{PASSWORD, World};
use agon_site::{Tls, Way};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The answer to a request by a client that trusts only this certificate.
async fn ask(world: &World, certificate: &std::path::Path, request: &str) -> String {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).expect("there")).expect("a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("known")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(world.address).await.expect("it listens");
    let name = ServerName::try_from("127.0.0.1").expect("an address");
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("it is trusted");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut bytes = Vec::new();
    // A peer that closes without a goodbye has still said everything.
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).to_lowercase()
}

#[tokio::test]
async fn sessions_travel_encrypted_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = Tls::own(folder.path(), "192.168.1.7").expect("made");
    let file = folder.path().join("192.168.1.7.pem");
    let given = Tls::given(&file, &file).expect("read");
    for (tls, for_good) in [(own, false), (given, true)] {
        let way = Way::Tls { tls: Arc::new(tls), private: true };
        let world = World::with("sign_up = \"open\"", way).await;
        let host = format!("127.0.0.1:{}", world.address.port());
        let open = format!("GET /sign-up HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let page = ask(&world, &file, &open).await;
        assert!(
            page.starts_with("http/1.1 200") && !page.contains("cross this network unencrypted"),
            "{page}"
        );
        assert_eq!(page.contains("strict-transport-security"), for_good, "{page}");
        let body = format!("name=Ann&password={}", PASSWORD.replace(' ', "+"));
        let head = |origin: &str| {
            format!(
                "POST /sign-up HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nConnection: close\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        let other = ask(&world, &file, &head(&format!("http://{host}"))).await;
        assert!(other.starts_with("http/1.1 403"), "a page without encryption is another site: {other}");
        let signed = ask(&world, &file, &head(&format!("https://{host}"))).await;
        assert!(signed.contains("set-cookie: __host-agon=") && signed.contains("; secure"), "{signed}");
    }
}
