//! Makes certificates.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use rcgen::{CertificateParams, DnType, KeyPair};

/// Makes a file with a certificate and its key.
pub fn make(file: &Path, name: &str) -> io::Result<()> {
    kept(file, &made(name).map_err(io::Error::other)?)
}

/// A fresh certificate with its key, for this name and for this machine itself.
pub fn made(name: &str) -> Result<String, rcgen::Error> {
    let key = KeyPair::generate()?;
    let names = [name, "localhost", "127.0.0.1"].map(str::to_owned);
    let mut about = CertificateParams::new(names)?;
    about.distinguished_name.push(DnType::CommonName, "agon");
    let certificate = about.self_signed(&key)?;
    Ok(format!("{}{}", certificate.pem(), key.serialize_pem()))
}

/// Writes the file whole or not at all, readable only by us.
fn kept(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let draft = file.with_extension("new");
    let _ = fs::remove_file(&draft);
    let mut open = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()?;
    fs::rename(&draft, file)
}
