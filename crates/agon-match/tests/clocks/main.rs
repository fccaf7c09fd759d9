//! Bots with clocks, on each way to a bot. Their tests run one after the other with nothing beside them, in one program: what all of them
//! need is compiled once.

mod charging;
mod fair_time;
mod odd_bots;
mod strangers;
mod tcp;
mod websocket;
