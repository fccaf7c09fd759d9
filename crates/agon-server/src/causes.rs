//! Why a version cannot play, in words for its author: who is at fault, what happened, and what to do.

use agon_store::{Cause, Stage, Whose};
use agon_worker::{Private, Unfit};

/// The version could not be made ready. `why` is what its worker said, in parts or, from earlier programs, as a sentence.
pub fn unfit(why: &str) -> Cause {
    match serde_json::from_str::<Unfit>(why) {
        Ok(Unfit { stage, what, fix }) => Cause { whose: Whose::Yours, stage: of(stage), what, fix },
        Err(_) => Cause { whose: Whose::Yours, stage: Stage::Building, what: why.to_owned(), fix: None },
    }
}

fn of(stage: agon_worker::Stage) -> Stage {
    match stage {
        agon_worker::Stage::Unpacking => Stage::Unpacking,
        agon_worker::Stage::Building => Stage::Building,
        agon_worker::Stage::Starting => Stage::Starting,
        agon_worker::Stage::Match => Stage::Match,
    }
}

/// Its program failed in its check match: by its first fault, else by the kind of fault.
pub fn broke(told: Option<&Private>, kind: Option<&str>) -> Cause {
    let first = told.and_then(|told| told.faults.iter().find(|fault| fault.breaks));
    let what = match first {
        Some(fault) => {
            format!("{}, {}: {}", capital(&fault.turn), fault.kind, fault.what)
        }
        None => format!("It failed: {}", kind.unwrap_or("nobody knows why")),
    };
    Cause { whose: Whose::Yours, stage: Stage::Match, what, fix: first.and_then(|fault| fault.fix.clone()) }
}

/// The same of a version that has stood for its team, and failed in an image that the contest did not have then.
pub fn in_new_image(cause: Cause) -> Cause {
    let what = format!("In the image that the contest has now: {}", cause.what);
    let again = "Submit a version that runs in this image (`agon image get`, `agon play --as`).";
    let fix = cause.fix.map_or_else(|| again.to_owned(), |fix| format!("{fix} {again}"));
    Cause { what, fix: Some(fix), ..cause }
}

fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().into_iter().flat_map(char::to_uppercase).chain(signs).collect()
}

/// No check match was completed.
pub fn given_up(why: Option<&str>) -> Cause {
    let last = why.map(|why| format!(" The last one: {why}.")).unwrap_or_default();
    Cause {
        whose: Whose::Ours,
        stage: Stage::Match,
        what: format!("No check match could be completed.{last}"),
        fix: Some("Ask the organiser to look at the server, then submit it again.".to_owned()),
    }
}
