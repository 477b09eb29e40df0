//! Where in the model's source an error came from.
//!
//! The engine notes places for calls, property reads, assignments and a few others ([`record`]). For every
//! other fault (a value that cannot be taken apart or gone through, mixed BigInts, a name that is not there
//! yet, the look-up of a method) this room goes through the script once more ([`survey`]) and looks, between
//! the last place the engine passed and the next one it would have come to, for what can fail that way.
//! Where statements that can fail have no place of the engine's own, [`marks`] gave them one before.

mod marks;
mod record;
mod survey;

pub use marks::marks;

use super::added::Place;
use boa_engine::ast::scope::Scope;
use boa_engine::interner::Interner;
use boa_engine::parser::{Parser, Source};
use record::Frame;
use std::fmt::Debug;
pub use survey::Deed;
use survey::{Spot, Survey, Thrown};

/// Where, in the code the engine was given, and what is done there.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// See [`Place`].
    pub at: Place,
    /// What failed there; `None` when only the neighbourhood is known.
    pub deed: Option<Deed>,
}

/// Finds the place of an error that says `message`. Its `note` is what the engine knows of it: see [`record`].
pub fn of_error(note: &impl Debug, message: &str, code: &[u16]) -> Option<Found> {
    let frames = record::frames(note);
    let survey = surveyed(code)?;
    frames.iter().find_map(|frame| within(frame, &survey, message))
}

/// Where a thrown value that is no error, and says `message`, can come from: such values know of no place.
pub fn of_throw(message: &str, code: &[u16]) -> Vec<Place> {
    let Some(survey) = surveyed(code) else { return Vec::new() };
    let all = |fits: &dyn Fn(&Thrown) -> bool| -> Vec<Place> {
        let fits = |spot: &&Spot| matches!(&spot.deed, Deed::Throw(thrown) if fits(thrown));
        survey.spots.iter().filter(fits).map(|spot| spot.at).collect()
    };
    let sources: [&dyn Fn(&Thrown) -> bool; 3] = [
        &|thrown| matches!(thrown, Thrown::Text(text) if text == message),
        &|thrown| *thrown == Thrown::Plain,
        &|thrown| *thrown == Thrown::Any,
    ];
    sources.into_iter().map(all).find(|places| !places.is_empty()).unwrap_or_default()
}

fn surveyed(code: &[u16]) -> Option<Survey> {
    let mut interner = Interner::default();
    let script =
        Parser::new(Source::from_utf16(code)).parse_script(&Scope::new_global(), &mut interner).ok()?;
    Some(survey::survey(&script, &interner))
}

fn within(frame: &Frame, survey: &Survey, message: &str) -> Option<Found> {
    let body = |place: Place| survey.bodies.iter().find(|(at, _)| *at == place);
    let scope = frame.places.iter().filter_map(|(_, place)| *place).find_map(body);
    // Where a function begins is the engine's answer for whatever in it has no place of its own.
    let own_of = |entry: &(u32, Option<Place>)| entry.1.filter(|place| body(*place).is_none());
    let now = frame.places.iter().rposition(|(from, _)| *from <= frame.at);
    let own = now.and_then(|now| own_of(&frame.places[now]));
    let passed = now.and_then(|now| frame.places[..now].iter().rev().find_map(own_of));
    let in_parameters = scope.is_some()
        && frame.places.iter().find(|(_, place)| place.is_some()).is_some_and(|(from, _)| frame.at < *from);
    let next = frame.places[now.map_or(0, |now| now + 1)..]
        .iter()
        .filter_map(own_of)
        .find(|place| passed.is_none_or(|passed| *place > passed))
        .filter(|_| !in_parameters)
        .or(scope.filter(|_| in_parameters).map(|(at, _)| *at));
    let fits =
        |spot: &&Spot| scope.is_none_or(|(_, scope)| spot.scope == *scope) && can_say(spot, message, survey);
    let spots = || survey.spots.iter().filter(fits);
    if let Some(own) = own
        // What stands behind its parts is done after them: here it was not reached yet.
        && !next.is_some_and(|next| next < own)
    {
        let inside = spots().filter(|spot| {
            spot.done > own.max(passed.unwrap_or(own)) && next.is_some_and(|next| spot.done <= next)
        });
        let exact = spots().find(|spot| spot.at == own);
        let found = match exact {
            Some(exact) => Some(exact),
            None => inside.min_by_key(|spot| spot.done),
        };
        return Some(Found {
            at: found.map_or(own, |spot| spot.at),
            deed: found.map(|spot| spot.deed.clone()),
        });
    }
    let between = spots()
        .filter(|spot| passed.is_none_or(|passed| spot.done > passed))
        .filter(|spot| next.is_none_or(|next| spot.done <= next))
        .min_by_key(|spot| spot.done);
    match between {
        Some(spot) => Some(Found { at: spot.at, deed: Some(spot.deed.clone()) }),
        None => own.or(passed).or(next).or(scope.map(|(at, _)| *at)).map(|at| Found { at, deed: None }),
    }
}

/// Whether what is done at a spot can fail with such a message.
fn can_say(spot: &Spot, message: &str, survey: &Survey) -> bool {
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    match &spot.deed {
        Deed::Read(_) | Deed::Write(_) => says(&["cannot convert 'null' or 'undefined' to object"]),
        Deed::Call(..) => says(&["not a callable function"]),
        Deed::New => says(&["not a constructor", "super constructor", "'this' binding"]),
        Deed::Names => says(&["Cannot destructure"]),
        Deed::Iterate => says(&[
            "is not iterable",
            "returned iterator is not an object",
            "next value should be an object",
            "value returned for property of object is not a function",
            "Cannot destructure",
            "cannot convert 'null' or 'undefined' to object",
        ]),
        Deed::Convert => says(&["BigInt", "symbol", "Symbol", "primitive"]),
        Deed::Relate => says(&["right-hand side of", "instanceof"]),
        Deed::Name(name) => {
            message.strip_suffix(" is not defined") == Some(name)
                || (message == "access of uninitialized binding"
                    && survey.late.iter().any(|(late, end)| late == name && spot.at < *end))
        }
        Deed::Throw(_) => false,
    }
}
