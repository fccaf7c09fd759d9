//! A bot for Terminal: `terminal.rs` speaks with the game, `strategy.rs` decides.

mod json;
mod strategy;
mod terminal;

fn main() {
    terminal::run(&mut strategy::Strategy::default());
}
