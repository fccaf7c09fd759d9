//! The results of a run as JUnit XML, which build servers show as tests: a suite for each step.

use std::fmt::Write as _;

use crate::ci::{CiCase, CiResult, CiStatus};

/// The file.
pub fn of(result: &CiResult) -> String {
    let seconds: f64 = result.steps.iter().map(|step| step.seconds).sum();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"agon ci\" {} time=\"{seconds:.3}\">\n",
        counts(result.steps.iter().flat_map(|step| &step.cases)),
    );
    for step in &result.steps {
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" {} time=\"{:.3}\">",
            step.step,
            counts(step.cases.iter()),
            step.seconds
        );
        for case in &step.cases {
            // A step of one part is told in its own words, the comparison in its verdict.
            let said = match step.step {
                "sprt" => result.verdict.as_str(),
                _ if step.cases.len() == 1 => &step.seen,
                _ => "",
            };
            let message = case.message.as_deref().unwrap_or_default();
            let first = if step.step == "sprt" { said } else { message.lines().next().unwrap_or(said) };
            let _ = write!(
                xml,
                "    <testcase classname=\"agon.{}\" name=\"{}\"",
                step.step,
                escaped(&case.name)
            );
            let child = match case.status {
                CiStatus::Passed if said.is_empty() && message.is_empty() => {
                    xml.push_str("/>\n");
                    continue;
                }
                CiStatus::Passed => {
                    let text = format!("{said}\n{message}");
                    format!("<system-out>{}</system-out>", escaped(text.trim()))
                }
                CiStatus::Failed => {
                    let again = case.again.as_deref().map_or_else(String::new, |again| format!("\n{again}"));
                    let text = escaped(&format!("{message}{again}"));
                    format!("<failure message=\"{}\">{text}</failure>", escaped(first))
                }
                CiStatus::Error => {
                    format!("<error message=\"{}\">{}</error>", escaped(first), escaped(message))
                }
                CiStatus::Skipped | CiStatus::Stopped => format!("<skipped message=\"{}\"/>", escaped(first)),
            };
            let _ = writeln!(xml, ">{child}</testcase>");
        }
        xml.push_str("  </testsuite>\n");
    }
    xml + "</testsuites>\n"
}

/// How many cases there are and what came of them, as attributes.
fn counts<'a>(cases: impl Iterator<Item = &'a CiCase> + Clone) -> String {
    let count = |status: &[CiStatus]| cases.clone().filter(|case| status.contains(&case.status)).count();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        cases.clone().count(),
        count(&[CiStatus::Failed]),
        count(&[CiStatus::Error]),
        count(&[CiStatus::Skipped, CiStatus::Stopped]),
    )
}

/// Text for an element or an attribute. Signs that XML has no way to write become `�`.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            // Within an attribute it would become a blank.
            '\n' => xml.push_str("&#10;"),
            '\t' => xml.push(sign),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            _ => xml.push(sign),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        assert_eq!(
            escaped("a<b> & \"c\"\n\u{1b}[1m\0\u{ffff}]]>"),
            "a&lt;b&gt; &amp; &quot;c&quot;&#10;\u{fffd}[1m\u{fffd}\u{fffd}]]&gt;"
        );
    }
}
