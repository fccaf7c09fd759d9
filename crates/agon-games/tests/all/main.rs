//! What holds for every game, in one program, so that the engines' generic code is compiled once.

mod every_game;
mod final_states;
mod transcripts;
