//! The Markdown side: rules in a rulebook, headings in spec files.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::{CodePlace, is_id};

/// A rule of a rulebook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its id: `CW-SHOOT-3`.
    pub id: String,
    /// Its text as plain words, without the id. Tables and lists that belong to it follow, one line per
    /// row.
    pub text: String,
    /// The heading it stands under.
    pub heading: String,
}

/// The rules of a rulebook, in its order.
///
/// A rule begins at a paragraph that starts with an id in bold, and ends before the next rule or
/// heading.
pub fn rules(rulebook: &str) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut heading = String::new();
    let (mut in_heading, mut in_rule) = (false, false);
    // The bold words that open a paragraph, while they are being read.
    let (mut opening, mut fresh) = (None::<String>, false);
    for event in Parser::new_ext(rulebook, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                (in_heading, in_rule) = (true, false);
                heading.clear();
            }
            Event::End(TagEnd::Heading(_)) => in_heading = false,
            Event::Start(Tag::Paragraph | Tag::Item) => {
                fresh = true;
                new_line(in_rule, &mut rules);
            }
            Event::Start(Tag::TableRow | Tag::TableHead | Tag::CodeBlock(_)) => new_line(in_rule, &mut rules),
            Event::Start(Tag::TableCell) => add(in_rule, &mut rules, " "),
            Event::Start(Tag::Strong) if fresh => opening = Some(String::new()),
            Event::End(TagEnd::Strong) => {
                if let Some(words) = opening.take() {
                    if is_id(&words) {
                        rules.push(Rule { id: words, text: String::new(), heading: heading.clone() });
                        in_rule = true;
                    } else {
                        add(in_rule, &mut rules, &words);
                    }
                }
            }
            Event::Text(text) | Event::Code(text) => {
                fresh = false;
                match &mut opening {
                    Some(words) => words.push_str(&text),
                    None if in_heading => heading.push_str(&text),
                    None => add(in_rule, &mut rules, &text),
                }
            }
            Event::SoftBreak => add(in_rule, &mut rules, " "),
            Event::HardBreak => new_line(in_rule, &mut rules),
            _ => {}
        }
    }
    for rule in &mut rules {
        rule.text = rule.text.trim().to_owned();
    }
    rules
}

fn add(in_rule: bool, rules: &mut [Rule], text: &str) {
    if let Some(rule) = rules.last_mut().filter(|_| in_rule) {
        rule.text.push_str(text);
    }
}

fn new_line(in_rule: bool, rules: &mut [Rule]) {
    if let Some(rule) = rules.last_mut().filter(|rule| in_rule && !rule.text.is_empty()) {
        rule.text.push('\n');
    }
}

/// The headings of a spec file that begin with `id`.
pub fn sections(path: &str, text: &str, id: &str) -> Vec<CodePlace> {
    let mut found = Vec::new();
    let mut heading = None::<(usize, String)>;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some((range.start, String::new())),
            Event::Text(words) | Event::Code(words) => {
                if let Some((_, title)) = &mut heading {
                    title.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some((start, title)) = heading.take() else { continue };
                if title.split_whitespace().next() == Some(id) {
                    let line = text[..start].matches('\n').count() + 1;
                    found.push(CodePlace { path: path.to_owned(), line, item: title, is_function: false });
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_goes_on_to_the_next_rule_or_heading() {
        let page = "# Game\n\n## Turns\n\nWords of no rule.\n\n**G-TURN-1** One\n`two`.\n\n- three\n- **four**\n\n\
            | a | b |\n|---|---|\n| 1 | 2 |\n\n**G-TURN-2** Five.\n\n## Else\n\n- **G-ELSE-1** six\n- **not an id** seven\n\n\
            # End\n\nNothing.\n";
        let found = rules(page);
        let all: Vec<_> = found.iter().map(|rule| (&rule.id[..], &rule.heading[..])).collect();
        assert_eq!(all, [("G-TURN-1", "Turns"), ("G-TURN-2", "Turns"), ("G-ELSE-1", "Else")]);
        assert_eq!(found[0].text, "One two.\nthree\nfour\n a b\n 1 2");
        assert_eq!(found[1].text, "Five.");
        assert_eq!(found[2].text, "six\nnot an id seven");
    }

    #[test]
    fn a_section_is_found_by_the_first_word_of_its_heading() {
        let page = "# Page\n\n## G-A-1 First\n\n```\n## G-A-1 in code\n```\n\n## About G-A-1\n\n### G-A-1 `Second`\n";
        let lines: Vec<_> =
            sections("spec/a.md", page, "G-A-1").into_iter().map(|at| (at.line, at.item)).collect();
        assert_eq!(lines, [(3, "G-A-1 First".to_owned()), (11, "G-A-1 Second".to_owned())]);
    }
}
