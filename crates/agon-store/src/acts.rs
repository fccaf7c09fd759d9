//! Everything that changes something. Each act is one value with all it needs, the time included, and one short transaction. It checks
//! everything before its first change; a refusal is an answer, not an error.

use std::future::Future;

use crate::backend::Conn;
use crate::{AccountId, ContestId, StoreError, Time, chain, seeds};

pub mod again;
pub mod annul;
pub mod asked;
pub mod batch;
pub mod building;
pub mod clocks;
pub mod contest;
pub mod enrol;
pub mod expire;
pub mod factor;
mod held;
pub mod lease;
pub mod mail;
pub mod people;
pub mod plan;
pub mod puzzle;
pub mod recheck;
pub mod recovery;
pub mod result;
pub mod ruling;
pub mod seal;
pub mod settings;
pub mod start;
pub mod suspend;
pub mod teams;
pub mod told;
pub mod trial;
pub mod version;
pub mod worker;

pub use again::{Compare, ForgetAgains, LetPlayOn, PauseWorker, PlayAgain};
pub use annul::{Annul, WhatAgain};
pub use asked::{ForgetDrafts, MatchRequested, OwnBot, Release, RequestMatch};
pub use batch::{JudgeAll, PostAll};
pub use building::{Building, RecordBuild};
pub use clocks::{ConfirmClock, DoubtClock, TrustClock};
pub use contest::{Drain, Drained, FoundContest, KeepBoard, Pause, Tell};
pub use enrol::{Enrol, ListedPerson, Unenrollable};
pub use expire::{Abort, Expire, Freed, Reclaim, RenewLease};
pub use factor::{DropFactor, OfferFactor, UseCode, UseFactor};
pub use lease::{Lease, LeaseGrant, Meet, StandBy};
pub use mail::{ConfirmMail, SetMail};
pub use people::{
    Begin, EndSecrets, GiveToken, Invite, MakeLink, RecordUse, SetPassword, SignUp, SignedUp, TakeLink,
    TokensLeft, TokensToEnd, Which,
};
pub use plan::{PlanBlocks, PlanTrial, Planned};
pub use puzzle::{DropPosition, DropPuzzle, KeepLesson, KeepPosition, KeepTry, PuzzleAnswer, SetPuzzle};
pub use recheck::{DropRecheck, FailRecheck, PassRecheck};
pub use recovery::{Recover, RenewCodes};
pub use result::{Judgement, PostReply, PostResult, ReportVoid, VoidReply};
pub use ruling::GiveRuling;
pub use seal::Seal;
pub use settings::{ChangeSettings, SeatBosses, SeeServer, SettingsReply, TakeInSettings};
pub use start::Start;
pub use suspend::{Lift, Suspend};
pub use teams::{JoinTeam, Joined, LeaveTeam, Left, MakeTeam, NewCode, TeamMade, Withdraw};
pub use told::CountTold;
pub use trial::{Decline, KeepVerdict};
pub use version::{Add, Added, Demote, Promote, Return};
pub use worker::{Admit, Enlist, Enlisted, RecordCall, Revoke};

/// When an act is done if others wait as well. Those of one turn share a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActTurn {
    /// Before all others: a machine stands idle meanwhile.
    First,
    /// As they come.
    Usual,
    /// What the server does by itself, much at once. A machine waits for it only where nothing is planned ahead.
    Last,
}

/// Something that changes the database.
pub trait Act: Send + Sync + Sized + 'static {
    /// The outcome.
    type Reply: Send + 'static;

    /// When acts of this kind are done if others wait as well.
    const TURN: ActTurn = ActTurn::Usual;

    /// Whether it waits while this server's clock is in doubt ([`Store::heeds`](crate::Store::heeds)). What only says who is there, or lets
    /// somebody in, does not.
    const BY_CLOCK: bool = true;

    /// Does it. May be called again when the transaction failed.
    fn run<'a>(
        &'a self,
        conn: &'a mut Conn,
    ) -> impl Future<Output = Result<Self::Reply, StoreError>> + Send + 'a;

    /// Does several acts that were submitted at once, and returns their outcomes in order. A kind of act may override it to use fewer
    /// statements.
    fn run_all<'a>(
        acts: &'a [&'a Self],
        conn: &'a mut Conn,
    ) -> impl Future<Output = Result<Vec<Self::Reply>, StoreError>> + Send + 'a {
        async move {
            let mut replies = Vec::with_capacity(acts.len());
            for act in acts {
                replies.push(act.run(conn).await?);
            }
            Ok(replies)
        }
    }
}

/// Writes an entry of the audit log about what somebody did to their own account. By number: it says nothing about a person who is
/// deleted later.
pub(crate) async fn note_own(
    conn: &mut Conn,
    contest: ContestId,
    account: AccountId,
    at: Time,
    [verb, detail]: [&str; 2],
) -> Result<(), StoreError> {
    let who = format!("account {account}");
    note(conn, contest, at, [&who, verb, &who, detail]).await
}

/// Writes an entry of the audit log, chained to the one before it.
pub(crate) async fn note(
    conn: &mut Conn,
    contest: ContestId,
    at: Time,
    words: [&str; 4],
) -> Result<(), StoreError> {
    let before: Option<Option<String>> =
        sqlx::query_scalar("SELECT sha FROM events WHERE contest_id = $1 ORDER BY id DESC LIMIT 1")
            .bind(contest.0)
            .fetch_optional(&mut *conn)
            .await?;
    let before = before.flatten().map(|sha| sha.parse().map_err(StoreError::Damaged)).transpose()?;
    let salt =
        seeds::secret().map_err(|error| StoreError::File("the system's randomness".to_owned(), error))?;
    let words_sha = chain::words(&salt, words);
    let sha = chain::link_event(before.as_ref(), contest, at, &words_sha);
    let [actor, verb, object, detail] = words;
    sqlx::query(
        "INSERT INTO events (contest_id, at_ms, actor, verb, object, detail, salt, words_sha, sha) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(contest.0)
    .bind(at.0)
    .bind(actor)
    .bind(verb)
    .bind(object)
    .bind(detail)
    .bind(&salt)
    .bind(words_sha.to_string())
    .bind(sha.to_string())
    .execute(conn)
    .await?;
    Ok(())
}
