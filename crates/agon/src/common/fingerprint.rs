//! A contest whose certificate nobody vouches for, but whose fingerprint is known: only that certificate is accepted.

use std::fmt;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use agon_store::Sha;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme};
use serde::{Deserialize, Serialize};
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::common::Failure;
use crate::common::online::Address;

/// The SHA-256 of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(Sha);

impl FromStr for Fingerprint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Browsers and tools write it with colons or blanks, in upper or lower case.
        let digits: String = text.chars().filter(|sign| !matches!(sign, ':' | ' ')).collect();
        digits.to_lowercase().parse().map(Self)
    }
}

impl Fingerprint {
    /// TLS settings under which only the owner of the certificate can answer at this address. The certificate is fetched
    /// first, on a connection that asks for nothing else.
    ///
    /// # Errors
    /// When another certificate is there, or nobody answers.
    pub fn expect(&self, address: &Address, patience: Duration) -> Result<TlsConfig, Failure> {
        let certificate = self.fetch(address, patience).map_err(|error| match error {
            Trouble::Other(found) => Failure::usage(format!(
                "{address} shows another certificate, with the fingerprint {found}: the contest has a new one, or somebody else \
                 is answering. Ask the organiser which it is; nothing was sent"
            )),
            Trouble::Away(why) => Failure::own(format!("{address} cannot be reached: {why}")),
        })?;
        let roots = RootCerts::new_with_certs(&[Certificate::from_der(&certificate).to_owned()]);
        Ok(TlsConfig::builder().root_certs(roots).build())
    }

    fn fetch(&self, address: &Address, patience: Duration) -> Result<CertificateDer<'static>, Trouble> {
        let uri: Uri = address.0.parse().map_err(|_| Trouble::away("it is not an address"))?;
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host.clone()).map_err(Trouble::away)?;
        let mut found =
            (host.as_str(), uri.port_u16().unwrap_or(443)).to_socket_addrs().map_err(Trouble::away)?;
        let socket = found.next().ok_or_else(|| Trouble::away("no machine has this name"))?;
        let mut stream = TcpStream::connect_timeout(&socket, patience).map_err(Trouble::away)?;
        stream.set_read_timeout(Some(patience)).map_err(Trouble::away)?;
        stream.set_write_timeout(Some(patience)).map_err(Trouble::away)?;
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(Trouble::away)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Alone(provider)))
            .with_no_client_auth();
        let mut line = ClientConnection::new(Arc::new(config), name).map_err(Trouble::away)?;
        while line.is_handshaking() {
            line.complete_io(&mut stream).map_err(Trouble::away)?;
        }
        let first = line.peer_certificates().and_then(|chain| chain.first());
        let certificate = first.ok_or_else(|| Trouble::away("it shows no certificate"))?.clone().into_owned();
        match Sha::of(&certificate) {
            sha if sha == self.0 => Ok(certificate),
            other => Err(Trouble::Other(other)),
        }
    }
}

/// Why the certificate at an address is not trusted, if that is the error.
pub fn untrusted(error: &ureq::Error) -> Option<String> {
    let error = match error {
        ureq::Error::Rustls(error) => Some(error),
        ureq::Error::Io(error) => error.get_ref().and_then(|inner| inner.downcast_ref()),
        _ => None,
    };
    match error {
        Some(Error::InvalidCertificate(why)) => Some(why.to_string()),
        _ => None,
    }
}

/// Why there is no certificate.
enum Trouble {
    /// There is another one.
    Other(Sha),
    /// Nobody answers, or not with TLS.
    Away(String),
}

impl Trouble {
    fn away(why: impl fmt::Display) -> Self {
        Self::Away(why.to_string())
    }
}

/// Takes any certificate: its fingerprint is checked before anything is sent.
#[derive(Debug)]
struct Alone(Arc<CryptoProvider>);

impl ServerCertVerifier for Alone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_as_browsers_and_tools_write_it() {
        let sha = Sha::of(b"certificate");
        let small = sha.to_string();
        let pairs: Vec<String> =
            small.as_bytes().chunks(2).map(|two| String::from_utf8_lossy(two).to_uppercase()).collect();
        for text in [small.clone(), pairs.join(":"), pairs.join(" ")] {
            assert_eq!(text.parse(), Ok(Fingerprint(sha)), "{text}");
        }
        assert!("AB:CD".parse::<Fingerprint>().is_err());
    }
}
