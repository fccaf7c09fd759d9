//! `agon docs --llms`: the guide, or all that a bot of one game needs, as one text with an index, for a program that reads.

use agon_bot::advised::NextCommand;
use agon_game::{GameInfo, Starter, Transport};

use crate::author::agents;
use crate::common::Failure;
use crate::common::screen::Screen;
use crate::workshop::book::{self, Page};
use crate::workshop::library;

/// Pages that whoever writes a bot reads besides those of the game.
const OF_BOTS: [&str; 4] = ["bots", "debugging", "better", "faults"];
/// Most characters of what the index says of a part.
const LONGEST: usize = 140;

/// One part of a text.
struct Part {
    name: &'static str,
    text: String,
}

/// The whole guide, and its title.
pub(super) fn guide(pages: &[Page]) -> (&'static str, String) {
    let title = "The guide to agon";
    let about = "agon plays bot-programming contests on your own machine. To write a bot, `agon docs --llms GAME` is shorter and \
        suffices.";
    (title, joined(title, about, pages.iter().map(part).collect()))
}

/// All that a bot of one game needs, and its title.
pub(super) fn of_game(pages: &[Page], game: &'static GameInfo) -> Result<(&'static str, String), Failure> {
    let rules = format!("{}-rules", game.name);
    let page = |name: &str| pages.iter().find(|page| page.name == name).map(part);
    let mut parts = vec![begin(game)];
    let own = [page(game.name), page(&rules), Some(listed(game)?)];
    parts.extend(own.into_iter().flatten());
    parts.extend((game.transport == Transport::Script).then(|| page("scripts")).flatten());
    parts.extend(OF_BOTS.iter().filter_map(|name| page(name)));
    let about = format!("All that a bot for {} needs; `agon docs --llms` is the whole guide.", game.title);
    Ok((game.title, joined(game.title, &about, parts)))
}

/// A page without its marks for programs, which stand on lines of their own.
fn part(page: &Page) -> Part {
    let mut text = String::with_capacity(page.text.len());
    let mut fenced = false;
    for line in book::whole(page.text).lines() {
        fenced ^= line.starts_with("```");
        if fenced || !line.starts_with("<!--") {
            text.push_str(line);
            text.push('\n');
        }
    }
    Part { name: page.name, text }
}

/// How to begin: the languages, and what the folder of a bot says to programs.
fn begin(game: &'static GameInfo) -> Part {
    let first = game.starters.first();
    let languages: Vec<&str> = game.starters.iter().map(|starter| starter.language.name()).collect();
    let mut text = format!(
        "# Where to begin\n\n`{}` makes a bot that plays, is tested and can be changed, in a new folder. Languages: {}. \
         A bot may also be any other program that keeps to the protocol.\n",
        NextCommand::New.about([game.name, "LANGUAGE"]),
        languages.join(", ")
    );
    if let Some(starter) = first {
        text += &format!(
            "\nThe folder holds {}, which says this (here for {}):\n\n{}",
            agents::FILE,
            starter.language.title(),
            quoted(game, starter)
        );
    }
    Part { name: "begin", text }
}

/// The file of a starter for programs, one level below this text's headings.
fn quoted(game: &GameInfo, starter: &Starter) -> String {
    let text = agents::text(game, starter);
    text.lines().map(|line| format!("{}{line}\n", if line.starts_with('#') { "#" } else { "" })).collect()
}

/// What `agon games GAME` lists.
fn listed(game: &GameInfo) -> Result<Part, Failure> {
    let mut list = Vec::new();
    library::describe(&mut list, Screen::PLAIN, game)?;
    let list = String::from_utf8_lossy(&list);
    Ok(Part {
        name: "built-in",
        text: format!(
            "# Presets, built-in bots and maps\n\nWhat `agon games {}` lists.\n\n```text\n{list}```\n",
            game.name
        ),
    })
}

/// The parts below one another, after an index that says of each what it is about and how long it is.
fn joined(title: &str, about: &str, parts: Vec<Part>) -> String {
    let bytes: usize = parts.iter().map(|part| part.text.len()).sum();
    let mut text = format!(
        "# {title}\n\n{about}\n\n{} parts, {} kB. Each part follows a line `<!-- NAME -->`; a link to NAME.md is to the part NAME, or to \
         the page that `agon docs NAME` prints.\n\n",
        parts.len(),
        kilobytes(bytes)
    );
    for part in &parts {
        text += &format!("- {} ({} kB): {}\n", part.name, kilobytes(part.text.len()), answers(&part.text));
    }
    for part in parts {
        text += &format!("\n<!-- {} -->\n\n{}", part.name, part.text);
    }
    text
}

fn kilobytes(bytes: usize) -> usize {
    bytes.div_ceil(1000)
}

/// What a part is about: its heading, and its first sentence.
fn answers(text: &str) -> String {
    let heading =
        text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).trim_end_matches('?');
    let is_prose = |line: &&str| line.starts_with(|sign: char| sign.is_alphanumeric() || "`[".contains(sign));
    let lines = text.lines().skip(1).skip_while(|line| !is_prose(line)).take_while(|line| !line.is_empty());
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    // Of a link only its words.
    let mut words = String::new();
    for (index, piece) in paragraph.split("](").enumerate() {
        words += if index == 0 { piece } else { piece.split_once(')').map_or("", |(_, rest)| rest) };
    }
    let words = words.replace('[', "");
    let sentence = words.split_inclusive(". ").next().unwrap_or_default().trim_end_matches([' ', '.', ':']);
    let room = LONGEST.saturating_sub(heading.chars().count());
    let told: String = sentence.chars().take(room).collect();
    match told.len() < sentence.len() {
        true => format!("{heading}. {}…", told.rsplit_once(' ').map_or("", |(words, _)| words)),
        false => format!("{heading}. {told}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The index of a text: each part's name, and its size in kB.
    fn index(text: &str) -> Vec<(String, usize)> {
        let entry = |line: &str| {
            let (name, rest) = line.strip_prefix("- ")?.split_once(" (")?;
            Some((name.to_owned(), rest.split_once(" kB): ")?.0.parse().ok()?))
        };
        text.lines().take_while(|line| !line.starts_with("<!--")).filter_map(entry).collect()
    }

    /// The part of this name.
    fn found<'a>(text: &'a str, name: &str) -> &'a str {
        let (_, part) = text.split_once(&format!("\n<!-- {name} -->\n\n")).expect("the part is there");
        part.split("\n<!-- ").next().expect("its text")
    }

    #[test]
    fn the_guide_is_one_text_and_its_index_says_what_is_in_it() {
        let pages = book::pages();
        let (_, text) = guide(&pages);
        assert_eq!(guide(&pages).1, text, "it is the same each time");
        let index = index(&text);
        let names: Vec<&str> = index.iter().map(|entry| entry.0.as_str()).collect();
        assert_eq!(names, pages.iter().map(|page| page.name).collect::<Vec<_>>(), "in the order of the book");
        for (name, size) in &index {
            let part = found(&text, name);
            assert!(part.starts_with("# ") && kilobytes(part.len()) == *size, "{name}: {} bytes", part.len());
        }
        let first = text.lines().find(|line| line.starts_with("- first-match ")).expect("its line");
        assert_eq!(first, "- first-match (4 kB): Your first match. Two commands give you a bot that plays.");
        assert!(text.lines().take(60).all(|line| line.chars().count() < 240), "the index is short");
        assert!(found(&text, "terminal-rules").contains("**TM-ARENA-1**"), "rulebooks are in it");
    }

    #[test]
    fn what_a_bot_of_a_game_needs_is_in_one_text() {
        for game in agon_games::all().iter().map(|game| game.info()) {
            let (_, text) = of_game(&book::pages(), game).expect("a text");
            let sizes: usize = index(&text).iter().map(|entry| entry.1).sum();
            assert!(
                text.len() < 120_000 && text.len() <= sizes * 1000 + 4_000,
                "{}: {}",
                game.name,
                text.len()
            );
            for rule in agon_rulebook::rules(game.rulebook) {
                assert!(text.contains(&format!("**{}**", rule.id)) || text.contains(&rule.id), "{}", rule.id);
            }
            let begin = found(&text, "begin");
            for starter in game.starters {
                assert!(begin.contains(starter.language.name()), "{}: {begin}", game.name);
            }
            assert!(begin.contains("agon gauntlet -n 200") && begin.contains("agon why agon-series/LAST"));
            for bot in game.builtins {
                assert!(found(&text, "built-in").contains(&format!("builtin:{}", bot.name)), "{}", bot.name);
            }
            assert!(found(&text, game.name).contains("## The conversation"), "{}: its protocol", game.name);
            assert!(!found(&text, game.name).contains("<!-- wire"), "marks for programs are left out");
            assert_eq!(
                text.contains("<!-- scripts -->"),
                game.transport == Transport::Script,
                "{}",
                game.name
            );
        }
    }
}
