//! `agon docs`: the guide, page by page.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use agon_game::setup::nearest;
use clap::Args;

use crate::common::screen::{self, Screen};
use crate::common::{self, Done, ErrorCode, Failure, print_json};
use crate::workshop::book::{Page, pages, whole};
use crate::workshop::{json, llms, man};

/// Examples for the help.
pub const EXAMPLES: &str = "Examples:
  agon docs                     the pages there are
  agon docs first-match         a page
  agon docs cultist-wars | less
  agon docs --find 'stray print'
  agon docs --llms | head -60       the whole guide as one text begins with its index
  agon docs --llms cultist-wars     all that a bot of this game needs, as one text";

/// Options of `agon docs`.
#[derive(Args, Debug)]
pub struct DocsOptions {
    /// The page; with --llms the game
    pub page: Option<String>,
    /// Prints the whole guide as one text for a program that reads, its index first; or what a bot of a game needs
    #[arg(long, conflicts_with = "find")]
    pub llms: bool,
    /// Lists the places where a text occurs
    #[arg(long, value_name = "TEXT", conflicts_with = "page")]
    pub find: Option<String>,
    /// Prints the list of pages, or the page, as JSON
    #[arg(long, conflicts_with = "find")]
    pub json: bool,
    /// Writes the manual pages, one for each command, into a folder: for `man`
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["page", "find", "json", "llms"])]
    pub man: Option<PathBuf>,
}

/// Runs `agon docs`; `program` is what manual pages describe.
pub fn run(options: &DocsOptions, program: fn() -> clap::Command) -> Done {
    let (screen, mut out) = (screen::output(), io::stdout().lock());
    if let Some(folder) = &options.man {
        let count = man::write(program(), folder)
            .map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))?;
        writeln!(out, "{count} pages in {}", folder.display())?;
        return Ok(());
    }
    let pages = pages();
    if let Some(text) = &options.find {
        let found = find(&pages, text, screen, &mut out)?;
        return if found { Ok(()) } else { Err(Failure::Check) };
    }
    if options.llms {
        let (title, markdown) = match &options.page {
            Some(game) => llms::of_game(&pages, common::game(game)?.info())?,
            None => llms::guide(&pages),
        };
        if options.json {
            let page = json::PageName { page: "llms", title };
            return print_json(&mut out, &json::Page { page, markdown });
        }
        return Ok(out.write_all(markdown.as_bytes())?);
    }
    let Some(wanted) = &options.page else {
        if options.json {
            let list: Vec<json::PageName> =
                pages.iter().map(|page| json::PageName { page: page.name, title: page.title }).collect();
            return print_json(&mut out, &list);
        }
        writeln!(out, "agon docs PAGE\n")?;
        let width = pages.iter().map(|page| page.name.len() + 2 * page.depth).max().unwrap_or(0);
        for page in &pages {
            let name = format!("{:indent$}{}", "", page.name, indent = 2 * page.depth);
            writeln!(out, "  {name:width$}  {}", screen.dim(page.title))?;
        }
        return Ok(());
    };
    let page = pages.iter().find(|page| page.name == wanted.trim_end_matches(".md")).ok_or_else(|| {
        let hint = nearest(wanted, pages.iter().map(|page| page.name));
        let hint = hint.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        ErrorCode::NotFound.of(format!(
            "no page is called `{wanted}`{hint}\n  `agon docs` lists them, `agon docs --find TEXT` searches"
        ))
    })?;
    let text = whole(page.text);
    if options.json {
        let page = json::PageName { page: page.name, title: page.title };
        return print_json(&mut out, &json::Page { page, markdown: text });
    }
    match io::stdout().is_terminal() {
        true => show(&text, screen, &mut out)?,
        false => out.write_all(text.as_bytes())?,
    }
    Ok(())
}

/// Prints a page for people: headings stand out, and machine-readable marks are left out.
fn show(text: &str, screen: Screen, out: &mut impl io::Write) -> io::Result<()> {
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            writeln!(out, "    {line}")?;
        } else if line.starts_with('#') {
            writeln!(out, "{}", screen.strong(line.trim_start_matches('#').trim()))?;
        } else if !line.starts_with("<!--") {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Prints the lines in which `text` occurs. Returns whether there are any.
fn find(pages: &[Page], text: &str, screen: Screen, out: &mut impl io::Write) -> io::Result<bool> {
    let (wanted, mut any) = (text.to_lowercase(), false);
    for page in pages {
        for line in whole(page.text).lines().filter(|line| line.to_lowercase().contains(&wanted)) {
            writeln!(out, "{}: {}", screen.strong(page.name), line.trim())?;
            any = true;
        }
    }
    if !any {
        eprintln!("no page says `{text}`");
    }
    Ok(any)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;

    use super::*;
    use clap::CommandFactory as _;

    use crate::cli::{Cli, WIDEST, fitted};
    use crate::workshop::book::BOOK;

    fn docs() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
    }

    #[test]
    fn every_page_is_in_the_summary_and_in_the_program() {
        let pages = pages();
        assert_eq!(pages.len(), BOOK.len() - 1, "each file of the book is in SUMMARY.md once");
        let mut names: Vec<&str> = pages.iter().map(|page| page.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), pages.len(), "no two pages have the same name");
        for folder in ["", "games"] {
            for entry in fs::read_dir(docs().join(folder)).expect("a folder").flatten() {
                let name = Path::new(folder).join(entry.file_name()).display().to_string();
                let known = BOOK.iter().any(|page| page.0 == name);
                assert!(known || !name.ends_with(".md"), "docs/{name} is not in the program");
            }
        }
        for page in &pages {
            let heading = whole(page.text).lines().next().unwrap_or_default().to_owned();
            assert!(heading.starts_with("# "), "{} begins with its title, not `{heading}`", page.name);
        }
    }

    #[test]
    fn every_game_has_its_page_and_its_rules() {
        for game in agon_games::all() {
            let info = game.info();
            let find = |name: &str| pages().into_iter().find(|page| page.name == name).expect("a page");
            let rules = find(&format!("{}-rules", info.name));
            assert!(whole(rules.text).contains(info.rulebook), "{}", info.name);
            let page = find(info.name);
            for preset in info.presets {
                assert!(
                    page.text.contains(&format!("`{}`", preset.name)),
                    "{}: preset {}",
                    info.name,
                    preset.name
                );
            }
        }
    }

    #[test]
    fn links_lead_somewhere() {
        for (file, text) in BOOK {
            let folder = docs().join(file).parent().expect("a folder").to_owned();
            // Code is not prose.
            let mut fenced = false;
            for line in text.lines() {
                fenced ^= line.starts_with("```");
                for link in line.split("](").skip(1).filter(|_| !fenced) {
                    let target = link.split(')').next().expect("a part");
                    let (path, place) = target.split_once('#').unwrap_or((target, ""));
                    if path.starts_with("http") {
                        continue;
                    }
                    let found = if path.is_empty() { docs().join(file) } else { folder.join(path) };
                    assert!(found.exists(), "{file}: {target} leads nowhere");
                    let headings = whole(&fs::read_to_string(&found).unwrap_or_default());
                    let anchors = headings.lines().filter(|line| line.starts_with('#')).map(anchor);
                    assert!(
                        place.is_empty() || anchors.into_iter().any(|own| own == place),
                        "{file}: {target}"
                    );
                }
            }
        }
    }

    /// The anchor of a heading, as mdBook and code hosts name it.
    fn anchor(heading: &str) -> String {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    }

    #[test]
    fn the_reference_is_what_the_program_says() {
        let mut text = String::from(
            "# Command line\n\nMade from the program itself: what `--help` says of every command. Regenerate it with\n\
             `UPDATE_BOOK=1 cargo test -p agon the_reference`.\n",
        );
        describe(fitted(Cli::command(), WIDEST), "", &mut text);
        let file = docs().join("reference.md");
        if std::env::var_os("UPDATE_BOOK").is_some() {
            fs::write(&file, &text).expect("a writable file");
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == text,
            "docs/reference.md is out of date: UPDATE_BOOK=1 cargo test -p agon the_reference"
        );
    }

    /// Writes the help of a command and of its subcommands.
    fn describe(mut command: clap::Command, above: &str, text: &mut String) {
        let name = format!("{above} {}", command.get_name()).trim().to_owned();
        let help = command.clone().bin_name(name.as_str()).render_long_help().to_string();
        // A line of help may end in a blank; a line of the page must not.
        let help = help.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        writeln!(text, "\n## {name}\n\n```text\n{}\n```", help.trim_end()).expect("a text");
        command.build();
        let below: Vec<clap::Command> =
            command.get_subcommands().filter(|below| !below.is_hide_set()).cloned().collect();
        for command in below {
            describe(command, &name, text);
        }
    }

    #[test]
    fn rulebooks_are_included_and_marks_for_machines_are_not_shown() {
        assert!(whole("# Rules\n\n{{#include ../../games/terminal/RULES.md}}").contains("**TM-ARENA-1**"));
        let mut shown = Vec::new();
        show("# Title\n<!-- wire -->\n```text\ncode\n```\n", screen::output(), &mut shown).expect("written");
        let shown = String::from_utf8(shown).expect("text");
        assert!(shown.contains("    code\n") && !shown.contains("wire") && !shown.contains("```"), "{shown}");
    }
}
