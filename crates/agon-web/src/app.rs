//! The web app inside the program: the files that `build.rs` made from `web/`, or a page that says why they are missing; and
//! the engines for it.

use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

// `PARTS`: the parts of the app, including its first scripts; empty if it was not built.
include!(concat!(env!("OUT_DIR"), "/web/parts.rs"));
/// The app as one plain script, without what needs a server, for pages that share it; empty if it was not built.
pub const FOLDER_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/web/folder.js"));
/// Its style sheet.
pub const FOLDER_STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/web/folder.css"));
/// The app without what needs a server or engines, for a page of one match; empty if it was not built.
const SINGLE_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/web/page.js"));
/// Its style sheet.
const SINGLE_STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/web/page.css"));
/// The app of a contest's pages of puzzles; empty if it was not built.
const PUZZLE_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/web/puzzle.js"));
/// Its style sheet.
const PUZZLE_STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/web/puzzle.css"));
/// The editor, which pages load when somebody wants to write a script; empty if it was not built.
pub const EDITOR: &str = include_str!(concat!(env!("OUT_DIR"), "/web/editor.js"));
/// The page that scripts run in.
pub const BOX: &str = include_str!("box.html");
/// Why the app was not built; empty if it was.
pub const MISSING: &str = include_str!(concat!(env!("OUT_DIR"), "/web/missing.txt"));

/// The icon in the browser's tab.
pub const ICON: &str = include_str!("icon.svg");

/// The page that loads the app. It names the engines' module if there is one, so that the app knows. The small script comes
/// first (`web/src/lib/early.ts`), so that the slowest downloads are under way when the app starts.
pub static PAGE: LazyLock<String> = LazyLock::new(|| {
    let engine = match agon_module::is_built() {
        true => format!("<meta name=\"agon-engine\" content=\"/{}\">\n", agon_module::NAME),
        false => String::new(),
    };
    let named = |name: &str, ending: &str| {
        PARTS.iter().find(|part| part.name.starts_with(name) && part.name.ends_with(ending))
    };
    let (early, script, style) = (named("early-", ".js"), named("app-", ".js"), named("app-", ".css"));
    let text = script.map_or("", |part| part.text);
    let [early, script, style] = [early, script, style].map(|part| part.map_or("", |part| part.name));
    // The script's direct imports are requested together with it, and not after it.
    let needed = |part: &&Asset| part.name != early && text.contains(&format!("from\"./{}\"", part.name));
    let ahead: String = PARTS
        .iter()
        .filter(needed)
        .map(|part| format!("<link rel=\"modulepreload\" href=\"/parts/{}\">\n", part.name))
        .collect();
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Agon</title>
{engine}<script type="module" async src="/parts/{early}"></script>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/parts/{style}">
{ahead}<script type="module" src="/parts/{script}"></script>
</head>
<body><noscript>The viewer needs JavaScript.</noscript></body>
</html>
"#
    )
});

/// The engines as a script that puts them where pages opened as files find them.
pub fn engine_script() -> String {
    format!("window.agonEngine=\"{}\"\n", STANDARD.encode(agon_module::GZIP))
}

/// Whether this program contains the app.
pub fn is_built() -> bool {
    MISSING.is_empty()
}

/// Whether it contains the engines, so that pages compute matches themselves.
pub const fn has_engines() -> bool {
    agon_module::is_built()
}

/// A file of the app, packed once.
pub struct Packed(LazyLock<Vec<u8>>);

impl Packed {
    /// The packed bytes.
    pub fn bytes(&'static self) -> &'static [u8] {
        &self.0
    }
}

/// A part of the app: a script or a style sheet.
pub struct Asset {
    name: &'static str,
    text: &'static str,
    packed: OnceLock<Vec<u8>>,
}

impl Asset {
    const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text, packed: OnceLock::new() }
    }

    /// The part with this name; none if it does not exist, as for a page of another agon.
    pub fn find(name: &str) -> Option<&'static Self> {
        PARTS.iter().find(|part| part.name == name)
    }

    /// Whether it is a style sheet rather than a script.
    pub fn is_style(&self) -> bool {
        self.name.ends_with(".css")
    }

    /// The part, packed with gzip.
    pub fn bytes(&'static self) -> &'static [u8] {
        self.packed.get_or_init(|| gzip(self.text.as_bytes()))
    }
}

/// [`FOLDER_SCRIPT`], packed with gzip.
pub static PACKED_FOLDER_SCRIPT: Packed = Packed(LazyLock::new(|| gzip(FOLDER_SCRIPT.as_bytes())));
/// [`FOLDER_STYLE`], packed with gzip.
pub static PACKED_FOLDER_STYLE: Packed = Packed(LazyLock::new(|| gzip(FOLDER_STYLE.as_bytes())));

/// The script of a contest's pages of puzzles.
pub static PACKED_PUZZLE_SCRIPT: Packed = Packed(LazyLock::new(|| gzip(PUZZLE_SCRIPT.as_bytes())));
/// Its style sheet.
pub static PACKED_PUZZLE_STYLE: Packed = Packed(LazyLock::new(|| gzip(PUZZLE_STYLE.as_bytes())));

/// The script of a page of one match.
pub static PACKED_SINGLE_SCRIPT: Packed = Packed(LazyLock::new(|| gzip(SINGLE_SCRIPT.as_bytes())));
/// Its style sheet.
pub static PACKED_SINGLE_STYLE: Packed = Packed(LazyLock::new(|| gzip(SINGLE_STYLE.as_bytes())));
/// [`EDITOR`], packed with gzip.
pub static PACKED_EDITOR: Packed = Packed(LazyLock::new(|| gzip(EDITOR.as_bytes())));

/// Packs with gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    let _ = packer.write_all(bytes);
    packer.finish().unwrap_or_default()
}

/// A page with a single message, for whatever cannot be shown otherwise. `text` may be hostile.
pub fn notice(title: &str, text: &str) -> String {
    let (title, text) = (escape(title), escape(text));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n</head>\n<body style=\"font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; \
         margin: 15vh auto; padding: 0 1rem\">\n<h1>{title}</h1>\n<p>{text}</p>\n</body></html>\n"
    )
}

/// Text that is safe inside markup.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}
