//! Where in the model's source an error came from.
//!
//! The engine notes places for calls, property reads, assignments and a few others ([`record`]). For every
//! other fault (a value that cannot be taken apart or gone through, mixed `BigInt`s, a name that is not there
//! yet, the look-up of a method) this room goes through the script once more ([`survey`]) and looks, between
//! the last place the engine passed and the next one it would have come to, for what can fail that way.
//! Where statements that can fail have no place of the engine's own, [`marks`] gave them one before.

mod marks;
mod record;
mod survey;

pub use marks::{MARK, marks};

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
/// There are several when it can be one of them.
pub fn of_error(note: &impl Debug, message: &str, code: &[u16]) -> Vec<Found> {
    let frames = record::frames(note);
    let Some(survey) = surveyed(code) else { return Vec::new() };
    if frames.is_empty() {
        // A promise that was rejected by the engine itself.
        let gathered = survey.spots.iter().filter(|spot| spot.deed == Deed::Gather);
        return gathered.map(Found::exactly).collect();
    }
    let mut found = frames.iter().filter_map(|frame| within(frame, &survey, message)).peekable();
    // An error of a class is made where somebody makes one of that class, not in its constructor.
    while let Some(mut inner) = found.next() {
        if inner.deed == Some(Deed::Super) && found.peek().is_some() {
            continue;
        }
        if let Some(Deed::Name(name)) = &inner.deed
            && survey.late.iter().any(|(late, _)| late == name)
        {
            inner.deed = Some(Deed::Early(name.clone()));
        }
        return vec![inner];
    }
    Vec::new()
}

impl Found {
    fn exactly(spot: &Spot) -> Self {
        Self { at: spot.at, deed: Some(spot.deed.clone()) }
    }
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

/// How far a function had come, in places of the engine's own.
struct Gap {
    /// The function, by number; `None` for the script itself.
    scope: Option<u32>,
    /// Where its body begins: the engine's answer for whatever in it has no place of its own.
    body: Option<Place>,
    /// The place that holds at the fault.
    own: Option<Place>,
    /// The last one before it.
    passed: Option<Place>,
    /// The one that holds next: of a part of what `own` is the place of, of the whole it is a part of, or of
    /// something else.
    following: Option<Place>,
    /// The first one behind it that also stands behind it in the source.
    next: Option<Place>,
}

impl Gap {
    fn of(frame: &Frame, survey: &Survey) -> Self {
        let body_at = |place: Place| survey.bodies.iter().find(|(at, _)| *at == place);
        let own_of = |(_, place): &(u32, Option<Place>)| place.filter(|place| body_at(*place).is_none());
        let known = |(_, place): &(u32, Option<Place>)| *place;
        let (body, scope) = frame.places.iter().filter_map(known).find_map(body_at).copied().unzip();
        let now = frame.places.iter().rposition(|(from, _)| *from <= frame.at);
        let (before, behind) = frame.places.split_at(now.map_or(0, |now| now + 1));
        let passed = now.and_then(|now| before[..now].iter().rev().find_map(own_of));
        // Parameters come before anything that has a place.
        let in_parameters = scope.is_some() && before.iter().all(|entry| known(entry).is_none());
        let next = if in_parameters {
            body
        } else {
            behind.iter().filter_map(own_of).find(|place| passed.is_none_or(|passed| *place > passed))
        };
        let following = behind.first().and_then(own_of);
        Self { scope, body, own: before.last().and_then(own_of), passed, following, next }
    }

    /// Whether what has to be done before a place was done, and what is behind it was not begun.
    fn holds(&self, done: Place) -> bool {
        self.passed.is_none_or(|passed| done > passed) && self.next.is_none_or(|next| done <= next)
    }
}

fn within(frame: &Frame, survey: &Survey, message: &str) -> Option<Found> {
    let gap = Gap::of(frame, survey);
    let here = || survey.spots.iter().filter(|spot| gap.scope.is_none_or(|scope| spot.scope == scope));
    let spots = || here().filter(|spot| can_say(spot, message, survey));
    let first = |inside: Option<(Place, Place)>| {
        let inside = |done: Place| inside.is_none_or(|(from, to)| from < done && done <= to);
        let fits = || spots().filter(|spot| gap.holds(spot.done) && inside(spot.done));
        let first = fits().min_by_key(|spot| spot.done)?;
        // One of several cannot be named.
        let deed = if fits().all(|spot| spot.deed == first.deed) {
            Some(first.deed.clone())
        } else {
            let nothing = Deed::Read { name: None, target: (first.at, first.at) };
            fits().all(|spot| matches!(spot.deed, Deed::Read { .. })).then_some(nothing)
        };
        Some(Found { at: first.at, deed })
    };
    // A name that stands nowhere else: loops are not compiled in the order they are written in.
    if message.ends_with(" is not defined") {
        let mut named = spots();
        if let (Some(only), None) = (named.next(), named.next()) {
            return Some(Found::exactly(only));
        }
    }
    let exact = |own: Place| spots().find(|spot| spot.at == own).map(Found::exactly);
    let holder =
        gap.own.and_then(|own| here().filter(|spot| spot.at == own).max_by_key(|spot| spot.inside.1));
    let found = match (gap.own, holder) {
        (Some(own), Some(holder)) => {
            let (from, to) = holder.inside;
            // With a part of it still to come, what it is itself was not reached.
            let part_follows = gap.following.is_some_and(|next| next != own && from <= next && next <= to);
            let itself = if part_follows { None } else { exact(own) };
            let made = || (holder.deed == Deed::Super).then(|| Found::exactly(holder));
            itself.or_else(|| first(Some((from, to)))).or_else(made)
        }
        (Some(own), None) => exact(own).or_else(|| first(None)),
        // Whatever an error says that is made by the constructor of a superclass.
        (None, _) => first(None).or_else(|| {
            let made = |spot: &&Spot| spot.deed == Deed::Super && gap.holds(spot.done);
            here().find(made).map(Found::exactly)
        }),
    };
    let near = || gap.own.or(gap.passed).or(gap.next).or(gap.body);
    found.or_else(|| near().map(|at| Found { at, deed: None }))
}

/// Whether what is done at a spot can fail with such a message.
fn can_say(spot: &Spot, message: &str, survey: &Survey) -> bool {
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    match &spot.deed {
        Deed::Read { .. } | Deed::Write(_) => says(&["cannot convert 'null' or 'undefined' to object"]),
        Deed::Call(..) => says(&["not a callable function"]),
        Deed::New | Deed::Super => says(&["not a constructor", "super constructor", "'this' binding"]),
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
        Deed::Throw(_) | Deed::Gather | Deed::Early(_) => false,
    }
}

#[cfg(test)]
mod tests;
