//! A match as a page: either a self-contained one, with the app and all its steps inside, or one in a folder whose pages
//! share the app and the engines, with only its replay inside.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write};

use agon_replay::{EndInfo, Replay};
use agon_view::{Privacy, Unshowable, View};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value};

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
    /// This program has no engines.
    #[error("this agon was built without the engines for pages, so it cannot write a page with them")]
    NoEngines,
    /// The page cannot be written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Unpacks the app and starts it: gzipped text in base64 becomes a script that carries the page's nonce.
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
window.agonEngine = document.getElementById('engine')?.textContent
add('style', 'style').then(() => add('script', 'app'))
"#;

/// Writes a replay as a self-contained page. Nothing that came from bots appears as text in the markup: the match is packed
/// and in base64, and the title is escaped.
///
/// # Errors
/// When the replay cannot be recomputed, or the page cannot be written.
pub fn write(replay: Replay, privacy: Privacy, to: &mut impl Write) -> Result<(), PageError> {
    let title = title(&replay)?;
    let content = inert("gzip", "match", &stream(replay, privacy)?);
    write_whole(title, content, (&app::PACKED_SINGLE_STYLE, &app::PACKED_SINGLE_SCRIPT), "", to)
}

/// The same with the engines inside, several times as large: the page then analyses the match, and plays on from any step.
///
/// # Errors
/// As [`write()`], and when this program has no engines.
pub fn write_with_engines(replay: Replay, privacy: Privacy, to: &mut impl Write) -> Result<(), PageError> {
    if !agon_module::is_built() {
        return Err(PageError::NoEngines);
    }
    let title = title(&replay)?;
    let Some(bytes) = stripped(&replay, privacy)? else { return write(replay, privacy, to) };
    View::open(replay, privacy)?;
    let place = LinkedPlace { home: None, title: None, zone: None, privacy };
    let replay = inert("octet-stream", "replay", &STANDARD.encode(bytes));
    let engine = inert("octet-stream", "engine", &STANDARD.encode(agon_module::GZIP));
    let content = format!("{}\n{replay}\n{engine}", place.told());
    let runs = " 'wasm-unsafe-eval'; worker-src blob:";
    write_whole(title, content, (&app::PACKED_FOLDER_STYLE, &app::PACKED_FOLDER_SCRIPT), runs, to)
}

/// Writes a page with the app inside. `runs` is what it may run besides that.
fn write_whole(
    title: String,
    content: String,
    (style, script): (&'static app::Packed, &'static app::Packed),
    runs: &str,
    to: &mut impl Write,
) -> Result<(), PageError> {
    let [style, script] = [style, script].map(|packed| STANDARD.encode(packed.bytes()));
    let nonce = nonce(&content);
    let page = Page {
        title,
        policy: format!("script-src 'nonce-{nonce}'{runs}; style-src 'unsafe-inline'"),
        head: String::new(),
        content,
        script: format!(
            "{}\n{}\n<script nonce=\"{nonce}\">{STARTER}</script>",
            inert("gzip", "style", &style),
            inert("gzip", "app", &script)
        ),
        home: None,
    };
    page.write(to)
}

/// The engines, shared by the pages of a folder.
const ENGINE: &str = "engine.js";

/// The files that the pages of a folder share, by name.
pub fn shared() -> Vec<(&'static str, String)> {
    let mut files =
        vec![("app.js", app::FOLDER_SCRIPT.to_owned()), ("app.css", app::FOLDER_STYLE.to_owned())];
    if agon_module::is_built() {
        files.push((ENGINE, app::engine_script()));
    }
    files
}

/// Where a page of one match belongs.
#[derive(Clone, Copy, Debug)]
pub struct LinkedPlace<'a> {
    /// The page above it: what the link to it is called, and its address from the root of the server or from the page's own folder.
    pub home: Option<(&'a str, &'a str)>,
    /// What it is called in the browser's tab; none for the names of the bots.
    pub title: Option<&'a str>,
    /// The time zone in which times are told, as `Europe/Vienna`; none for that of the reader.
    pub zone: Option<&'a str>,
    /// Whether it shows the notes that its replay holds.
    pub privacy: Privacy,
}

impl LinkedPlace<'_> {
    /// The same for the app.
    fn told(&self) -> String {
        let meta = |name: &str, content: &str| {
            format!("<meta name=\"{name}\" content=\"{}\">", app::escape(content))
        };
        let home = self.home.map(|(name, at)| meta("agon-home", at) + "\n" + &meta("agon-home-name", name));
        let title = self.title.map(|title| meta("agon-title", title));
        let zone = self.zone.map(|zone| meta("agon-zone", zone));
        let own = (self.privacy == Privacy::Private).then(|| meta("agon-own", "yes"));
        [home, title, zone, own].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

/// Writes a replay as a page of a folder that has the [`shared`] files in the folder `up`. If the folder has engines, the page
/// contains only the replay.
///
/// # Errors
/// When the replay cannot be recomputed, or the page cannot be written.
pub fn write_linked(
    replay: Replay,
    up: &str,
    place: &LinkedPlace<'_>,
    to: &mut impl Write,
) -> Result<(), PageError> {
    let title = title(&replay)?;
    let stripped = if agon_module::is_built() { stripped(&replay, place.privacy)? } else { None };
    let content = match stripped {
        Some(bytes) => {
            // A replay that cannot be recomputed is reported here, and not by the page.
            View::open(replay, place.privacy)?;
            inert("octet-stream", "replay", &STANDARD.encode(bytes))
        }
        None => inert("gzip", "match", &stream(replay, place.privacy)?),
    };
    linked(title, content, "", up, place).write(to)
}

/// Writes a page of such a folder that shows a match while it is played, and afterwards: `at` is its address on the same server, below
/// which there are its `lines` and its `replay`.
///
/// # Errors
/// When this program has no app, or the page cannot be written.
pub fn write_followed(
    at: &str,
    up: &str,
    place: &LinkedPlace<'_>,
    to: &mut impl Write,
) -> Result<(), PageError> {
    if !app::is_built() {
        return Err(PageError::NoApp);
    }
    let content = format!("<meta name=\"agon-match\" content=\"{}\">", app::escape(at));
    let title = place.title.map_or_else(|| "Agon".to_owned(), app::escape);
    linked(title, content, "; connect-src 'self'", up, place).write(to)
}

fn linked<'a>(title: String, content: String, asks: &str, up: &str, place: &LinkedPlace<'a>) -> Page<'a> {
    let engine = match agon_module::is_built() {
        true => format!("<script src=\"{up}/{ENGINE}\"></script>\n"),
        false => String::new(),
    };
    Page {
        title,
        // A page opened as a file has no origin that `'self'` could mean; the app is named instead.
        policy: format!(
            "script-src 'self' file: 'wasm-unsafe-eval'; worker-src blob:; style-src 'self' file: 'unsafe-inline'{asks}"
        ),
        head: format!("<link rel=\"stylesheet\" href=\"{up}/app.css\">\n{}", place.told()),
        content,
        script: format!("{engine}<script src=\"{up}/app.js\"></script>"),
        home: place.home,
    }
}

/// Bytes in base64 that a page contains but does not run.
fn inert(kind: &str, id: &str, text: &str) -> String {
    format!("<script type=\"application/{kind}\" id=\"{id}\">{text}</script>")
}

/// The text for the browser's tab; the first thing to fail if there is no app.
fn title(replay: &Replay) -> Result<String, PageError> {
    if !app::is_built() {
        return Err(PageError::NoApp);
    }
    let labels: Vec<&str> = replay.header.seats.iter().map(|seat| seat.label.as_str()).collect();
    Ok(app::escape(&format!("{} · {}", labels.join(" vs "), replay.header.game)))
}

/// The head and all lines of a match, packed and in base64.
fn stream(replay: Replay, privacy: Privacy) -> Result<String, PageError> {
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
    Ok(STANDARD.encode(packer.finish()?))
}

/// A nonce for the page's own script. The same replay gives the same page; nobody who writes into a replay knows it
/// beforehand.
fn nonce(stream: &str) -> String {
    let mut hasher = DefaultHasher::new();
    stream.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// A replay with what a page shows: nothing about how bots are started or how they were held, and no notes unless it shows them. None if
/// that would turn an altered replay into a valid one.
fn stripped(replay: &Replay, privacy: Privacy) -> io::Result<Option<Vec<u8>>> {
    let is_altered = |end: &EndInfo| {
        end.steps as usize != replay.steps.len() || end.chain != format!("{:016x}", replay.chain)
    };
    if replay.end.as_ref().is_some_and(is_altered) {
        return Ok(None);
    }
    let mut own = Replay { counted: BTreeMap::new(), ..replay.clone() };
    own.header.seats.iter_mut().for_each(|seat| seat.hash = None);
    if privacy == Privacy::Redacted {
        own.notes.clear();
        own.header.seats.iter_mut().for_each(|seat| seat.bot.clone_from(&seat.label));
    }
    if let Some(end) = &mut own.end {
        let shown = |fact: &str| (fact.to_owned(), end.facts[fact].clone());
        let mut facts: Map<String, Value> = ["registered", "faults", "void"].map(shown).into_iter().collect();
        for fault in facts.get_mut("faults").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(fault) = fault.as_object_mut() {
                fault.retain(|key, _| ["seat", "step", "kind", "rule", "message"].contains(&key.as_str()));
            }
        }
        end.facts = facts.into();
    }
    own.written().map(Some)
}

struct Page<'a> {
    title: String,
    policy: String,
    head: String,
    content: String,
    script: String,
    /// What the link to the page above it is called, and its address.
    home: Option<(&'a str, &'a str)>,
}

impl Page<'_> {
    fn write(&self, to: &mut impl Write) -> Result<(), PageError> {
        let Self { title, policy, head, content, script, home } = self;
        // Without one, browsers ask the server for an icon, which the policy forbids.
        let icon = STANDARD.encode(app::ICON);
        let back = home.map_or_else(String::new, |(name, at)| {
            format!(" <a href=\"{}\">{}</a>", app::escape(at), app::escape(name))
        });
        write!(
            to,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; {policy}; \
             img-src data: blob:; base-uri 'none'; form-action 'none'\">\n\
             <link rel=\"icon\" href=\"data:image/svg+xml;base64,{icon}\">\n\
             <title>{title}</title>\n{head}\n</head>\n<body>\n\
             <noscript>The board needs JavaScript.{back}</noscript>\n\
             {content}\n{script}\n</body>\n</html>\n",
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use agon_game::{Answer, Seat, Setup};
    use agon_replay::data::note;
    use agon_replay::{Header, SeatInfo, Timing, Writer};
    use agon_spec::Clock;
    use agon_view::EndWord;
    use serde_json::json;

    use super::*;

    /// A match of three steps whose bots wrote something, were started with a command, and made a fault.
    fn replay() -> Vec<u8> {
        let game = agon_games::all()[0];
        let mut session = game.open(&Setup { seats: 2, ..Setup::default() }).unwrap();
        let seats = ["one", "two"].map(|label| SeatInfo {
            bot: format!("cmd:secret-{label}"),
            label: label.to_owned(),
            hash: Some("secret hash".to_owned()),
        });
        let header = Header::new(session.as_ref(), seats.to_vec(), Clock::ORIGINAL);
        let mut writer = Writer::new(Vec::new(), &header).unwrap();
        for seat in [0, 1].map(Seat::new) {
            session.seat_builtin(seat, game.info().builtins[0].name, &[], 1).unwrap();
        }
        for _ in 0..3 {
            let seat = session.deciding().iter().next().unwrap();
            let answers = [(seat, Answer::Given { order: session.think(seat), think_ms: 0 })];
            session.play(&answers).unwrap();
            writer.note(seat, note::STDERR, "secret thoughts");
            writer.timing(seat, Timing { wall_us: 1_234, cpu_us: None });
            writer.step(&answers, session.hash()).unwrap();
        }
        let facts = json!({
            "faults": [{ "seat": 1, "step": 1, "kind": "stray", "message": "told to all", "stderr": "secret words" }],
            "times": "secret times",
            "void": "stopped by hand",
        });
        let state = format!("{:016x}", session.hash());
        writer.finish(EndInfo { steps: 0, outcome: None, state, chain: String::new(), facts }).unwrap()
    }

    #[test]
    fn a_page_of_a_folder_holds_nothing_of_one_bot_alone() {
        let whole = Replay::read(&replay()).unwrap();
        let bytes = stripped(&whole, Privacy::Redacted).unwrap().unwrap();
        let given = Replay::read(&bytes).unwrap();
        assert!(!format!("{given:?}").contains("secret"), "{given:?}");
        assert_eq!((&given.steps, &given.timing), (&whole.steps, &whole.timing));
        // What is public is shown just as on a self-contained page.
        let mut views = [whole, given].map(|replay| View::open(replay, Privacy::Redacted).unwrap());
        let told = views.each_mut().map(|view| {
            let lines: Vec<_> = (1..=3).map(|step| serde_json::to_value(view.line(step)).unwrap()).collect();
            (serde_json::to_value(view.head()).unwrap(), lines)
        });
        assert_eq!(told[0], told[1]);
        assert!(told[0].1[1].to_string().contains("told to all"));
    }

    #[test]
    fn one_that_was_altered_or_cut_stays_so() {
        let good = replay();
        let mut altered = Replay::read(&good).unwrap();
        altered.header.recipe.seed += 1;
        altered.end.as_mut().unwrap().chain = "0".repeat(16);
        assert_eq!(stripped(&altered, Privacy::Redacted).unwrap(), None);
        let cut = Replay::read(&good[..good.len() - 20]).unwrap();
        let given = Replay::read(&stripped(&cut, Privacy::Redacted).unwrap().unwrap()).unwrap();
        let view = View::open(given, Privacy::Redacted).unwrap();
        assert_eq!((view.steps(), view.head().end.as_ref().unwrap().end), (3, EndWord::Cut));
    }
}
