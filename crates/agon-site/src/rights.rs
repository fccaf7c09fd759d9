//! Who may do what. Everything not allowed here is denied.

use agon_store::reads::AtWork;
use agon_store::{AccountId, EntrantId, LoginId};

/// Who is asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// Somebody who is not signed in.
    Nobody,
    /// Somebody who is signed in.
    Person(Person),
    /// A machine that plays matches.
    Worker(AtWork),
    /// A program that reads metrics.
    Meter,
}

/// Somebody who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub account: AccountId,
    pub name: String,
    /// Whether it runs the contest.
    pub organiser: bool,
    /// The team it plays for.
    pub team: Option<EntrantId>,
    /// The session or token it is known by.
    pub login: LoginId,
}

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// View what everybody may see.
    See,
    /// Sign up, in or out.
    Enter,
    /// What everybody who is signed in may do with what is their own.
    Own,
    /// View what belongs to one team only.
    Look,
    /// Act for a team.
    Act,
    /// Run the contest.
    Organise,
    /// Play its matches.
    Work,
    /// Read its metrics.
    Measure,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 8] =
        [Self::See, Self::Enter, Self::Own, Self::Look, Self::Act, Self::Organise, Self::Work, Self::Measure];
}

/// The object of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// The contest as a whole.
    Contest,
    /// A team, and what belongs to it: its versions, uploads, logs.
    Team(EntrantId),
    /// What belongs to an account: its sessions and tokens.
    Account(AccountId),
}

/// Whether an actor may do something.
pub fn may(actor: &Actor, verb: Verb, object: Object) -> bool {
    match (actor, verb, object) {
        (_, Verb::See, Object::Contest | Object::Team(_)) => true,
        (_, Verb::Enter, Object::Contest) => true,
        (Actor::Person(_), Verb::Own, Object::Contest) => true,
        (Actor::Person(person), Verb::Own, Object::Account(account)) => person.account == account,
        (Actor::Person(person), Verb::Look, Object::Team(team)) => {
            person.team == Some(team) || person.organiser
        }
        (Actor::Person(person), Verb::Act, Object::Team(team)) => person.team == Some(team),
        (Actor::Person(person), Verb::Organise, _) => person.organiser,
        (Actor::Worker(worker), Verb::Work, Object::Contest) => !worker.revoked,
        (Actor::Meter, Verb::Measure, Object::Contest) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(organiser: bool, team: Option<i64>) -> Actor {
        let (account, login) = (AccountId(1), LoginId(1));
        Actor::Person(Person { account, name: "Ann".into(), organiser, team: team.map(EntrantId), login })
    }

    fn worker(revoked: bool) -> Actor {
        let (id, name, seen) = (agon_store::WorkerId(1), "hall 3".to_owned(), agon_store::Time(0));
        Actor::Worker(AtWork { id, name, run: None, seen, revoked, paused: false })
    }

    /// The whole table: for each verb and object who may, in the order nobody, other, owner, organiser, worker, revoked
    /// worker, meter.
    #[test]
    fn the_table_of_rights_is_this_and_nothing_else() {
        let actors = [
            Actor::Nobody,
            person(false, Some(8)),
            person(false, Some(7)),
            person(true, None),
            worker(false),
            worker(true),
            Actor::Meter,
        ];
        let objects = [
            Object::Contest,
            Object::Team(EntrantId(7)),
            Object::Account(AccountId(1)),
            Object::Account(AccountId(2)),
        ];
        let said = |verb| {
            let line = |object| {
                actors.iter().map(|actor| if may(actor, verb, object) { 'y' } else { '-' }).collect()
            };
            objects.map(line) as [String; 4]
        };
        assert_eq!(said(Verb::See), ["yyyyyyy", "yyyyyyy", "-------", "-------"]);
        assert_eq!(said(Verb::Enter), ["yyyyyyy", "-------", "-------", "-------"]);
        assert_eq!(said(Verb::Own), ["-yyy---", "-------", "-yyy---", "-------"]);
        assert_eq!(said(Verb::Look), ["-------", "--yy---", "-------", "-------"]);
        assert_eq!(said(Verb::Act), ["-------", "--y----", "-------", "-------"]);
        assert_eq!(said(Verb::Organise), ["---y---", "---y---", "---y---", "---y---"]);
        assert_eq!(said(Verb::Work), ["----y--", "-------", "-------", "-------"]);
        assert_eq!(said(Verb::Measure), ["------y", "-------", "-------", "-------"]);
        assert_eq!(Verb::ALL.len(), 8);
    }
}
