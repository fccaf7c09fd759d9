//! People and teams.

use std::fmt;

use agon_api::words;
use serde::{Deserialize, Serialize};

use super::{Time, VersionId};

id! {
    AccountId;
    /// An entrant of a contest: a team of one or more people.
    EntrantId;
    /// A secret of an account.
    LoginId;
}

words! {
    /// What a secret of an account is for.
    LoginKind {
        /// A browser that is signed in.
        Session = "session",
        Token = "token",
    }
}

words! {
    /// What a one-time link does.
    LinkKind {
        /// Makes an account an organiser.
        Organiser = "organiser",
        /// Sets a new password for an account.
        Password = "password",
        /// The same, sent to the account's mail address.
        Mailed = "mailed",
        /// Confirms the mail address of an account.
        Address = "address",
    }
}

/// A person's account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
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
    /// Its mail address, which only its owner and organisers may see.
    pub mail: Option<String>,
    /// When its owner confirmed that address.
    pub confirmed: Option<Time>,
}

/// The second factor of an account.
#[derive(Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// Its secret, in base64.
    pub secret: String,
    /// Since when sign-in asks for a code; none while its owner has not shown one.
    pub on: Option<Time>,
    /// The 30 seconds of the last code that was accepted.
    pub step: i64,
}

/// A secret of an account, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    pub id: LoginId,
    /// The account it belongs to.
    pub account: AccountId,
    pub kind: LoginKind,
    /// The name its owner gave it.
    pub name: String,
    /// When it was made.
    pub made: Time,
    /// When it was last used, accurate to some minutes.
    pub seen: Time,
    /// When it expires at the latest.
    pub ends: Time,
}

/// A team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    pub id: EntrantId,
    pub name: String,
    /// Whether it is one of our own bots.
    pub boss: bool,
    /// The code by which others join.
    pub code: Option<String>,
    /// When it was made.
    pub made: Time,
    /// When its last member was deleted.
    pub withdrawn: Option<Time>,
    /// Its present members, in order of joining.
    pub members: Vec<(AccountId, String)>,
    /// The version that stands for it.
    pub live: Option<VersionId>,
}
