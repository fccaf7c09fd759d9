//! A contest whose certificate nobody vouches for, but whose fingerprint is known: only that certificate is accepted.

use std::fmt;
use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use agon_store::Sha;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme,
    StreamOwned,
};
use serde::{Deserialize, Serialize};
use ureq::Agent;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, TcpConnector, Transport,
    TransportAdapter,
};

use crate::common::online::Address;
use crate::common::{ErrorCode, Failure};

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
    /// An agent that only the owner of the certificate can answer. Names, dates and what the certificate may be used for do not matter: it is
    /// this one or it is not, and `openssl req -x509` makes one that says it is an authority's. Which certificate is there is looked at
    /// first, on a connection that asks for nothing else.
    ///
    /// # Errors
    /// When another certificate is there, or nobody answers.
    pub fn agent(&self, config: Config, address: &Address, patience: Duration) -> Result<Agent, Failure> {
        self.look(address, patience).map_err(|error| match error {
            Trouble::Other(found) => Failure::usage(format!(
                "{address} shows another certificate, with the fingerprint {found}: the contest has a new one, or somebody else \
                 is answering. Ask the organiser which it is; nothing was sent"
            )),
            Trouble::Away(why) => ErrorCode::Network.of(format!("{address} cannot be reached: {why}")),
        })?;
        let tls = tls(Only { accepted: Some(*self), provider: Arc::new(ring::default_provider()) });
        let tls = tls.map_err(|error| Failure::own(format!("{address}: {error}")))?;
        let connector = ().chain(TcpConnector::default()).chain(OwnTls(tls));
        Ok(Agent::with_parts(config, connector, DefaultResolver::default()))
    }

    /// Looks whether the certificate is there.
    fn look(&self, address: &Address, patience: Duration) -> Result<(), Trouble> {
        let uri: Uri = address.0.parse().map_err(|_| Trouble::away("it is not an address"))?;
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host.clone()).map_err(Trouble::away)?;
        let mut found =
            (host.as_str(), uri.port_u16().unwrap_or(443)).to_socket_addrs().map_err(Trouble::away)?;
        let socket = found.next().ok_or_else(|| Trouble::away("no machine has this name"))?;
        let mut stream = TcpStream::connect_timeout(&socket, patience).map_err(Trouble::away)?;
        stream.set_read_timeout(Some(patience)).map_err(Trouble::away)?;
        stream.set_write_timeout(Some(patience)).map_err(Trouble::away)?;
        let any = Only { accepted: None, provider: Arc::new(ring::default_provider()) };
        let mut line =
            ClientConnection::new(tls(any).map_err(Trouble::away)?, name).map_err(Trouble::away)?;
        while line.is_handshaking() {
            line.complete_io(&mut stream).map_err(Trouble::away)?;
        }
        let first = line.peer_certificates().and_then(|chain| chain.first());
        match Sha::of(first.ok_or_else(|| Trouble::away("it shows no certificate"))?) {
            sha if sha == self.0 => Ok(()),
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

fn tls(only: Only) -> Result<Arc<ClientConfig>, Error> {
    let config = ClientConfig::builder_with_provider(only.provider.clone())
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(only))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Takes one certificate alone; without a fingerprint any, of which nothing but the fingerprint is wanted.
#[derive(Debug)]
struct Only {
    accepted: Option<Fingerprint>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Only {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.accepted.is_none_or(|accepted| accepted.0 == Sha::of(certificate)) {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Encrypts connections by settings of our own, which the library has no way to be given.
#[derive(Debug)]
struct OwnTls(Arc<ClientConfig>);

impl<In: Transport> Connector<In> for OwnTls {
    type Out = OwnLine;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<OwnLine>, ureq::Error> {
        let Some(below) = chained else { return Err(ureq::Error::ConnectionFailed) };
        // Nothing ever leaves unencrypted.
        if !details.needs_tls() {
            return Err(ureq::Error::RequireHttpsOnly(details.uri.to_string()));
        }
        let host = details.uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned()).map_err(|_| ureq::Error::HostNotFound)?;
        let mut conn = ClientConnection::new(self.0.clone(), name)?;
        let mut sock = TransportAdapter::new(below.boxed(), details.current_time.clone());
        sock.set_timeout(details.timeout);
        conn.complete_io(&mut sock)?;
        let (input, output) = (details.config.input_buffer_size(), details.config.output_buffer_size());
        let buffers = LazyBuffers::new(input, output);
        Ok(Some(OwnLine { buffers, stream: StreamOwned { conn, sock } }))
    }
}

/// A connection that is encrypted by [`OwnTls`].
struct OwnLine {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl Transport for OwnLine {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        Ok(self.stream.write_all(&self.buffers.output()[..amount])?)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let amount = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for OwnLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnLine").finish_non_exhaustive()
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
