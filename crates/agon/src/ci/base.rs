//! What a bot is compared with: the bot of the commit where this branch left the base branch.

use crate::common::Failure;
use crate::common::git::git;

/// A commit to compare with.
pub struct Base {
    /// The branch or commit, as it was named.
    pub name: String,
    /// The commit where this branch left it, shortened.
    pub commit: String,
    /// The current folder within the repository, empty at its top.
    pub folder: String,
}

/// What was found.
pub enum FoundBase {
    Base(Base),
    /// There is nothing to compare with, and why.
    Nothing(String),
}

/// Variables in which build servers name the branch that a change is for: GitHub's and GitLab's.
const NAMED_BY: [&str; 2] = ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"];

/// How many digits of a commit are written.
const DIGITS: usize = 12;

/// Finds the base of the current folder's branch: as asked for, else as a build server names it, else the main branch.
///
/// # Errors
/// When a base is named that this clone does not hold, or git says that something is wrong.
pub fn find(asked: Option<&str>) -> Result<FoundBase, Failure> {
    let here = std::env::current_dir()?;
    if !here.ancestors().any(|folder| folder.join(".git").exists()) {
        return match asked {
            Some(asked) => Err(Failure::usage(format!("--base {asked}: this is not a git repository"))),
            None => Ok(FoundBase::Nothing("this is not a git repository".to_owned())),
        };
    }
    let folder = git(&["rev-parse", "--show-prefix"], None).map_err(Failure::Usage)?;
    let folder = folder.trim_end_matches('/').to_owned();
    let Ok(head) = commit("HEAD") else {
        return Ok(FoundBase::Nothing("this repository has no commit yet".to_owned()));
    };
    let Some((name, tip)) = tip(asked)? else {
        let why = "this repository has no branch main or master; --base names another";
        return Ok(FoundBase::Nothing(format!("{why}{}", shallow())));
    };
    let fork = git(&["merge-base", &head, &tip], None)
        .ok()
        .filter(|fork| !fork.is_empty())
        .ok_or_else(|| Failure::usage(format!("HEAD and {name} have no commit in common{}", shallow())))?;
    if !folder.is_empty() && git(&["cat-file", "-e", &format!("{fork}:{folder}")], None).is_err() {
        return Ok(FoundBase::Nothing(format!("the bot is new: {name} has no folder {folder}")));
    }
    let commit = fork[..DIGITS.min(fork.len())].to_owned();
    Ok(FoundBase::Base(Base { name, commit, folder }))
}

/// The branch or commit to compare with: its name, and what it points to.
fn tip(asked: Option<&str>) -> Result<Option<(String, String)>, Failure> {
    if let Some(asked) = asked {
        if asked.is_empty() || asked.starts_with('-') {
            return Err(Failure::usage(format!(
                "--base {asked}: write a branch or a commit, as in --base main"
            )));
        }
        let found = commit(asked).or_else(|_| commit(&format!("refs/remotes/origin/{asked}")));
        let found = found.map_err(|_| missing(&format!("--base {asked}"), asked))?;
        return Ok(Some((asked.to_owned(), found)));
    }
    let named =
        NAMED_BY.iter().find_map(|by| Some((by, std::env::var(by).ok().filter(|name| !name.is_empty())?)));
    if let Some((by, name)) = named {
        let found = branch(&name).ok_or_else(|| missing(by, &name))?;
        return Ok(Some((name, found)));
    }
    let head = git(&["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"], None).ok();
    let head = head.as_deref().and_then(|head| head.strip_prefix("refs/remotes/origin/"));
    let mut usual = head.into_iter().chain(["main", "master"]);
    Ok(usual.find_map(|name| Some((name.to_owned(), branch(name)?))))
}

/// What a branch points to: that of the server, else that of this clone.
fn branch(name: &str) -> Option<String> {
    ["refs/remotes/origin/", "refs/heads/"].iter().find_map(|place| commit(&format!("{place}{name}")).ok())
}

fn commit(name: &str) -> Result<String, String> {
    git(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")], None)
}

/// Nothing is called what this names.
fn missing(by: &str, name: &str) -> Failure {
    Failure::usage(format!(
        "{by} names {name}, which this clone does not hold; fetch it: git fetch origin{}",
        shallow()
    ))
}

/// What to do about a clone that holds only the last commits, as build servers make it.
fn shallow() -> &'static str {
    match git(&["rev-parse", "--is-shallow-repository"], None).as_deref() {
        Ok("true") => {
            "; this clone is shallow, so let the build server fetch all of it (GitHub: fetch-depth: 0, GitLab: GIT_DEPTH: \"0\")"
        }
        _ => "",
    }
}
