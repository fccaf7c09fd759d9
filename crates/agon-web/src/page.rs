//! A match as one page that needs nothing else: the app, and the film inside it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write};

use agon_replay::Replay;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::app;
use crate::film::{Privacy, Showing, Unshowable};

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The replay cannot be shown.
    #[error("{0}")]
    Unshowable(#[from] Unshowable),
    /// This program has no web app.
    #[error("this agon was built without its web app ({}), so it cannot write pages", app::MISSING.trim())]
    NoApp,
    /// The page cannot be written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Writes a replay as a page that needs nothing else. Nothing in it that came from bots stands as text
/// in the markup: the film is packed and in base64, and the title is escaped.
///
/// # Errors
/// When the replay cannot be computed again, or the page cannot be written.
pub fn write(replay: Replay, privacy: Privacy, to: &mut impl Write) -> Result<(), PageError> {
    let film = Packed::new(replay, privacy)?;
    // A script ends at its closing tag, wherever that stands in it; a string keeps its meaning when escaped.
    let script = app::SCRIPT.replace("</script", "<\\/script").replace("<!--", "<\\!--");
    let style = app::STYLE.replace("</style", "<\\/style");
    let nonce = film.nonce();
    film.write(
        to,
        &format!("script-src 'nonce-{nonce}'; style-src 'unsafe-inline'"),
        &format!("<style>{style}</style>"),
        &format!("<script nonce=\"{nonce}\">{script}</script>"),
    )
}

/// Writes a replay as a page of a site, which has the app in `app.js` and `app.css` in the folder `up`.
///
/// # Errors
/// When the replay cannot be computed again, or the page cannot be written.
pub fn write_linked(
    replay: Replay,
    privacy: Privacy,
    up: &str,
    to: &mut impl Write,
) -> Result<(), PageError> {
    let film = Packed::new(replay, privacy)?;
    // A page opened as a file has no origin that `'self'` could mean; the app is named instead.
    film.write(
        to,
        "script-src 'self' file:; style-src 'self' file: 'unsafe-inline'",
        &format!("<link rel=\"stylesheet\" href=\"{up}/app.css\">"),
        &format!("<script src=\"{up}/app.js\"></script>"),
    )
}

/// A film, ready to lie in a page.
struct Packed {
    title: String,
    film: String,
}

impl Packed {
    fn new(replay: Replay, privacy: Privacy) -> Result<Self, PageError> {
        if !app::is_built() {
            return Err(PageError::NoApp);
        }
        let labels: Vec<&str> = replay.header.seats.iter().map(|seat| seat.label.as_str()).collect();
        let title = app::escape(&format!("{} · {}", labels.join(" vs "), replay.header.game));
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        for line in Showing::new(replay, privacy)? {
            packer.write_all(line.as_bytes())?;
            packer.write_all(b"\n")?;
        }
        Ok(Self { title, film: STANDARD.encode(packer.finish()?) })
    }

    /// A number for the page's own script. The same replay gives the same page; nobody who writes into a
    /// replay knows the number beforehand.
    fn nonce(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.film.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    fn write(&self, to: &mut impl Write, policy: &str, style: &str, script: &str) -> Result<(), PageError> {
        let Self { title, film } = self;
        write!(
            to,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; {policy}; \
             img-src data: blob:; base-uri 'none'; form-action 'none'\">\n\
             <title>{title}</title>\n{style}\n</head>\n<body>\n\
             <noscript>This page needs JavaScript.</noscript>\n\
             <script type=\"application/gzip\" id=\"film\">{film}</script>\n{script}\n</body>\n</html>\n",
        )?;
        Ok(())
    }
}
