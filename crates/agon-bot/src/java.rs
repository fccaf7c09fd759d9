//! Which class of a Java source file runs.

/// What matters about the classes in a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// The class to run, with its package: `Player` if it has a `main`, as on CodinGame, else the public class,
    /// else the first with a `main`.
    pub main: Option<String>,
    /// The public class; the compiler wants the file to have its name.
    pub public: Option<String>,
}

/// Finds the top-level classes of a source file.
pub fn classes(text: &str) -> Classes {
    let (mut depth, mut package, mut public) = (0_usize, String::new(), false);
    // Name, whether it is public, whether it has a `main`.
    let mut found: Vec<(String, bool, bool)> = Vec::new();
    let words = words(text);
    for (index, word) in words.iter().enumerate() {
        let next = || words.get(index + 1).map(String::as_str).unwrap_or_default();
        match (word.as_str(), depth) {
            ("{", _) => depth += 1,
            ("}", _) => depth = depth.saturating_sub(1),
            ("package", 0) => {
                let parts = words[index + 1..].iter().take_while(|word| *word != ";");
                package = parts.cloned().collect();
            }
            ("public", 0) => public = true,
            ("class" | "interface" | "enum" | "record", 0) => {
                found.push((next().to_owned(), std::mem::take(&mut public), false));
            }
            ("main", 1) if next() == "(" => {
                if let Some(last) = found.last_mut() {
                    last.2 = true;
                }
            }
            _ => {}
        }
    }
    let runs = || found.iter().filter(|class| class.2);
    let main = runs()
        .find(|class| class.0 == "Player")
        .or_else(|| runs().find(|class| class.1))
        .or_else(|| runs().next())
        .map(|class| if package.is_empty() { class.0.clone() } else { format!("{package}.{}", class.0) });
    let public = found.iter().find(|class| class.1).map(|class| class.0.clone());
    Classes { main, public }
}

/// The words and signs of a source file, without comments and string literals.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            inside.find("*/").map_or(rest.len(), |end| end + 4)
        } else if let Some(inside) = rest.strip_prefix("\"\"\"") {
            inside.find("\"\"\"").map_or(rest.len(), |end| end + 6)
        } else if first == '"' || first == '\'' {
            quoted(rest, first)
        } else if first.is_alphanumeric() || first == '_' || first == '$' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
            let end = end.unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            end
        } else {
            if !first.is_whitespace() {
                words.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    words
}

/// The length of the quoted text at the start.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return index,
            c if c == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_that_runs_is_found() {
        let found = |text: &str| {
            let Classes { main, public } = classes(text);
            (main.unwrap_or_default(), public.unwrap_or_default())
        };
        let pair = |main: &str, public: &str| (main.to_owned(), public.to_owned());
        let main = "public static void main(String[] a) { if (true) { say(\"class X {\"); } }";
        assert_eq!(found(&format!("class Player {{ {main} }}")), pair("Player", ""));
        assert_eq!(found(&format!("class A {{}} class B {{ {main} }}")), pair("B", ""));
        assert_eq!(found(&format!("class A {{ {main} }} class Player {{ {main} }}")), pair("Player", ""));
        assert_eq!(
            found(&format!("package a.b;\n/* class C {{ */ // {{\npublic final class D {{ {main} }}")),
            pair("a.b.D", "D")
        );
        assert_eq!(
            found(&format!("enum E {{ X; void main() {{}} }} class F {{ char c = '\"'; {main} }}")),
            pair("E", "")
        );
        assert_eq!(found("int x = '\\'; \"\"\" open"), pair("", ""));
        assert_eq!(found(""), pair("", ""));
    }
}
