//! Long texts in parts, each looked at by a thread of its own.

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// Units that are worth a thread.
const PART: usize = 1024 * 1024;
/// More threads than this would take a small machine away from everybody else.
const MAX_PARTS: usize = 4;

/// Calls `work` for ranges that cover a text of so many units, and gives its results in their order.
/// A short text is one range, and no thread is started for it.
pub fn in_parts<R: Send>(len: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let most = (len / PART).min(MAX_PARTS);
    let parts = if most < 2 { 1 } else { most.min(thread::available_parallelism().map_or(1, usize::from)) };
    let range = move |part: usize| part * len / parts..(part + 1) * len / parts;
    thread::scope(|scope| {
        let work = &work;
        let start = |part| thread::Builder::new().spawn_scoped(scope, move || work(range(part)));
        let others: Vec<_> = (1..parts).map(|part| (part, start(part))).collect();
        let first = work(range(0));
        let rest = others.into_iter().map(|(part, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // No thread to be had: it takes longer, that is all.
            Err(_) => work(range(part)),
        });
        std::iter::once(first).chain(rest).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_the_text_in_order() {
        for len in [0, 1, PART, 2 * PART, 7 * PART + 3] {
            let ranges = in_parts(len, |range| range);
            assert!(ranges.len() <= (len / PART).max(1));
            let end = ranges.iter().fold(0, |at, range| {
                assert_eq!(range.start, at);
                range.end
            });
            assert_eq!(end, len);
        }
    }
}
