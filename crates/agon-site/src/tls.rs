//! Encryption by this program itself: with a given certificate, or with a self-signed one whose fingerprint people compare.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use webpki::EndEntityCert;

#[cfg(feature = "tls")]
mod making;

/// Whether this program makes certificates (the feature `tls`).
pub const MAKES: bool = cfg!(feature = "tls");

/// Whether it does, or why not.
///
/// # Errors
/// A sentence that says what to do.
pub fn can_make() -> Result<(), &'static str> {
    if MAKES { Ok(()) } else { Err(LACKS) }
}

/// What it says if it does not.
const LACKS: &str = "this agon was built without making certificates: give it one with --tls-cert and --tls-key, or build it with \
    `cargo install --path crates/agon --features tls`";

/// How long a handshake may take.
const GREETING: Duration = Duration::from_secs(10);
/// The first byte of a TLS connection.
const SPEAKS_TLS: u8 = 0x16;
/// The answer to anything else.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n\
    This contest uses encryption: its address begins with https://\n";

/// Certificate and key of the site.
#[derive(Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    /// Whether it is self-signed.
    own: bool,
    fingerprint: String,
    /// The first name it is valid for, if it has names.
    name: Option<String>,
    /// The configuration for new connections, and when its files were written.
    config: Mutex<(Arc<ServerConfig>, Option<SystemTime>)>,
}

impl Tls {
    /// Uses a certificate and its key, both in PEM; the intermediate certificates follow it.
    ///
    /// # Errors
    /// A sentence that says what is wrong with which file.
    pub fn given(certificate: &Path, key: &Path) -> Result<Self, String> {
        Self::read(certificate, key, false)
    }

    /// Uses a self-signed certificate for `name`, the address or name by which people reach this machine. It is kept in
    /// `folder` with its key, and made only if there is none yet, so that its fingerprint stays.
    ///
    /// # Errors
    /// A sentence that says why it cannot be kept or read.
    pub fn own(folder: &Path, name: &str) -> Result<Self, String> {
        let file = folder.join(format!("{}.pem", name.replace(':', "-")));
        if !file.exists() {
            can_make()?;
            #[cfg(feature = "tls")]
            making::make(&file, name).map_err(|error| format!("{}: {error}", file.display()))?;
        }
        Self::read(&file, &file, true)
    }

    fn read(certificate: &Path, key: &Path, own: bool) -> Result<Self, String> {
        let Read { config, fingerprint, name } = Read::from(certificate, key)?;
        let config = Mutex::new((config, written(certificate, key)));
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        Ok(Self { certificate, key, own, fingerprint, name, config })
    }

    /// Whether it is self-signed.
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// The SHA-256 of the certificate, as browsers show it: `AB:CD:...`.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The first name it is valid for, if that is the name of a single machine.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().filter(|name| !name.starts_with('*'))
    }

    /// Rereads the files when they have changed, as after a renewal. Files that cannot be read are tried again; the previous
    /// certificate then stays.
    pub fn refresh(&self) {
        let now = written(&self.certificate, &self.key);
        if self.config.lock().unwrap_or_else(PoisonError::into_inner).1 == now {
            return;
        }
        match Read::from(&self.certificate, &self.key) {
            Ok(Read { config, .. }) => {
                *self.config.lock().unwrap_or_else(PoisonError::into_inner) = (config, now);
                tracing::info!("a new certificate was read");
            }
            Err(why) => tracing::warn!("the certificate was changed and cannot be read: {why}"),
        }
    }

    /// Performs the handshake; none if the client does not speak TLS, or takes too long.
    pub async fn greet(&self, mut stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        let config = self.config.lock().unwrap_or_else(PoisonError::into_inner).0.clone();
        let agree = async {
            let mut first = [0];
            if stream.peek(&mut first).await.ok()? == 1 && first[0] != SPEAKS_TLS {
                // Read what came first, or the answer would be lost with it.
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(PLAIN).await;
                let _ = stream.shutdown().await;
                return None;
            }
            TlsAcceptor::from(config).accept(stream).await.ok()
        };
        tokio::time::timeout(GREETING, agree).await.ok().flatten()
    }
}

/// When the files were last written.
fn written(certificate: &Path, key: &Path) -> Option<SystemTime> {
    let written = |file: &Path| fs::metadata(file).and_then(|about| about.modified()).ok();
    written(certificate).max(written(key))
}

/// The content of the files.
struct Read {
    config: Arc<ServerConfig>,
    fingerprint: String,
    name: Option<String>,
}

impl Read {
    fn from(certificate: &Path, key: &Path) -> Result<Self, String> {
        let failed = |file: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let chain = CertificateDer::pem_file_iter(certificate);
        let chain = chain.and_then(|found| found.collect::<Result<Vec<_>, _>>());
        let chain = chain.map_err(|error| failed(certificate, &error))?;
        let Some(first) = chain.first() else {
            let why = "there is no certificate in it; one begins with -----BEGIN CERTIFICATE-----";
            return Err(failed(certificate, &why));
        };
        let digits: Vec<String> = Sha256::digest(first).iter().map(|byte| format!("{byte:02X}")).collect();
        let read = EndEntityCert::try_from(first).map_err(|error| failed(certificate, &error))?;
        let name = read.valid_dns_names().next().map(str::to_owned);
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private));
        let unfit = |error| failed(key, &format!("it does not match the certificate: {error}"));
        let mut config = config.map_err(unfit)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), fingerprint: digits.join(":"), name })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn our_own_certificate_stays_and_its_key_is_nobody_elses() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("tls");
        let first = Tls::own(&place, "192.168.1.7").expect("made");
        let again = Tls::own(&place, "192.168.1.7").expect("read");
        assert_eq!(first.fingerprint(), again.fingerprint(), "people have compared it");
        assert_eq!((first.fingerprint().len(), first.is_own(), first.name()), (95, true, Some("localhost")));
        let file = place.join("192.168.1.7.pem");
        assert_eq!(fs::metadata(&file).expect("there").mode() & 0o777, 0o600);
        assert_ne!(Tls::own(&place, "fe80::1").expect("made").fingerprint(), first.fingerprint());
        // A certificate that does not match the key is rejected, and a file that is not PEM is named.
        let other = place.join("fe80--1.pem");
        let key = fs::read_to_string(&other).expect("there");
        let key = &key[key.find("-----BEGIN PRIVATE").expect("a key")..];
        fs::write(folder.path().join("key.pem"), key).expect("written");
        let wrong = Tls::given(&file, &folder.path().join("key.pem")).expect_err("another key");
        assert!(wrong.contains("key.pem") && wrong.contains("does not match"), "{wrong}");
        fs::write(folder.path().join("key.pem"), "no key").expect("written");
        assert!(
            Tls::given(&folder.path().join("key.pem"), &file).expect_err("no PEM").contains("no certificate")
        );
        assert!(Tls::given(&folder.path().join("gone.pem"), &file).expect_err("gone").contains("gone.pem"));
    }

    #[test]
    fn a_certificate_that_is_renewed_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let tls = Tls::own(folder.path(), "cup.example").expect("made");
        let config = || Arc::as_ptr(&tls.config.lock().expect("not poisoned").0);
        let before = config();
        tls.refresh();
        assert_eq!(config(), before);
        let later = SystemTime::now() + Duration::from_secs(60);
        let file = folder.path().join("cup.example.pem");
        fs::write(&file, "half").expect("written");
        fs::File::options().append(true).open(&file).expect("there").set_modified(later).expect("ours");
        tls.refresh();
        assert_eq!(config(), before, "what was read before stays");
        fs::write(&file, making::made("cup.example").expect("made")).expect("written");
        tls.refresh();
        assert_ne!(config(), before);
    }
}
