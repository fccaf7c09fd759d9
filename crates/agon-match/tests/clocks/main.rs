//! Bots with clocks, over every kind of connection. Their tests run one after the other, with nothing beside them, in
//! one program, so that what they share is compiled once.

mod charging;
mod fair_time;
mod odd_bots;
mod strangers;
mod tcp;
mod websocket;
