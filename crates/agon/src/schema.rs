//! The page of the guide on what `--json` prints, made from the types that are printed.

use std::collections::BTreeSet;
use std::path::Path;

use agon_testkit::sources::rust_files;

use crate::{author, ci, common, online, play, replay, series, serve, workshop};

/// A section of the page: its heading and the TypeScript declarations below it.
fn section(heading: &str, declarations: &[String]) -> String {
    let declarations: Vec<String> = declarations
        .iter()
        .map(|one| agon_testkit::generated::tidy(one).replace("export type ", "type "))
        .collect();
    format!("\n## {heading}\n\n```ts\n{}```\n", declarations.join("\n"))
}

fn page() -> String {
    use agon_testkit::generated;
    let mut page = "# What `--json` prints\n\n\
        The types of everything that agon prints with `--json`, in TypeScript notation. A test compares this page with the \
        program. A key with `?` is absent when there is nothing to say: \
        an empty list, no text, a zero. Names stay; a later version may add some, so skip what you do not know. Seeds are strings, as they may be larger than \
        JavaScript's integers. Files have formats of their own with a version in their first line: \
        [replays](replay-format.md) and [journals](series.md).\n"
        .to_owned();
    page += &section(
        "What failed",
        &generated![
            common::failure::PrintedError<'_>,
            common::failure::ErrorTold<'_>,
            common::failure::ErrorCode,
        ],
    );
    page += "\n| code | exit code | means |\n|---|---|---|\n";
    for (code, means) in common::ErrorCode::MEAN {
        let word = serde_json::to_string(&code).expect("a word");
        page += &format!("| `{}` | {} | {means} |\n", word.trim_matches('"'), code.exit());
    }
    page += "\nThe exit code is the same without `--json`, and the sentence is on standard error, too. A command that prints one \
        document has printed nothing before; one that prints a line for each event ends with this line. Exit code 1 without it says that \
        what was checked is not so: the result says what.\n";
    page += &section(
        "A match",
        &generated![
            agon_match::PrintedMatch,
            agon_match::record::SeatResult,
            agon_match::record::OutcomeResult,
            agon_match::Fault,
            agon_match::FaultKind,
            agon_match::RejectedOrder,
            agon_match::record::SeatTime,
            play::json::AskedHere<'_>,
            play::json::RefereeLine<'_>,
            play::json::RefereeLog,
            play::json::LoggedAnswer,
        ],
    );
    page += &section(
        "Series and ratings",
        &generated![
            series::json::Start<'_>,
            agon_contest::BotId,
            agon_contest::MapId,
            agon_contest::TestId,
            agon_stats::Model,
            series::json::HowLong,
            series::json::State,
            series::json::VoidMatch,
            series::json::PairingState,
            agon_stats::WinDrawLoss,
            agon_stats::Estimate,
            series::json::BotScore,
            agon_stats::sequential::Status,
            agon_stats::Decision,
            agon_stats::Corrected,
            series::json::Faults,
            series::json::RejectedOrders,
            series::json::Steps,
            series::json::Origin,
            series::json::Mean,
            series::json::OfBot,
            series::json::OfOpponent,
            series::json::OfEnding,
            series::json::GauntletResult,
            series::json::SprtResult,
            series::json::Same,
            series::json::DecisionWord,
            series::json::TournamentResult<'_>,
            agon_pairing::Standing,
            series::json::Certainty,
            series::json::Newcomer<'_>,
            series::json::Reason,
            agon_desk::ratings::RatedGame,
            agon_stats::RatingTable,
            agon_stats::Rated,
            agon_stats::Interval,
            agon_stats::Cycle,
            agon_stats::Options,
            agon_stats::TableKey,
            agon_stats::CrossTable,
            agon_stats::Cell,
            series::json::CountsResult<'_>,
            series::json::Pinned<'_>,
            agon_desk::losses::Losses,
            agon_desk::losses::LossGroup,
            agon_desk::losses::GroupedLoss,
            agon_desk::losses::UsualMoment,
            agon_desk::losses::UsualStanding,
            agon_desk::losses::UsualFeature,
            agon_desk::lesson::LossTaught,
            agon_desk::lesson::PuzzlePrinted,
            agon_api::TeamLosses,
            agon_api::TeamLossCause,
            ci::CiResult,
            ci::CiStep,
            ci::CiCase,
            ci::CiStatus,
        ],
    );
    page += &section(
        "Replays",
        &generated![
            replay::json::Info<'_>,
            replay::json::Verified<'_>,
            replay::json::Word,
            replay::json::Board,
            replay::json::Frame,
            replay::json::Written<'_>,
            replay::json::Step,
            replay::json::Answer,
            replay::json::Rejected,
            replay::json::KeptTest<'_>,
            replay::json::RedactedReplay<'_>,
            replay::json::Imported<'_>,
            agon_desk::feed::Fed,
            agon_desk::feed::FedTurn,
            replay::json::Fork<'_>,
            replay::json::OtherAnswer,
            replay::json::Fetched<'_>,
            agon_desk::analysed::Analysed,
            agon_desk::analysed::AnalysedTurn,
            agon_desk::analysed::AnalysedOrder,
            agon_desk::analysed::AnalysedWithBot,
            agon_desk::analysed::Estimated,
        ],
    );
    page += &section(
        "Bots and their authors",
        &generated![
            author::json::Starter,
            author::json::Made<'_>,
            author::json::MadeWorkflow<'_>,
            author::json::Built<'_>,
            author::json::BuildState,
            agon_desk::check::Checked,
            agon_desk::check::CheckFinding,
            agon_desk::check::FindingStatus,
            author::json::Packed<'_>,
            agon_desk::test::Tested,
            agon_desk::test::TestedOne,
            agon_desk::test::TestStatus,
            author::json::Doctor,
            author::doctor::Finding,
            author::doctor::State,
            author::json::SandboxTest,
            author::json::Attack,
            author::json::AttackEnd,
            author::json::Control,
            author::json::ImageShown,
        ],
    );
    page += &section(
        "A long-running contest",
        &generated![
            serve::json::Contest<'_>,
            serve::json::Worker<'_>,
            serve::json::HeldSettings,
            serve::json::HeldSetting,
            serve::json::Matches,
            serve::json::AddedBot,
            serve::json::AddedState,
            serve::json::AddedOfMany,
            serve::json::AddedMany,
            agon_api::Marks,
            agon_api::TeamMarks,
            agon_api::TeamStanding,
            agon_api::Milestone,
            serve::json::TeamToken<'_>,
            serve::json::OrganiserLink<'_>,
            serve::json::WorkerToken<'_>,
            serve::json::MachineNamed<'_>,
            serve::json::Pausing,
            serve::json::Clocks<'_>,
            serve::json::FoundDamage<'_>,
            serve::json::BackedUp<'_>,
            serve::json::Restored<'_>,
            serve::json::Exported<'_>,
            serve::json::Moved<'_>,
            serve::json::Verified<'_>,
            agon_store::EntrantVersion,
            agon_api::version::State,
            agon_store::Event,
        ],
    );
    page += &section(
        "Taking part in a contest",
        &generated![
            online::json::LoggedIn<'_>,
            online::json::FleetKnown<'_>,
            online::json::LoggedOut<'_>,
            online::json::Submitted<'_>,
            online::json::Tried<'_>,
            online::json::Standing<'_>,
            agon_api::contest::ContestState,
            agon_api::Versions,
            agon_api::BuildLog,
            agon_api::Uploaded,
            agon_api::version::UploadedWord,
            agon_api::Version,
            agon_api::version::State,
            agon_api::version::VersionStep,
            agon_api::version::Cause,
            agon_api::version::Whose,
            agon_api::version::Stage,
            agon_api::version::Verdict,
            agon_api::version::Says,
            agon_api::Asked,
            agon_api::Match,
            agon_api::played::Kind,
            agon_api::played::MatchState,
            agon_api::played::SeatOutcome,
            agon_api::Own,
            agon_api::played::OwnSeat,
            agon_api::played::Told,
            agon_api::played::Note,
            agon_api::VersionRating,
            agon_api::LadderRow,
            agon_api::Me,
            agon_api::Team,
            agon_api::Quota,
            agon_api::Used,
        ],
    );
    page += &section(
        "Games",
        &generated![
            workshop::json::Game,
            workshop::json::Seats,
            workshop::json::Rules,
            workshop::json::Rule,
            workshop::json::RuleDiffers,
            workshop::json::Maps,
            workshop::json::KnownMap,
            workshop::json::Map<'_>,
            agon_desk::maps::CheckedMap,
            workshop::json::Explained,
            workshop::json::Place,
            agon_desk::conformance::Conformance,
            agon_desk::conformance::ComparedValues,
            agon_desk::conformance::RecordDifference,
            workshop::json::Bench,
            workshop::json::Figures,
            workshop::json::Measured,
            workshop::json::Figure,
            workshop::json::RefereeBench,
            workshop::json::Answer,
            workshop::json::PageName,
            workshop::json::Page,
        ],
    );
    optional(&page)
}

/// The page with a `?` at each key that is left out when it is empty: the attribute that leaves it out is read from the source,
/// since the type alone does not show it.
fn optional(page: &str) -> String {
    let skipped = skipped();
    let (mut marked, mut own) = (String::with_capacity(page.len()), "");
    for line in page.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("type ") {
            own = name.split([' ', '<', '=']).next().unwrap_or_default();
        }
        match line.strip_prefix("  ").and_then(|field| field.split_once(": ")) {
            Some((key, _)) if skipped.contains(&(own.to_owned(), key.to_owned())) => {
                marked += &line.replacen(": ", "?: ", 1);
            }
            _ => marked += line,
        }
    }
    marked
}

/// The fields that serde skips, each with its type.
fn skipped() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for path in rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")) {
        let text = std::fs::read_to_string(&path).expect("a file");
        if text.contains("skip_serializing_if") {
            skipped_in(&text, &mut found);
        }
    }
    found
}

fn skipped_in(text: &str, found: &mut BTreeSet<(String, String)>) {
    let word = |text: &str| {
        let end = text.find(|sign: char| !sign.is_alphanumeric() && sign != '_').unwrap_or(text.len());
        text[..end].trim_start_matches("r#").to_owned()
    };
    let (mut own, mut skips) = (String::new(), false);
    // The page may call a type by another name.
    let mut renamed = None;
    for line in text.lines().map(str::trim) {
        if let Some((_, name)) = line.split_once("ts(rename = \"") {
            renamed = Some(word(name));
        }
        let public = line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub ")).unwrap_or(line);
        if let Some(name) = public.strip_prefix("struct ") {
            (own, skips) = (renamed.take().unwrap_or_else(|| word(name)), false);
        } else if line.contains("skip_serializing_if") {
            skips = true;
        } else if !line.starts_with("#[")
            && !line.starts_with("//")
            && !line.is_empty()
            && !line.starts_with(')')
        {
            renamed = None;
            let field = public.split_once(": ").map(|(name, _)| name.trim_start_matches("r#"));
            if let Some(field) = field.filter(|_| skips) {
                found.insert((own.clone(), field.to_owned()));
            }
            // An attribute of several lines goes on.
            skips &= field.is_none() && line.contains(" = ");
        }
    }
}

#[test]
fn keys_that_may_be_absent_are_marked() {
    let skipped = skipped();
    for (own, field) in [
        ("PrintedMatch", "void"),
        ("PrintedMatch", "notes"),
        ("SeatResult", "rejections"),
        ("Fault", "stderr"),
        ("Finding", "rule"),
    ] {
        assert!(skipped.contains(&(own.to_owned(), field.to_owned())), "{own} {field}: {skipped:?}");
    }
    let page = page();
    assert!(page.contains("  void?: string | null,") && page.contains("  seed: string,"));
}

#[test]
fn the_page_is_as_the_types_are() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = page();
    if std::env::var_os("UPDATE_BOOK").is_some() {
        std::fs::write(&path, &page).expect("the page is written");
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == page,
        "docs/json.md is not as the types are: look at the change, then run this test with UPDATE_BOOK=1"
    );
}
