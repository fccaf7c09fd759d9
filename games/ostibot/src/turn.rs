//! The order of events: the stages of a match, as listed in the rulebook.

use agon_game::{Answer, Seat, Sink};

use crate::Ostibot;
use crate::event::Event;
use crate::orders::Order;
use crate::state::{Phase, State};

/// The step being played: the fixed part, the changing part, and the listener. Each mechanic adds
/// its part in its own file.
pub(crate) struct Now<'a, S> {
    pub game: &'a Ostibot,
    pub state: &'a mut State,
    pub out: &'a mut S,
}

impl<S: Sink<Ostibot>> Now<'_, S> {
    /// One step of the match: the shop of all teams, or the turn of one (OB-ROUND-2, OB-ROUND-3).
    pub fn step(&mut self, answers: &[(Seat, Answer<Order>)]) {
        match self.state.phase {
            Phase::Shop => {
                for team in self.game.order_of_play(self.state.round) {
                    if let Some(order) = order_of(answers, team) {
                        self.shop(team, order);
                    }
                }
                self.begin_turn(1);
            }
            Phase::Play(place) => {
                let team = self.game.team_at(self.state.round, place);
                if let Some(order) = order_of(answers, team) {
                    self.carry_out(team, order);
                }
                if !self.next_team(place + 1) {
                    self.end_turn();
                }
            }
            Phase::Over => {}
        }
    }

    /// Begins the next round: the map restored, adventurers on their spawners, then the shop
    /// (OB-ROUND-2).
    pub fn begin_round(&mut self, round: u16) {
        self.reset_map(round);
        self.spawn();
        self.state.phase = Phase::Shop;
    }

    /// Begins the next turn of the round.
    fn begin_turn(&mut self, turn: u16) {
        self.state.turn = turn;
        if !self.next_team(0) {
            // Nobody spawned; no map that passes the checks allows this.
            self.end_turn();
        }
    }

    /// Asks the next team with somebody on the map, from place `from` of the order on; returns
    /// whether there is one (OB-ROUND-4).
    fn next_team(&mut self, from: u8) -> bool {
        let places = from..self.game.seats();
        let team = |place: &u8| self.game.team_at(self.state.round, *place);
        let next = places.into_iter().find(|place| self.state.has_adventurers(self.game, team(place)));
        if let Some(place) = next {
            self.state.phase = Phase::Play(place);
        }
        next.is_some()
    }

    /// What follows the last team of a turn, in this order (OB-ROUND-5).
    fn end_turn(&mut self) {
        self.light_spawners();
        self.spread_fire();
        self.burn();
        let State { round, turn, .. } = *self.state;
        if !self.round_is_over() {
            self.begin_turn(turn + 1);
            return;
        }
        self.end_round();
        if round < self.game.rules().nb_rounds {
            self.begin_round(round + 1);
        } else {
            self.final_sale();
            self.state.phase = Phase::Over;
        }
    }

    /// Tells the listener what happened.
    #[inline]
    pub fn tell(&mut self, event: Event) {
        self.out.event(event);
    }
}

/// The order `team` gave, if any: a missing or malformed answer means no actions (OB-GAME-6), in
/// the shop as in turns (OB-SHOP-9).
fn order_of(answers: &[(Seat, Answer<Order>)], team: Seat) -> Option<&Order> {
    answers.iter().find(|(seat, _)| *seat == team)?.1.order()
}
