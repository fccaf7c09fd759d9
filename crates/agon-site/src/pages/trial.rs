//! A version against the one before it: what its pages say about the verdict.

use agon_ladder::Evidence;
use agon_ladder::verdict::{BLOCKS, PATIENCE_MS, Says};
use agon_store::reads::KeptTrial;
use agon_store::{Time, VersionId};
use maud::{Markup, html};

use crate::gate::Visit;
use crate::pages::draw::{Axis, chip};
use crate::pages::words;
use crate::problem::Refused;

/// The state of a trial, for a page.
pub(crate) struct Trial {
    /// The stored trial.
    pub kept: KeptTrial,
    /// What is known of the difference.
    pub verdict: Option<Evidence>,
    /// Blocks planned, if it goes on.
    pub planned: u32,
}

impl Trial {
    /// The trial of a version, if it has one.
    pub async fn of(ask: &Visit, version: VersionId) -> Result<Option<Self>, Refused> {
        let store = ask.site.store();
        let Some(kept) = store.trial(version).await? else { return Ok(None) };
        let verdict = ask.site.server.verdict(version).await?.map(|(verdict, ..)| verdict);
        let open = match kept.ended {
            Some(_) => Vec::new(),
            None => store.open_trials().await?,
        };
        let planned = open.iter().find(|open| open.version == version).map_or(0, |open| open.planned);
        Ok(Some(Self { kept, verdict, planned }))
    }

    /// The result in a few words behind the version's name: `better than v8`.
    pub fn words(&self) -> Option<String> {
        let word = match self.verdict.as_ref()?.says {
            Says::Better => "better than",
            Says::Worse => "worse than",
            Says::Unknown => return None,
        };
        Some(format!("{word} v{}", self.kept.against_n))
    }

    /// The same as a sentence with its figures.
    pub fn sentence(&self, ask: &Visit) -> String {
        let n = self.kept.against_n;
        let Some(verdict) = self.verdict.as_ref().filter(|verdict| verdict.blocks > 0) else {
            return match self.kept.ended {
                Some(_) => {
                    format!("No block was played against v{n}, so nothing is known about the difference.")
                }
                None => format!(
                    "Its trial against v{n} starts soon: mirrored blocks against v{n}, and both against the same opponents."
                ),
            };
        };
        let blocks = words::many(i64::from(verdict.blocks), "block", "blocks");
        let mut said = match verdict.says {
            Says::Unknown if self.kept.ended.is_none() => {
                format!("Not clear yet whether it beats v{n}: {} after {blocks}.", figure(verdict))
            }
            Says::Unknown => format!("Inconclusive against v{n}: {} after {blocks}.", figure(verdict)),
            _ => format!("{} against v{n}, in {blocks}.", figure(verdict)),
        };
        let maps =
            |maps: &[i64]| maps.iter().map(|map| ask.settings.map(*map)).collect::<Vec<_>>().join(" and ");
        for (word, on) in [("worse", &verdict.worse_on), ("better", &verdict.better_on)] {
            if !on.is_empty() {
                said += &format!(" It is {word} on {}.", maps(on));
            }
        }
        said
    }

    /// How long it will still take at most; none when it is over.
    pub fn left(&self, now: Time) -> Option<String> {
        let left = PATIENCE_MS - (now.0 - self.kept.began.0);
        self.kept.ended.is_none().then(|| format!("at most {} more", words::span(left)))
    }
}

/// The verdict on a version in a table: shown by colour, sign and word.
pub fn in_table(trial: Option<&Trial>) -> Markup {
    let verdict = trial.and_then(|trial| trial.verdict.as_ref()).filter(|verdict| verdict.blocks > 0);
    let Some(verdict) = verdict else { return html! { span.faint { "–" } } };
    let figure = figure(verdict);
    let figure = figure.strip_suffix(" Elo").unwrap_or(&figure);
    match verdict.says {
        Says::Better => chip("good", "check", figure),
        Says::Worse => chip("warn", "warn", &format!("{figure} · worse")),
        Says::Unknown => chip("", "clock", &format!("{figure} · {}", unknown(trial))),
    }
}

/// What is said of a difference that is not known: whether more blocks will tell.
fn unknown(trial: Option<&Trial>) -> &'static str {
    match trial.is_some_and(|trial| trial.kept.ended.is_some()) {
        true => "inconclusive",
        false => "undecided",
    }
}

/// How many blocks were played before, move for move.
fn repeated(blocks: u32) -> String {
    match blocks {
        1 => "1 block repeated an earlier one and does not count.".to_owned(),
        more => format!("{more} blocks repeated earlier ones and do not count."),
    }
}

/// The difference with half of its interval.
pub fn figure(verdict: &Evidence) -> String {
    match (verdict.elo, verdict.low, verdict.high) {
        (Some(elo), Some(low), Some(high)) => {
            format!("{} ± {:.0} Elo", words::signed(elo), (high - low) / 2.0)
        }
        (Some(elo), ..) => format!("about {} Elo", words::signed(elo)),
        (None, Some(low), _) => format!("more than {} Elo", words::signed(low)),
        (None, _, Some(high)) => format!("less than {} Elo", words::signed(high)),
        (None, None, None) => "no figure yet".to_owned(),
    }
}

/// The card: is it better than the one before?
pub fn card(ask: &Visit, n: i64, trial: &Trial) -> Markup {
    let against = trial.kept.against_n;
    let state = match (&trial.verdict, trial.kept.ended) {
        (_, None) => chip("live", "clock", "still playing"),
        (Some(Evidence { says: Says::Better, .. }), _) => chip("good", "check", "better"),
        (Some(Evidence { says: Says::Worse, .. }), _) => chip("bad", "cross", "worse"),
        _ => chip("", "clock", "inconclusive"),
    };
    let known = trial.verdict.as_ref().filter(|verdict| verdict.blocks > 0);
    let ends = known.map_or([None; 3], |verdict| [verdict.elo, verdict.low, verdict.high]);
    let axis = Axis::of(ends.into_iter().flatten().chain([-100.0, 100.0]), 320.0);
    html! {
        section.card {
            header { div.row { h2 { "v" (n) " against v" (against) } (state) } span.faint { "left: v" (against) " better · right: v" (n) " better" } }
            @match known {
                None => p.empty { (trial.sentence(ask)) @if let Some(left) = trial.left(ask.now) { " It takes " (left) ", and at most " (BLOCKS) " blocks." } },
                Some(verdict) => {
                    table {
                        thead { tr { th scope="col" { "Measured on" } th.wide scope="col" { (axis.head(words::signed)) } th.number scope="col" { "Elo" } th.number scope="col" { "Blocks" } th scope="col" { "" } } }
                        tbody {
                            tr {
                                td { b { "v" (n) " against v" (against) ", and both against nearby opponents" } }
                                td.wide { @if let Some(elo) = verdict.elo { (axis.difference(elo, (verdict.low, verdict.high))) } }
                                td.number { b { (figure(verdict).replace(" Elo", "")) } }
                                td.number.faint { (verdict.blocks) }
                                td { @match verdict.says {
                                    Says::Better => span.good-text { "enough to say: better" },
                                    Says::Worse => span.bad-text { "enough to say: worse" },
                                    Says::Unknown => span.faint { (unknown(Some(trial))) },
                                } }
                            }
                            @for (map, word, class) in verdict.worse_on.iter().map(|map| (map, "worse", "bad-text")).chain(verdict.better_on.iter().map(|map| (map, "better", "good-text"))) {
                                tr { td { "on " (ask.settings.map(*map)) } td.wide {} td.number {} td.number {} td { span.(class) { (word) } } }
                            }
                        }
                    }
                    div.in { p.faint {
                        @if let Some(left) = trial.left(ask.now) { "Now: block " (trial.planned) " of at most " (BLOCKS) ", " (left) ". " }
                        @if verdict.counted < verdict.blocks { (repeated(verdict.blocks - verdict.counted)) " " }
                        "200 matches give about ± 49 Elo. The verdict comes when the interval no longer contains zero."
                    } }
                }
            }
        }
    }
}
