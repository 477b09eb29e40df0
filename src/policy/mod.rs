//! Argument policy: all of it is in the face (`js/policy`), on purpose.
//!
//! A rule holds a JavaScript predicate that gets the caller's own facts object, so the walk over the
//! rules happens in JavaScript whatever else does. What would be left for Rust is one comparison of
//! two short strings and of two small numbers a rule, and a crossing costs more than that.
