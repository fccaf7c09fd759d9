//! The web app inside the program: the files that `build.rs` made from `web/`, or a page that says why they are missing; and
//! the engines for it.

use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

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
/// The editor, which pages load when somebody wants to write a script; empty if it was not built.
pub const EDITOR: &str = include_str!(concat!(env!("OUT_DIR"), "/web/editor.js"));
/// The page that scripts run in.
pub const BOX: &str = include_str!("box.html");
/// Why the app was not built; empty if it was.
pub const MISSING: &str = include_str!(concat!(env!("OUT_DIR"), "/web/missing.txt"));

/// The icon in the browser's tab.
pub const ICON: &str = include_str!("icon.svg");

/// Which parts each entry of the app needs at once, as its build tool tells; empty if it was not built.
static NEEDED: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/web/manifest.json"))).unwrap_or_default()
});

/// What the head of a page holds to start an entry of the app: its style sheets and scripts, all that it needs at once, and the name of
/// the engines' module if there is one, so that the app knows. The parts are below `root`, and so is the module.
///
/// The small script comes first (`web/src/lib/early.ts`), so that the slowest downloads are under way when the app starts.
pub fn head(entry: &str, root: &str) -> String {
    let file = |name: &str| format!("{root}/{}", NEEDED[name]["file"].as_str().unwrap_or_default());
    let list = |name: &str, of: &str| NEEDED[name][of].as_array().map_or(&[][..], Vec::as_slice);
    let (mut parts, mut at) = (vec![entry], 0);
    while let Some(&name) = parts.get(at) {
        let all = list(name, "imports").iter().filter_map(Value::as_str);
        let more: Vec<&str> = all.filter(|part| !parts.contains(part)).collect();
        parts.extend(more);
        at += 1;
    }
    let mut text = match agon_module::is_built() {
        true => format!("<meta name=\"agon-engine\" content=\"{root}/parts/{}\">\n", agon_module::NAME),
        false => String::new(),
    };
    text += &format!("<script type=\"module\" async src=\"{}\"></script>\n", file(EARLY));
    // A part's own style stands below that of what it uses.
    for style in parts.iter().rev().flat_map(|name| list(name, "css")).filter_map(Value::as_str) {
        text += &format!("<link rel=\"stylesheet\" href=\"{root}/{style}\">\n");
    }
    // The script's imports are requested together with it, and not after it.
    for name in parts.iter().skip(1).filter(|name| **name != EARLY) {
        text += &format!("<link rel=\"modulepreload\" href=\"{}\">\n", file(name));
    }
    text + &format!("<script type=\"module\" src=\"{}\"></script>\n", file(entry))
}

/// The app of the viewer.
const VIEWER: &str = "src/main.ts";
/// The app that makes the page of a bot's text of an element `code` of a contest's page.
pub const CODE: &str = "src/code.ts";
const EARLY: &str = "src/lib/early.ts";

/// The page that loads the app.
pub static PAGE: LazyLock<String> = LazyLock::new(|| {
    let head = head(VIEWER, "");
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Agon</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
{head}</head>
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

/// What is below `parts` on a server, packed with gzip, with its kind: the parts of the app, and the engines' module. None if there is none
/// of this name, as for a page of another agon.
pub fn part(name: &str) -> Option<(&'static str, &'static [u8])> {
    if agon_module::is_built() && name == agon_module::NAME {
        return Some(("application/wasm", agon_module::GZIP));
    }
    let part = Asset::find(name)?;
    Some((if part.is_style() { STYLE } else { SCRIPT }, part.bytes()))
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

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
