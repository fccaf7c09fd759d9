//! Marks: one row a team, for whoever has to grade them; as CSV, and as what Gradescope reads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use agon_api::{LadderRow, Marks, Milestone, TeamMarks, TeamStanding};
use agon_ladder::{Met, Row, Table};
use agon_stats::score_of_elo;
use agon_store::reads::Ended;
use agon_store::{ContestRow, ContestStore, Entrant, EntrantId, EntrantVersion, LogEntry, Sealed};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::facts::{Facts, PAGE, row_of};
use crate::status::{self, look};
use crate::{ContestServer, ServerError, read};

/// What is counted of a version, in complete blocks that count.
#[derive(Default)]
struct Counted {
    /// Won, drawn, lost.
    matches: [u64; 3],
    faults: BTreeMap<String, u64>,
    /// By the number of the boss.
    met: BTreeMap<EntrantId, Met>,
}

/// The marks of the contest in a folder, whether it is running or not; without its built-in bots if they are not wanted.
///
/// # Errors
/// When there is none, or it cannot be read.
pub async fn of_folder(folder: &Path, builtin: bool) -> Result<Marks, ServerError> {
    let (store, contest) = look(folder).await?;
    let (facts, table) = status::table(&store, &contest).await?;
    let marks = of(&store, &contest, (&table, facts.upto), builtin).await?;
    store.close().await;
    Ok(marks)
}

impl ContestServer {
    /// The marks as of the latest board; without the built-in bots if they are not wanted.
    ///
    /// # Errors
    /// Store errors.
    pub async fn marks(&self, builtin: bool) -> Result<Marks, ServerError> {
        let board = self.board().await?;
        of(&self.store, &self.now().await?, (&board.table, board.upto), builtin).await
    }
}

/// The marks that go with a table, which covers the log up to this row.
async fn of(
    store: &ContestStore,
    contest: &ContestRow,
    (table, upto): (&Table, i64),
    builtin: bool,
) -> Result<Marks, ServerError> {
    let (owners, versions, entrants) =
        (store.owners().await?, store.versions().await?, store.entrants().await?);
    let mut decided = Facts::new();
    store.decisions().await?.iter().filter(|row| row.seq() <= upto).for_each(|row| decided.add(row));
    let out = decided.out(&owners);
    let all = status::lines(table, &versions, &owners, &out);
    let bosses: Vec<LadderRow> = all.iter().filter(|line| line.boss).cloned().collect();
    let rows = match builtin {
        true => all,
        // Places are counted anew among those that are left.
        false => {
            let teams: Vec<_> = versions.iter().filter(|version| !version.boss).cloned().collect();
            status::lines(table, &teams, &owners, &out)
        }
    };
    let of_bosses: BTreeMap<i64, EntrantId> = owners
        .iter()
        .filter(|(_, owner)| bosses.iter().any(|boss| boss.team == owner.0))
        .map(|(version, owner)| (version.0, *owner))
        .collect();
    let wanted: BTreeSet<i64> = rows.iter().map(|row| row.rating.version).collect();
    let out_now: BTreeSet<i64> = out.iter().map(|version| version.0).collect();
    let counts = |block, seats: &[i64]| {
        !decided.annulled.contains(&block) && !seats.iter().any(|seat| out_now.contains(seat))
    };
    let mut counted = count(store, upto, &wanted, &of_bosses, counts).await?;
    let mut others: BTreeMap<i64, &Entrant> =
        entrants.iter().map(|entrant| (entrant.id.0, entrant)).collect();
    let mut of_team: BTreeMap<&str, Vec<&EntrantVersion>> = BTreeMap::new();
    versions.iter().for_each(|version| of_team.entry(&version.entrant).or_default().push(version));
    let versions_of = |row: &LadderRow| of_team.get(row.name.as_str()).map_or(&[][..], Vec::as_slice);
    let mut teams: Vec<TeamMarks> = Vec::new();
    for row in rows {
        let counted = counted.remove(&row.rating.version).unwrap_or_default();
        let (entrant, own) = (others.remove(&row.team), versions_of(&row));
        teams.push(marked(row, counted, entrant, own, &bosses));
    }
    // Whoever was deleted is on no list any more.
    let mut others: Vec<&Entrant> =
        others.into_values().filter(|entrant| !entrant.boss && entrant.withdrawn.is_none()).collect();
    others.sort_by(|one, other| one.name.cmp(&other.name));
    for entrant in others {
        let row = LadderRow { team: entrant.id.0, name: entrant.name.clone(), ..LadderRow::default() };
        let own = versions_of(&row);
        let mut team = marked(row, Counted::default(), Some(entrant), own, &bosses);
        team.standing = if own.iter().any(|own| own.state.is_waiting() && !out.contains(&own.id)) {
            TeamStanding::Waiting
        } else if own.iter().any(|own| out.contains(&own.id)) {
            TeamStanding::Out
        } else if own.is_empty() {
            TeamStanding::Nothing
        } else {
            TeamStanding::Failed
        };
        teams.push(team);
    }
    let bosses = bosses.into_iter().map(|boss| boss.name).collect();
    let (contest, game) = (contest.title().to_owned(), contest.game.clone());
    Ok(Marks { contest, game, upto, bosses, max_score: None, teams })
}

/// Reads the log once, and counts for each of these versions.
async fn count(
    store: &ContestStore,
    upto: i64,
    wanted: &BTreeSet<i64>,
    bosses: &BTreeMap<i64, EntrantId>,
    counts: impl Fn(i64, &[i64]) -> bool,
) -> Result<BTreeMap<i64, Counted>, ServerError> {
    let mut counted: BTreeMap<i64, Counted> = BTreeMap::new();
    let mut open: BTreeMap<i64, Vec<(Row, Sealed)>> = BTreeMap::new();
    let mut at = 0;
    while at < upto {
        let page = store.log(at, PAGE.min(upto - at)).await?;
        let Some(last) = page.last().map(|row| row.seq) else { break };
        at = last;
        for row in &page {
            let LogEntry::Result(sealed) = read(&row.body)? else { continue };
            let row = row_of(&sealed);
            if !sealed.kind.is_rated() || !counts(sealed.block, &row.versions) {
                continue;
            }
            let (block, seats) = (sealed.block, row.versions.len());
            let rows = open.entry(block).or_default();
            rows.push((row, *sealed));
            if rows.len() == seats
                && let Some(mut whole) = open.remove(&block)
            {
                whole.sort_by_key(|(row, _)| row.rotation);
                take_in(&mut counted, whole, wanted, bosses);
            }
        }
    }
    Ok(counted)
}

/// Counts a complete block.
fn take_in(
    counted: &mut BTreeMap<i64, Counted>,
    whole: Vec<(Row, Sealed)>,
    wanted: &BTreeSet<i64>,
    bosses: &BTreeMap<i64, EntrantId>,
) {
    for (row, sealed) in &whole {
        let firsts = row.ranks.iter().filter(|rank| **rank == 1).count();
        for (seat, version) in row.versions.iter().enumerate().filter(|(_, own)| wanted.contains(own)) {
            let own = counted.entry(*version).or_default();
            let [won, drawn, lost] = &mut own.matches;
            match row.ranks.get(seat).map(|rank| Ended::with(i64::from(*rank), firsts)) {
                Some(Ended::Won) => *won += 1,
                Some(Ended::Drawn) => *drawn += 1,
                _ => *lost += 1,
            }
            if let Some(Some(kind)) = sealed.outcome.observed.faults.public().get(seat) {
                *own.faults.entry(kind.clone()).or_default() += 1;
            }
        }
    }
    let rows: Vec<Row> = whole.into_iter().map(|(row, _)| row).collect();
    for &own in rows[0].versions.iter().filter(|own| wanted.contains(own)) {
        for other in rows[0].versions.iter().filter(|other| **other != own) {
            if let Some(boss) = bosses.get(other) {
                counted.entry(own).or_default().met.entry(*boss).or_default().add(&rows, own, *other);
            }
        }
    }
}

/// A team with its versions and what was counted of it.
fn marked(
    row: LadderRow,
    counted: Counted,
    entrant: Option<&Entrant>,
    versions: &[&EntrantVersion],
    bosses: &[LadderRow],
) -> TeamMarks {
    let milestone = |boss: &LadderRow| {
        let met = counted.met.get(&EntrantId(boss.team));
        let (games, estimate) = (met.map(Met::games).unwrap_or_default(), met.and_then(Met::estimate));
        let in_one_group = row.rated().zip(boss.rated()).is_some_and(|(own, its)| own.group == its.group);
        // Whoever won everything is at least this much better than whoever lost everything.
        let (own, its) = (row.rating.elo.or(row.rating.low), boss.rating.elo.or(boss.rating.high));
        let apart = own.zip(its).filter(|_| in_one_group);
        Milestone {
            boss: boss.name.clone(),
            won: games.wins,
            drawn: games.draws,
            lost: games.losses,
            share: estimate.map(|found| found.score),
            low: estimate.map(|found| found.score_low),
            high: estimate.map(|found| found.score_high),
            expected: apart.map(|(own, its)| score_of_elo(own - its)),
        }
    };
    let milestones = bosses.iter().filter(|boss| boss.team != row.team).map(milestone).collect();
    let members = entrant.map_or(&[][..], |entrant| &entrant.members);
    let [won, drawn, lost] = counted.matches;
    TeamMarks {
        standing: if row.rank.is_some() { TeamStanding::Placed } else { TeamStanding::Placing },
        members: members.iter().map(|(_, name)| name.clone()).collect(),
        won,
        drawn,
        lost,
        faults: counted.faults,
        versions: versions.len() as u32,
        handed_in: versions.iter().find(|version| version.n == row.n).map(|version| version.received.0),
        milestones,
        score: None,
        row,
    }
}

/// How many points a team has for which share of the points against which built-in bot.
#[derive(Clone, Debug, PartialEq)]
pub struct PointScale(Vec<Goal>);

/// A milestone with its points.
#[derive(Clone, Debug, PartialEq)]
struct Goal {
    boss: String,
    /// From this share on, in per cent.
    percent: f64,
    points: f64,
}

/// The most goals of a scale.
const MOST_GOALS: usize = 100;
/// The most points of a goal.
const MOST_POINTS: f64 = 1_000_000.0;

impl Goal {
    fn parse(text: &str, bosses: &[String]) -> Result<Self, String> {
        let parts = || {
            let ((boss, percent), points) =
                text.rsplit_once(':').and_then(|(rest, points)| Some((rest.split_once('=')?, points)))?;
            let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            Some((boss.trim(), number(percent.trim().trim_end_matches('%'))?, number(points)?))
        };
        let (boss, percent, points) = parts().ok_or("write BOSS=PERCENT%:POINTS, such as greedy=60%:10")?;
        if !bosses.iter().any(|known| known == boss) {
            let known = if bosses.is_empty() { "none".to_owned() } else { bosses.join(", ") };
            return Err(format!("no built-in bot `{boss}` is on the ladder; those there: {known}"));
        }
        if !(percent > 0.0 && percent <= 100.0) {
            return Err(format!("{percent} % is no share of points: more than 0, at most 100"));
        }
        if !(points > 0.0 && points <= MOST_POINTS) {
            return Err(format!("{points} points: more than 0, at most {MOST_POINTS}"));
        }
        Ok(Self { boss: boss.to_owned(), percent, points })
    }

    /// How the team does against the bot, and the points that it has for that.
    fn of<'a>(&self, team: &'a TeamMarks) -> (Option<&'a Milestone>, f64) {
        let milestone = team.milestones.iter().find(|milestone| milestone.boss == self.boss);
        let share = milestone.and_then(Milestone::decides);
        // Six of ten are 60 %, however they are rounded.
        let is_reached = share.is_some_and(|share| share * 100.0 + 1e-9 >= self.percent);
        (milestone, if is_reached { self.points } else { 0.0 })
    }
}

impl PointScale {
    /// The scale of a text such as `greedy=60%:10, hunter=50%:20`, where these bosses are on the ladder.
    ///
    /// # Errors
    /// What is wrong with which part.
    pub fn parse(text: &str, bosses: &[String]) -> Result<Self, String> {
        let mut goals: Vec<Goal> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let goal = Goal::parse(part, bosses).map_err(|why| format!("`{part}`: {why}"))?;
            if goals.iter().any(|other| (&other.boss, other.percent) == (&goal.boss, goal.percent)) {
                return Err(format!("`{part}`: this share has its points already"));
            }
            if goals.len() == MOST_GOALS {
                return Err(format!("at most {MOST_GOALS} shares can have points"));
            }
            goals.push(goal);
        }
        Ok(Self(goals))
    }

    fn score(&self, team: &TeamMarks) -> f64 {
        self.0.iter().map(|goal| goal.of(team).1).sum()
    }

    /// Gives each team its points.
    pub fn mark(&self, marks: &mut Marks) {
        marks.max_score = Some(self.0.iter().map(|goal| goal.points).sum());
        for team in marks.teams.iter_mut().filter(|team| !team.row.boss) {
            team.score = Some(self.score(team));
        }
    }

    /// What Gradescope reads as `results.json`: each share is a test.
    pub fn gradescope(&self, team: &TeamMarks) -> Value {
        let test = |goal: &Goal| {
            let (milestone, score) = goal.of(team);
            json!({
                "name": format!("{} % of the points against {}", goal.percent, goal.boss),
                "score": score,
                "max_score": goal.points,
                "output": milestone.map_or_else(String::new, told),
            })
        };
        let row = &team.row;
        let mut leaderboard = vec![json!({ "name": "Points", "value": self.score(team) })];
        leaderboard.extend(row.rank.map(|rank| json!({ "name": "Rank", "value": rank, "order": "asc" })));
        leaderboard.extend(row.rating.elo.map(|elo| json!({ "name": "Elo", "value": elo })));
        json!({
            "score": self.score(team),
            "output": standing(team),
            "tests": self.0.iter().map(test).collect::<Vec<_>>(),
            "leaderboard": leaderboard,
        })
    }
}

/// A milestone, in a sentence.
fn told(milestone: &Milestone) -> String {
    let percent = |share: Option<f64>| format!("{:.1} %", share.unwrap_or_default() * 100.0);
    let Milestone { won, drawn, lost, share, low, high, expected, .. } = milestone;
    match (share, expected) {
        (Some(_), _) => {
            let [share, low, high] = [*share, *low, *high].map(percent);
            format!(
                "{won} won, {drawn} drawn, {lost} lost: {share} of the points (95 % interval {low} to {high})."
            )
        }
        (None, Some(_)) => {
            format!("They have not met; their ratings predict {} of the points.", percent(*expected))
        }
        (None, None) => "They have not met, and their ratings are not comparable yet.".to_owned(),
    }
}

/// How a team stands, in a sentence.
fn standing(team: &TeamMarks) -> String {
    let (word, n, matches) = (team.standing.word(), team.row.n, team.row.rating.matches);
    match team.row.places {
        Some([first, last]) => {
            format!("Place {first} to {last} of the ladder: version {n} after {matches} rated matches.")
        }
        None => format!("No place on the ladder: {word}; {matches} rated matches."),
    }
}

/// A text as a field of CSV (RFC 4180): in one line, quoted where that is needed, and never a formula for a spreadsheet.
fn field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let text: String = text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    let text = if is_formula { format!("'{text}") } else { text };
    match text.contains(['"', ',', ';']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

/// The marks as CSV: a heading and a line for each team.
pub fn csv(marks: &Marks) -> String {
    // The heading is that of any team.
    let heading = cells(marks, &TeamMarks::default()).into_iter().map(|(title, _)| title).collect();
    let lines = marks.teams.iter().map(|team| cells(marks, team).into_iter().map(|(_, cell)| cell).collect());
    let lines = std::iter::once(heading).chain(lines);
    lines.map(|line: Vec<String>| line.join(",") + "\r\n").collect()
}

/// The cells of a team, each with the title of its column.
fn cells(marks: &Marks, team: &TeamMarks) -> Vec<(String, String)> {
    fn some<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    let percent = |share: Option<f64>| some(share.map(|share| format!("{:.1}", share * 100.0)));
    let (row, rating) = (&team.row, &team.row.rating);
    let faults: Vec<String> = team.faults.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let handed_in = team.handed_in.and_then(|at| Timestamp::from_millisecond(at / 1000 * 1000).ok());
    let cells = [
        ("team", field(&row.name)),
        ("members", field(&team.members.join("; "))),
        ("builtin", if row.boss { "yes" } else { "no" }.to_owned()),
        ("standing", team.standing.word().to_owned()),
        ("rank", some(row.rank)),
        ("place_first", some(row.places.map(|places| places[0]))),
        ("place_last", some(row.places.map(|places| places[1]))),
        ("elo", some(rating.elo)),
        ("elo_low", some(rating.low)),
        ("elo_high", some(rating.high)),
        ("matches", rating.matches.to_string()),
        ("won", team.won.to_string()),
        ("drawn", team.drawn.to_string()),
        ("lost", team.lost.to_string()),
        ("points_percent", percent(rating.points)),
        ("fault_matches", team.faults.values().sum::<u64>().to_string()),
        ("faults", field(&faults.join("; "))),
        ("versions", team.versions.to_string()),
        ("version", some(Some(row.n).filter(|n| *n > 0))),
        ("newer_version", some(row.placing.filter(|n| *n != row.n))),
        ("handed_in", some(handed_in)),
        ("score", some(team.score)),
        ("max_score", some(marks.max_score.filter(|_| team.score.is_some()))),
    ];
    let mut cells: Vec<(String, String)> = cells.map(|(title, cell)| (title.to_owned(), cell)).into();
    for boss in &marks.bosses {
        // A built-in bot does not meet itself.
        let own = team.milestones.iter().find(|milestone| milestone.boss == *boss);
        let count = |of: fn(&Milestone) -> u64| some(own.map(of));
        let share = |of: fn(&Milestone) -> Option<f64>| percent(own.and_then(of));
        let own = [
            ("won", count(|own| own.won)),
            ("drawn", count(|own| own.drawn)),
            ("lost", count(|own| own.lost)),
            ("percent", share(|own| own.share)),
            ("percent_low", share(|own| own.low)),
            ("percent_high", share(|own| own.high)),
            ("percent_expected", share(|own| own.expected)),
        ];
        cells.extend(own.map(|(title, cell)| (field(&format!("{boss}_{title}")), cell)));
    }
    cells
}

#[cfg(test)]
mod tests {
    use agon_api::VersionRating;

    use super::*;

    #[test]
    fn a_team_that_never_met_a_boss_is_measured_by_the_ratings() {
        let row = |team, group, [elo, low, high]: [Option<f64>; 3]| {
            let rating = VersionRating { group, elo, low, high, ..VersionRating::default() };
            LadderRow { team, rating, ..LadderRow::default() }
        };
        let expected = |own: LadderRow, boss: LadderRow| {
            let milestone = marked(own, Counted::default(), None, &[], &[boss]).milestones.remove(0);
            assert_eq!((milestone.share, milestone.decides()), (None, milestone.expected));
            milestone.expected.map(|share| (share * 1000.0).round())
        };
        let known = |elo| [Some(elo), Some(elo - 50.0), Some(elo + 50.0)];
        assert_eq!(expected(row(1, 1, known(400.0)), row(2, 1, known(0.0))), Some(909.0));
        // One won everything, the other lost everything: what is known of their ratings is the least between them.
        assert_eq!(
            expected(row(1, 1, [None, Some(300.0), None]), row(2, 1, [None, None, Some(-100.0)])),
            Some(909.0)
        );
        assert_eq!(expected(row(1, 1, [None, None, Some(-100.0)]), row(2, 1, known(0.0))), None);
        assert_eq!(expected(row(1, 1, known(400.0)), row(2, 2, known(0.0))), None, "not comparable");
        assert_eq!(expected(row(1, 0, [None; 3]), row(2, 1, known(0.0))), None, "not rated");
    }
}
