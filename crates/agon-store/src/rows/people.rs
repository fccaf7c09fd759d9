//! People and teams.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Time, VersionId};
use crate::StoreError;

id! {
    /// An account.
    AccountId;
    /// Who plays in a contest: a team, of one or of several.
    EntrantId;
    /// A secret of an account.
    LoginId;
}

words! {
    /// What a secret of an account is for.
    LoginKind {
        /// A browser that is signed in.
        Session = "session",
        /// A program.
        Token = "token",
    }
}

words! {
    /// What a link that is good once does.
    LinkKind {
        /// Makes an account an organiser.
        Organiser = "organiser",
        /// Sets a new password for an account.
        Password = "password",
    }
}

/// Somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its number.
    pub id: AccountId,
    /// Its name; `withdrawn N` after deletion.
    pub name: String,
    /// The hash of the password; none when nobody can sign in.
    pub password: Option<String>,
    /// Whether it runs the contest.
    pub organiser: bool,
    /// When it was made.
    pub made: Time,
    /// When it was deleted.
    pub withdrawn: Option<Time>,
}

/// A secret of an account, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// Its number.
    pub id: LoginId,
    /// Whose it is.
    pub account: AccountId,
    /// What it is for.
    pub kind: LoginKind,
    /// What its owner calls it.
    pub name: String,
    /// When it was made.
    pub made: Time,
    /// When it was used last, to within some minutes.
    pub seen: Time,
    /// It is over then at the latest.
    pub ends: Time,
}

/// A team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    /// Its number.
    pub id: EntrantId,
    /// Its name.
    pub name: String,
    /// Whether it is a bot of ours.
    pub boss: bool,
    /// With it others join.
    pub code: Option<String>,
    /// When it was made.
    pub made: Time,
    /// When its last member was deleted.
    pub withdrawn: Option<Time>,
    /// Who plays for it now, the first first.
    pub members: Vec<(AccountId, String)>,
    /// The version that stands for it.
    pub live: Option<VersionId>,
}
