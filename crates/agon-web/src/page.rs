//! A match as one page that needs nothing else: the app, and all its steps inside it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write};

use agon_replay::Replay;
use agon_view::{Privacy, Unshowable, View};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::app;

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

/// Unpacks the app and starts it: text in base64, packed with gzip, becomes a script that bears the page's number.
const STARTER: &str = r#"
const number = document.currentScript.nonce
const unpack = async (id) => {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (sign) => sign.charCodeAt(0))
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text()
}
const add = async (name, id) => {
  const made = document.createElement(name)
  made.nonce = number
  made.textContent = await unpack(id)
  document.head.append(made)
}
add('style', 'style').then(() => add('script', 'app'))
"#;

/// Writes a replay as a page that needs nothing else. Nothing in it that came from bots stands as text
/// in the markup: the match is packed and in base64, and the title is escaped.
///
/// # Errors
/// When the replay cannot be computed again, or the page cannot be written.
pub fn write(replay: Replay, privacy: Privacy, to: &mut impl Write) -> Result<(), PageError> {
    let packed = Packed::new(replay, privacy)?;
    let (style, script) =
        (STANDARD.encode(app::PACKED_STYLE.bytes()), STANDARD.encode(app::PACKED_SCRIPT.bytes()));
    let nonce = packed.nonce();
    packed.write(
        to,
        &format!("script-src 'nonce-{nonce}'; style-src 'unsafe-inline'"),
        "",
        &format!(
            "<script type=\"application/gzip\" id=\"style\">{style}</script>\n\
             <script type=\"application/gzip\" id=\"app\">{script}</script>\n\
             <script nonce=\"{nonce}\">{STARTER}</script>"
        ),
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
    let packed = Packed::new(replay, privacy)?;
    // A page opened as a file has no origin that `'self'` could mean; the app is named instead.
    packed.write(
        to,
        "script-src 'self' file:; style-src 'self' file: 'unsafe-inline'",
        &format!("<link rel=\"stylesheet\" href=\"{up}/app.css\">"),
        &format!("<script src=\"{up}/app.js\"></script>"),
    )
}

/// A match, ready to lie in a page.
struct Packed {
    title: String,
    /// The head and all lines.
    lines: String,
}

impl Packed {
    fn new(replay: Replay, privacy: Privacy) -> Result<Self, PageError> {
        if !app::is_built() {
            return Err(PageError::NoApp);
        }
        let labels: Vec<&str> = replay.header.seats.iter().map(|seat| seat.label.as_str()).collect();
        let title = app::escape(&format!("{} · {}", labels.join(" vs "), replay.header.game));
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        let mut view = View::open(replay, privacy)?;
        let mut text = serde_json::to_vec(view.head()).map_err(io::Error::from)?;
        for step in 1..=view.steps() {
            text.push(b'\n');
            serde_json::to_writer(&mut text, &view.line(step)).map_err(io::Error::from)?;
            packer.write_all(&text)?;
            text.clear();
        }
        packer.write_all(&text)?;
        Ok(Self { title, lines: STANDARD.encode(packer.finish()?) })
    }

    /// A number for the page's own script. The same replay gives the same page; nobody who writes into a
    /// replay knows the number beforehand.
    fn nonce(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.lines.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    fn write(&self, to: &mut impl Write, policy: &str, style: &str, script: &str) -> Result<(), PageError> {
        let Self { title, lines } = self;
        write!(
            to,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; {policy}; \
             img-src data: blob:; base-uri 'none'; form-action 'none'\">\n\
             <title>{title}</title>\n{style}\n</head>\n<body>\n\
             <noscript>This page needs JavaScript.</noscript>\n\
             <script type=\"application/gzip\" id=\"match\">{lines}</script>\n{script}\n</body>\n</html>\n",
        )?;
        Ok(())
    }
}
