//! The guide as it is built into the program. Its sources are `docs/`, which is also an mdBook.

/// The files of the book.
macro_rules! book {
    ($($file:literal)+) => { &[$(($file, include_str!(concat!("../../../../docs/", $file)))),+] };
}

/// The pages, and the summary that orders them.
pub(super) const BOOK: &[(&str, &str)] = book!(
    "SUMMARY.md" "README.md" "first-match.md" "bots.md" "debugging.md" "faults.md" "viewer.md" "better.md" "series.md" "scripts.md" "statistics.md" "advantage.md" "formats.md" "ci.md" "python.md" "coming.md" "tournament.md" "contest.md" "scaling.md" "participate.md" "workers.md" "container.md" "security.md" "asvs.md"
    "games/cultist-wars.md" "games/deerhunt.md" "games/jungle-blitz.md" "games/ostibot.md" "games/terminal.md"
    "games/cultist-wars-rules.md" "games/deerhunt-rules.md" "games/jungle-blitz-rules.md" "games/ostibot-rules.md"
    "games/terminal-rules.md"
    "adding-a-game.md" "stability.md" "rooms.md" "reference.md" "json.md" "replay-format.md" "benchmarks.md"
);

/// A page in the order of the book.
pub(super) struct Page {
    /// The name to type for it: `first-match`, `cultist-wars`.
    pub name: &'static str,
    pub title: &'static str,
    /// Its depth in the table of contents.
    pub depth: usize,
    pub text: &'static str,
}

/// The pages in the order of the summary.
pub(super) fn pages() -> Vec<Page> {
    let text = |file: &str| BOOK.iter().find(|page| page.0 == file).map(|page| page.1);
    let entry = |line: &'static str| {
        let depth = line.len() - line.trim_start().len();
        let (title, rest) = line.split_once('[')?.1.split_once("](")?;
        let file = rest.split_once(')')?.0;
        let name = file.rsplit('/').next()?.strip_suffix(".md")?;
        let name = if name == "README" { "introduction" } else { name };
        Some(Page { name, title, depth: depth / 2, text: text(file)? })
    };
    let mut pages: Vec<Page> = text("SUMMARY.md").unwrap_or_default().lines().filter_map(entry).collect();
    // A game without a page in the book is described by its rulebook.
    for info in agon_games::all().iter().map(|game| game.info()) {
        if !pages.iter().any(|page| page.name == info.name) {
            pages.push(Page { name: info.name, title: info.title, depth: 1, text: info.rulebook });
        }
    }
    pages
}

/// The text of a page with its includes: rulebooks, which exist once, in the folder of their game.
pub(super) fn whole(text: &str) -> String {
    let mut whole = String::new();
    for line in text.lines() {
        let included = line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("/RULES.md}}"));
        match included.and_then(|path| path.rsplit('/').next()).and_then(agon_games::find) {
            Some(game) => whole.push_str(game.info().rulebook),
            None => whole.push_str(line),
        }
        whole.push('\n');
    }
    whole
}
