//! `docs/faults.md` lists every fault with its sentence, and no fault that does not exist.

use agon_match::{FaultCause, FaultKind, Lateness};

fn page() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/faults.md");
    std::fs::read_to_string(page).expect("the page")
}

#[test]
fn every_fault_is_documented_with_its_sentence() {
    let page = page();
    for kind in FaultKind::ALL {
        let id = serde_json::to_value(kind).expect("a word");
        let heading = format!("(`{}`)", id.as_str().expect("a word"));
        let section = page
            .split("\n## ")
            .find(|section| section.lines().next().is_some_and(|line| line.ends_with(&heading)));
        let section = section.unwrap_or_else(|| panic!("no section for {kind:?}"));
        assert!(section.to_lowercase().starts_with(kind.word()), "{kind:?} is called `{}`", kind.word());
        for cause in FaultCause::examples().into_iter().filter(|cause| cause.kind() == kind) {
            assert!(section.contains(&format!("| {cause} |")), "{kind:?} lacks: {cause}");
        }
    }
}

#[test]
fn no_sentence_of_the_page_is_made_up() {
    let page = page();
    let known: Vec<String> = FaultCause::examples().iter().map(ToString::to_string).collect();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let sentences: Vec<&str> = rows.filter(|cell| *cell != "sentence").collect();
    assert_eq!(sentences.len(), known.len());
    for sentence in sentences {
        assert!(known.iter().any(|known| known == sentence), "no fault says: {sentence}");
    }
}

/// The compiler sends anybody who adds a cause, a reason for lateness or a kind here, and the test below
/// sends them to the page.
#[test]
fn there_is_an_example_of_every_cause() {
    let number = |cause: &FaultCause| match cause {
        FaultCause::Late { why, .. } => match why {
            Lateness::NotRead => 0,
            Lateness::NoLineEnd(_) => 1,
            Lateness::Ended(_) => 2,
            Lateness::StoppedItself => 3,
            Lateness::Silent => 4,
            Lateness::Slow => 5,
            Lateness::Unfinished(_) => 16,
            Lateness::NoAnswer(_) => 17,
            Lateness::Pondered(_) => 20,
        },
        FaultCause::Gone { .. } => 6,
        FaultCause::NotStarted(_) => 7,
        FaultCause::LongMessage(_) => 8,
        FaultCause::ManyMessages(_) => 9,
        FaultCause::ManyParts => 10,
        FaultCause::Closed(_) => 11,
        FaultCause::Deaf => 12,
        FaultCause::Greedy(..) => 13,
        FaultCause::Unasked(_) => 14,
        FaultCause::Pondered { .. } => 15,
        FaultCause::Disturbed(_) => 18,
        FaultCause::OutOfTime { .. } => 19,
    };
    let examples = FaultCause::examples();
    for wanted in 0..=20 {
        assert!(examples.iter().any(|cause| number(cause) == wanted), "no example of cause {wanted}");
    }
    let place = |kind| match kind {
        FaultKind::Timeout => 0,
        FaultKind::Crash => 1,
        FaultKind::NeverStarted => 2,
        FaultKind::Malformed => 3,
        FaultKind::Stray => 4,
        FaultKind::Flood => 5,
        FaultKind::Deaf => 6,
        FaultKind::Resources => 7,
        FaultKind::Pondering => 8,
        FaultKind::Exception => 9,
        FaultKind::Disturbing => 10,
    };
    assert_eq!(FaultKind::ALL.map(place), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    // An exception's message is the bot's own sentence.
    for kind in FaultKind::ALL.into_iter().filter(|kind| *kind != FaultKind::Exception) {
        assert!(examples.iter().any(|cause| cause.kind() == kind), "no example of {kind:?}");
    }
}
