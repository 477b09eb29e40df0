//! The protocol between a host and one sandboxed script, independent of the engine behind it.
//!
//! A frame is `[length u32 LE][kind u8][payload]`; `length` counts the payload only. The script's
//! side sends [`frame::CALLS`], [`frame::CONSOLE`] and exactly one final frame; the host's side sends
//! one [`frame::START`] and then [`frame::ANSWERS`]. Calls and answers are batched: everything that
//! one turn of the script produced travels together. Values travel as JSON text, or as a JSON table
//! for what JSON cannot say (see [`Format`]).
//!
//! Invariant: nothing in here allocates more than the bytes that really arrived justify.

pub mod frame;
pub mod json;
pub mod pieces;
pub mod start;

pub use frame::{Format, Port, Received};
pub use json::{Json, Text};
pub use start::{Mode, Start};
