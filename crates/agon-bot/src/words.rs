//! Command lines of bots: split as a shell would, but run without one.

use std::path::Path;

/// Words that only a shell understands.
const SIGNS: &[&str] = &["&&", "||", "|", ";", "&", ">", ">>", "<", "2>", "2>&1", "&>", "|&"];

/// The words of a command line.
///
/// # Errors
/// A sentence without the line itself: a quote is not closed, there is no word, or something would only
/// work in a shell.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let words = shlex::split(line).ok_or("a quote is not closed")?;
    let Some(first) = words.first() else { return Err("the command is empty".to_owned()) };
    // Unless the command calls a shell with them.
    for word in &words {
        let sign = SIGNS.iter().find(|sign| **sign == word).copied();
        if let Some(sign) = sign.or_else(|| word.ends_with(';').then_some(";")) {
            return Err(format!(
                "`{sign}` needs a shell, and commands run without one; put the line into a script and name that, or write \
                 sh -c '...'"
            ));
        }
        let variable = word.strip_prefix('$').and_then(|name| name.trim_start_matches('{').chars().next());
        if variable.is_some_and(|first| first.is_ascii_alphabetic() || first == '_') {
            return Err(format!(
                "`{word}` needs a shell, and commands run without one; write the value itself, or sh -c '...'"
            ));
        }
        if word.starts_with("~/") {
            return Err(format!("`{word}`: only a shell expands `~`; write the whole path"));
        }
    }
    let is_setting = first.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    if is_setting {
        return Err(format!(
            "`{first}` in front of a command needs a shell; write it under [env] of agon.toml, or use env {first} ..."
        ));
    }
    Ok(words)
}

/// A word as it is typed in a shell: in quotes where it needs them. What cannot be typed at all stays as it is.
pub fn typed(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |word| word.into_owned())
}

/// A path, likewise.
pub fn typed_path(path: &Path) -> String {
    typed(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_shell_is_told() {
        assert_eq!(
            split("python3 'my bot.py' -x"),
            Ok(["python3", "my bot.py", "-x"].map(str::to_owned).to_vec())
        );
        assert!(split("sh -c 'cd x && ./bot | tee log'").is_ok());
        assert!(split("awk '{ print $1 }'").is_ok());
        for (line, told) in [
            ("cd x && ./bot", "`&&` needs a shell"),
            ("./bot | tee log", "`|` needs a shell"),
            ("make; ./bot", "`;` needs a shell"),
            ("./bot > log", "`>` needs a shell"),
            ("java -cp $HOME/x Player", "`$HOME/x` needs a shell"),
            ("~/bot", "write the whole path"),
            ("LEVEL=2 ./bot", "[env]"),
            ("'", "a quote is not closed"),
            (" ", "the command is empty"),
        ] {
            let why = split(line).unwrap_err();
            assert!(why.contains(told), "{line}: {why}");
        }
    }
}
