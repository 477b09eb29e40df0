//! The pipeline against a scripted host, on paused time.

#![allow(clippy::too_many_lines, clippy::type_complexity, reason = "tables of cases")]
#![allow(clippy::struct_excessive_bools, reason = "one flag an answer of the script")]

mod batches;
mod model;
mod phases;
mod script;
