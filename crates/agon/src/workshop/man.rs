//! `agon docs --man FOLDER`: manual pages from the same tree of commands as the help, one for each command: `agon.1`, `agon-serve-add.1`.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use agon_bot::rights;
use clap::builder::StyledStr;
use clap::{Arg, Command};

/// Writes the pages of a command and of those below it into a folder, and returns how many there are.
///
/// # Errors
/// When one cannot be written.
pub fn write(command: Command, folder: &Path) -> io::Result<usize> {
    rights::create_public_folder(folder)?;
    let pages = pages(command, None);
    for (name, text) in &pages {
        rights::write_public(&folder.join(format!("{name}.1")), text)?;
    }
    Ok(pages.len())
}

/// The name and the text of each page; `above` is how the command before this one is called.
fn pages(mut command: Command, above: Option<&str>) -> Vec<(String, String)> {
    let called = above
        .map_or_else(|| command.get_name().to_owned(), |above| format!("{above} {}", command.get_name()));
    command.build();
    let mut command = command.bin_name(&called);
    let mut all = vec![(called.replace(' ', "-"), page(&mut command, &called, above))];
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        all.extend(pages(below.clone(), Some(&called)));
    }
    all
}

fn page(command: &mut Command, called: &str, above: Option<&str>) -> String {
    let name = called.replace(' ', "-");
    let about = plain(command.get_about());
    let mut page = format!(
        ".TH {} 1 \"\" \"agon {}\" \"Agon\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.nf\n",
        escaped(&name.to_uppercase()),
        env!("CARGO_PKG_VERSION"),
        escaped(&name),
        escaped(about.lines().next().unwrap_or_default())
    );
    let usage = command.render_usage().to_string();
    lines(
        &mut page,
        usage.trim_start_matches("Usage:").lines().map(str::trim).filter(|line| !line.is_empty()),
    );
    page += ".fi\n";
    if let Some(long) = command.get_long_about() {
        page += ".SH DESCRIPTION\n";
        text(&mut page, &plain(Some(long)));
    }
    let mut below = command.get_subcommands().filter(|below| !below.is_hide_set()).peekable();
    if below.peek().is_some() {
        page += ".SH COMMANDS\n";
    }
    for below in below {
        let page_of = escaped(&format!("{name}-{}", below.get_name()));
        let _ = write!(page, ".TP\n.BR {page_of} (1)\n");
        text(&mut page, &plain(below.get_about()));
    }
    for (title, positional) in [("ARGUMENTS", true), ("OPTIONS", false)] {
        let mut found = command
            .get_arguments()
            .filter(|arg| arg.is_positional() == positional && !arg.is_hide_set())
            .peekable();
        if found.peek().is_some() {
            let _ = writeln!(page, ".SH {title}");
        }
        for arg in found {
            let _ = writeln!(page, ".TP\n\\fB{}\\fR", escaped(&heading(arg)));
            text(&mut page, &plain(arg.get_long_help().or(arg.get_help())));
            more(&mut page, arg);
        }
    }
    if let Some(after) = command.get_after_long_help().or(command.get_after_help()) {
        page += ".SH NOTES\n";
        text(&mut page, &plain(Some(after)));
    }
    let above = above.map_or_else(|| "agon\\-docs".to_owned(), |above| escaped(&above.replace(' ', "-")));
    let _ = write!(page, ".SH SEE ALSO\n.BR {above} (1);\nthe guide is in the program:\n.B agon docs\n");
    page
}

/// An option or argument as it is typed: `-j, --jobs <N>`.
fn heading(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    short + &arg.to_string()
}

/// What may be given, and what is assumed.
fn more(page: &mut String, arg: &Arg) {
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| value.get_name().to_owned())
        .collect();
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !values.is_empty() {
        text(page, &format!("One of: {}.", values.join(", ")));
    }
    if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        text(page, &format!("Default: {}.", defaults.join(" ")));
    }
    if let Some(variable) = arg.get_env() {
        text(page, &format!("Environment: {}.", variable.to_string_lossy()));
    }
}

fn plain(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// Paragraphs are filled; lines that are indented, such as examples, stay as they are.
fn text(page: &mut String, text: &str) {
    let mut kept = false;
    for line in text.trim().lines() {
        let keep = line.starts_with(' ');
        if keep != kept {
            *page += if keep { ".nf\n" } else { ".fi\n" };
            kept = keep;
        }
        match line.trim_end() {
            "" => *page += ".sp\n",
            line => lines(page, std::iter::once(line)),
        }
    }
    *page += if kept { ".fi\n" } else { "" };
}

fn lines<'l>(page: &mut String, lines: impl Iterator<Item = &'l str>) {
    for line in lines {
        let _ = writeln!(page, "{}", escaped(line));
    }
}

/// A text that is no request: signs that mean something to the formatter stand for themselves.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use std::process::Command as Process;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_has_a_page_that_a_formatter_reads() {
        let place = tempfile::tempdir().expect("a folder");
        let count = write(Cli::command(), place.path()).expect("pages");
        let read = |name: &str| std::fs::read_to_string(place.path().join(name)).expect(name);
        let reference = include_str!("../../../../docs/reference.md");
        let commands: Vec<&str> = reference.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(count, commands.len(), "as many as the reference has");
        for command in &commands {
            let page = read(&format!("{}.1", command.replace(' ', "-")));
            assert!(page.starts_with(".TH AGON") && page.contains("\n.SH NAME\n"), "{command}");
        }
        let play = read("agon-play.1");
        assert!(play.contains("\n.TP\n\\fB\\-d, \\-\\-seed <N>\\fR\n"), "{play}");
        assert!(read("agon-serve.1").contains("\n.BR agon\\-serve\\-add (1)\n"));
        let Ok(said) = Process::new("groff")
            .args(["-man", "-Tascii", "-ww", "-P-c", "-P-bou"])
            .arg(place.path().join("agon-play.1"))
            .output()
        else {
            println!("SKIPPED: no groff to read the pages with");
            return;
        };
        let (shown, wrong) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        assert!(wrong.is_empty(), "{wrong}");
        assert!(shown.contains("-d, --seed <N>") && shown.contains("agon play cultist-wars"), "{shown}");
    }

    #[test]
    fn what_a_formatter_would_obey_is_text() {
        let mut page = String::new();
        text(&mut page, ".so /etc/passwd\n'br\n  a \\ b -c\nend");
        assert_eq!(page, "\\&.so /etc/passwd\n\\&'br\n.nf\n  a \\e b \\-c\n.fi\nend\n");
    }
}
