//! The sequential probability ratio test: stop as soon as there is enough evidence.
//!
//! There are two hypotheses, "the difference is `elo0`" (H0) and "it is `elo1`" (H1). After every block the log-likelihood
//! ratio (LLR) says how much better H1 explains the results. Crossing the upper bound accepts H1, crossing the lower
//! accepts H0, and the chance of a wrong decision stays near the stated one however long the test takes.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::elo::{normalized_scale, score_of_elo};
use crate::empirical::{excess_llr, mean_llr, student_llr};
use crate::{BlockError, Decision, Shape, Tally, WinDrawLoss};

/// The units of the hypotheses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Normalised Elo: the excess score in standard deviations of a game. The duration of a test does not depend on how
    /// drawish the game is. The recommended model.
    #[default]
    Normalized,
    /// Ordinary Elo: the expected score.
    Logistic,
    /// Elo as in BayesElo: a difference of strength with a margin for draws.
    Bayesian,
}

impl std::str::FromStr for Model {
    type Err = SprtError;

    fn from_str(text: &str) -> Result<Self, SprtError> {
        match text {
            "normalized" | "normalised" => Ok(Self::Normalized),
            "logistic" => Ok(Self::Logistic),
            "bayesian" => Ok(Self::Bayesian),
            _ => Err(SprtError::Model(text.to_owned())),
        }
    }
}

impl std::fmt::Display for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Normalized => "normalized",
            Self::Logistic => "logistic",
            Self::Bayesian => "bayesian",
        })
    }
}

/// Why a test cannot be run as requested.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SprtError {
    /// No such model.
    #[error("the models are normalized, logistic and bayesian, not `{0}`")]
    Model(String),
    /// The hypotheses are not two numbers in order.
    #[error("elo0 must be below elo1, both from -2000 to 2000; they are {0} and {1}")]
    Hypotheses(f64, f64),
    /// An invalid error rate.
    #[error("alpha and beta must be above 0 and below 0.5; they are {0} and {1}")]
    ErrorRates(f64, f64),
    /// A model of wins, draws and losses used for games with more results.
    #[error("the bayesian model knows only wins, draws and losses; use the normalized one for ranks")]
    NeedsWinDrawLoss,
    /// A shape no tally can have.
    #[error(transparent)]
    Shape(#[from] BlockError),
}

/// Blocks of so many points are a sum of many games: it is nearly normal, and few of its results ever come.
const MANY_RESULTS: u32 = 100;

/// A test: its hypotheses and error rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sprt {
    model: Model,
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    shape: Shape,
}

impl Sprt {
    /// A test of `elo0` against `elo1` that wrongly accepts the second with chance `alpha` and the first with chance
    /// `beta`.
    ///
    /// # Errors
    /// When the numbers do not make a test, or the model does not fit the games.
    pub fn new(
        model: Model,
        (elo0, elo1): (f64, f64),
        (alpha, beta): (f64, f64),
        shape: Shape,
    ) -> Result<Self, SprtError> {
        // Written so that NaN is rejected too.
        if !(elo0 < elo1 && elo0 >= -2000.0 && elo1 <= 2000.0) {
            return Err(SprtError::Hypotheses(elo0, elo1));
        }
        let rate = |chance: f64| chance > 0.0 && chance < 0.5;
        if !(rate(alpha) && rate(beta)) {
            return Err(SprtError::ErrorRates(alpha, beta));
        }
        Tally::new(shape)?;
        if model == Model::Bayesian && !shape.is_win_draw_loss() {
            return Err(SprtError::NeedsWinDrawLoss);
        }
        Ok(Self { model, elo0, elo1, alpha, beta, shape })
    }

    /// Whether blocks have so many results that the likelihood is that of Student's statistic.
    pub(crate) fn is_student(&self) -> bool {
        self.model == Model::Normalized && self.shape.full() >= MANY_RESULTS
    }

    /// The units of the hypotheses.
    pub fn model(&self) -> Model {
        self.model
    }

    /// `elo0` and `elo1`.
    pub fn hypotheses(&self) -> (f64, f64) {
        (self.elo0, self.elo1)
    }

    /// Both hypotheses as an excess of the mean over one half, in standard deviations of a block of `tally`. None if that
    /// is unknown.
    pub(crate) fn excess(&self, tally: &Tally) -> Option<(f64, f64)> {
        let deviation = tally.moments().variance.sqrt();
        let scores = |score: &dyn Fn(f64) -> f64| {
            ((score(self.elo0) - 0.5) / deviation, (score(self.elo1) - 0.5) / deviation)
        };
        Some(match self.model {
            Model::Normalized => {
                let root = f64::from(self.shape.games).sqrt() / normalized_scale();
                (self.elo0 * root, self.elo1 * root)
            }
            Model::Logistic => scores(&score_of_elo),
            Model::Bayesian => {
                let drawish = Drawish::of(&tally.games()?);
                scores(&|elo| drawish.score(elo))
            }
        })
    }

    /// How the blocks of this test are built.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The LLRs at which H0 and H1 are accepted (Wald's bounds).
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// What these blocks, looked at once, decide; none if [`Self::llr`] returns none.
    pub fn decide(&self, tally: &Tally) -> Option<Decision> {
        let ((lower, upper), llr) = (self.bounds(), self.llr(tally)?);
        Some(if llr >= upper {
            Decision::AcceptH1
        } else if llr <= lower {
            Decision::AcceptH0
        } else {
            Decision::Continue
        })
    }

    /// The log-likelihood ratio of `tally`: positive values favour H1. None only if the bayesian model needs to know which
    /// games were drawn and the tally cannot say; 0 without blocks.
    pub fn llr(&self, tally: &Tally) -> Option<f64> {
        if tally.blocks() == 0 {
            return Some(0.0);
        }
        if self.model == Model::Bayesian && tally.shape().games == 1 {
            return Some(Drawish::of(&tally.games()?).llr(self.elo0, self.elo1));
        }
        self.counts_llr(&tally.lifted(), tally)
    }

    /// The same for counts of blocks by score, none of them 0. The draw margin of the bayesian model is taken from the
    /// draws of `tally`.
    fn counts_llr(&self, counts: &[(f64, f64)], tally: &Tally) -> Option<f64> {
        Some(match self.model {
            Model::Normalized => {
                let root = f64::from(tally.shape().games).sqrt() / normalized_scale();
                let llr = if self.is_student() { student_llr } else { excess_llr };
                llr(counts, self.elo0 * root, self.elo1 * root)
            }
            Model::Logistic => mean_llr(counts, score_of_elo(self.elo0), score_of_elo(self.elo1)),
            Model::Bayesian => {
                // The draw margin is known from the games; the rest is a question of expected scores, answered on the
                // blocks (as fishtest does).
                let drawish = Drawish::of(&tally.games()?);
                mean_llr(counts, drawish.score(self.elo0), drawish.score(self.elo1))
            }
        })
    }

    /// The LLR if results had been likelier the better they are, by this many standard deviations of a block; and the
    /// excess of such counts, in these deviations.
    pub(crate) fn tilted_llr(&self, tally: &Tally, by: f64) -> Option<(f64, f64)> {
        let (mut counts, moments) = (tally.lifted(), tally.moments());
        let deviation = moments.variance.sqrt();
        let blocks: f64 = counts.iter().map(|&(_, n)| n).sum();
        for (score, n) in &mut counts {
            *n *= (by * (*score - moments.mean) / deviation).exp();
        }
        let tilted: f64 = counts.iter().map(|&(_, n)| n).sum();
        counts.iter_mut().for_each(|(_, n)| *n *= blocks / tilted);
        let mean = counts.iter().map(|&(score, n)| score * n).sum::<f64>() / blocks;
        Some((self.counts_llr(&counts, tally)?, (mean - 0.5) / deviation))
    }
}

/// Wins, draws and losses under BayesElo's model, with the draw margin estimated from the games.
struct Drawish {
    wins: f64,
    draws: f64,
    losses: f64,
    margin: f64,
}

impl Drawish {
    fn of(games: &WinDrawLoss) -> Self {
        let lift = |count: u64| if count == 0 { 1e-3 } else { count as f64 };
        let (wins, draws, losses) = (lift(games.wins), lift(games.draws), lift(games.losses));
        let margin = 200.0 * ((draws + losses) / wins * (draws + wins) / losses).log10();
        Self { wins, draws, losses, margin }
    }

    /// The chances of a win and of a loss.
    fn chances(&self, elo: f64) -> (f64, f64) {
        (score_of_elo(elo - self.margin), score_of_elo(-elo - self.margin))
    }

    fn score(&self, elo: f64) -> f64 {
        let (win, loss) = self.chances(elo);
        f64::midpoint(1.0, win - loss)
    }

    fn llr(&self, elo0: f64, elo1: f64) -> f64 {
        let ((win0, loss0), (win1, loss1)) = (self.chances(elo0), self.chances(elo1));
        self.wins * (win1 / win0).ln()
            + self.draws * ((1.0 - win1 - loss1) / (1.0 - win0 - loss0)).ln()
            + self.losses * (loss1 / loss0).ln()
    }
}
