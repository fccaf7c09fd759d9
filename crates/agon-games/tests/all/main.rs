//! What holds of every game, in one program: the engines' generic code is compiled once for all of it.

mod every_game;
mod final_states;
mod transcripts;
