//! `agon new --ci`: the file that has a build server run `agon ci`.

use std::io;
use std::path::{Path, PathBuf};

use agon_bot::rights;
use clap::ValueEnum;

use crate::common::Failure;

/// A build server.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuildServer {
    /// GitHub Actions: .github/workflows/agon.yml
    Github,
    /// GitLab CI: .gitlab-ci.yml
    Gitlab,
}

/// The lines that install agon on it.
const INSTALL: &str = include_str!("install.sh");

impl BuildServer {
    /// Where it looks for its file, below the top of the repository; and the file, with gaps for what differs.
    fn template(self) -> (&'static str, &'static str) {
        match self {
            Self::Github => (".github/workflows/agon.yml", include_str!("github.yml")),
            Self::Gitlab => (".gitlab-ci.yml", include_str!("gitlab.yml")),
        }
    }

    /// The file for a bot in this folder of the repository.
    fn text(self, folder: &str) -> String {
        // In quotes YAML takes a name for nothing else.
        let quoted = format!("'{}'", folder.replace('\'', "''"));
        let lines = self.template().1.lines().map(|line| match line.strip_suffix("@INSTALL@") {
            Some(indent) => INSTALL.lines().map(|own| format!("{indent}{own}\n")).collect(),
            None => line.replace("@FOLDER@", &quoted) + "\n",
        });
        lines.collect()
    }

    /// Writes the file for the bot in this folder, and returns where it is.
    ///
    /// # Errors
    /// When there is one already, or the folder has a name that the file cannot hold.
    pub fn write(self, bot: &Path) -> Result<PathBuf, Failure> {
        let bot =
            bot.canonicalize().map_err(|error| Failure::usage(format!("{}: {error}", bot.display())))?;
        let top = bot.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&bot);
        let folder = bot.strip_prefix(top).unwrap_or(Path::new("")).to_string_lossy();
        let folder = if folder.is_empty() { ".".into() } else { folder };
        if folder.contains(|sign: char| sign.is_control() || "$\u{fffd}".contains(sign)) {
            return Err(Failure::usage(format!(
                "{}: a build server reads such a name otherwise; rename the folder",
                bot.display()
            )));
        }
        let file = top.join(self.template().0);
        let said = |error: io::Error| Failure::own(format!("{}: {error}", file.display()));
        if file.symlink_metadata().is_ok() {
            return Err(Failure::usage(format!(
                "{} is there already and stays as it is; `agon docs ci` shows what belongs into it",
                file.display()
            )));
        }
        rights::create_public_folder(file.parent().expect("it lies in a folder")).map_err(said)?;
        rights::write_public(&file, self.text(&folder)).map_err(said)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_shows_both_files() {
        let page = include_str!("../../../../docs/ci.md");
        for server in [BuildServer::Github, BuildServer::Gitlab] {
            let block = format!("```yaml\n{}```\n", server.text("bots/mine"));
            assert!(page.contains(&block), "docs/ci.md does not show this:\n{block}");
        }
        assert!(BuildServer::Github.text("it's").contains("working-directory: 'it''s'\n"));
    }
}
