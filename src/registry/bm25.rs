//! The incremental BM25 index (spec 01 section 6.7).
//!
//! Documents belong to groups (documents of one id); a group is scored as one document whose term
//! counts are the sum and whose length is that of the document added last, while the number of
//! documents and the average length count all of them.
//!
//! Invariants: the state after any sequence of `add` and `remove` scores as an index built from
//! scratch over the same documents, bit for bit. `order` is the document's position; equal scores
//! keep the order in which groups were first touched, by query token and then by position.

use super::log::log;
use super::postings::Postings;
use super::tokens::{StopWords, for_each_token};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

/// Parameters of the formula and the words it ignores.
#[derive(Debug, Clone)]
pub struct Bm25Options {
    /// How fast repetitions of a term stop to matter. Default 1.2.
    pub k1: f64,
    /// How much long documents are held back, 0 to 1. Default 0.75.
    pub b: f64,
    /// Left out of documents and queries.
    pub stop_words: StopWords,
}

impl Default for Bm25Options {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75, stop_words: StopWords::default() }
    }
}

/// A group that matched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The group's key.
    pub key: u32,
    /// Its score as a share of the best one, so the first hit has 1.
    pub score: f64,
}

#[derive(Debug)]
struct Term {
    text: Rc<str>,
    postings: Postings,
    seen: Seen,
}

/// Where the text counted last has the term; spares a map per text.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    text: u64,
    at: usize,
}

#[derive(Debug, Clone, Copy)]
struct GroupTerm {
    term: u32,
    order: u32,
}

#[derive(Debug, Default)]
struct Group {
    key: u32,
    documents: u64,
    tokens: u64,
    terms: Vec<GroupTerm>,
}

/// Query-time numbers of a group, apart from the rest so that scoring walks dense memory.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    length: u32,
    /// The part of the denominator that does not depend on the term.
    norm: f64,
    score: f64,
    /// The query that wrote `score` last.
    query: u64,
}

/// The index. Keys and orders are the caller's; both identify, orders also sort.
#[derive(Debug, Default)]
pub struct Bm25 {
    options: Bm25Options,
    /// Keyed by words that others choose, so the hash is one that cannot be flooded.
    term_at: HashMap<Rc<str>, u32>,
    terms: Vec<Term>,
    free_terms: Vec<u32>,
    group_at: FxHashMap<u32, u32>,
    groups: Vec<Group>,
    weights: Vec<Weight>,
    free_groups: Vec<u32>,
    documents: u64,
    tokens: u64,
    norms_are_stale: bool,
    queries: u64,
    counted: u64,
}

impl Bm25 {
    /// An empty index.
    #[must_use]
    pub fn new(options: Bm25Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// How many documents the index holds.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.documents
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Adds a document to the group under `key`. No other group may use the same `order`.
    pub fn add(&mut self, key: u32, order: u32, text: &str) {
        let slot = self.slot(key);
        let (length, counts) = self.count(text);
        let group = &mut self.groups[slot as usize];
        // A second document of a group adds to the entries that the first one made.
        let known: HashMap<u32, u32> = group.terms.iter().map(|known| (known.term, known.order)).collect();
        for (term, tf) in counts {
            let at = known.get(&term).copied().unwrap_or_else(|| {
                group.terms.push(GroupTerm { term, order });
                order
            });
            self.terms[term as usize].postings.add(at, slot, tf);
        }
        group.documents += 1;
        group.tokens += u64::from(length);
        self.weights[slot as usize].length = length;
        self.documents += 1;
        self.tokens += u64::from(length);
        self.norms_are_stale = true;
    }

    /// Removes the group under `key` with all its documents.
    pub fn remove(&mut self, key: u32) {
        let Some(slot) = self.group_at.remove(&key) else { return };
        let group = std::mem::take(&mut self.groups[slot as usize]);
        for GroupTerm { term, order } in group.terms {
            let postings = &mut self.terms[term as usize].postings;
            postings.remove(order);
            if postings.live() == 0 {
                let text = std::mem::replace(&mut self.terms[term as usize].text, Rc::from(""));
                self.term_at.remove(&text);
                self.terms[term as usize].postings = Postings::default();
                self.free_terms.push(term);
            }
        }
        self.documents -= group.documents;
        self.tokens -= group.tokens;
        self.free_groups.push(slot);
        self.norms_are_stale = true;
    }

    /// The best groups, as many as `slice(0, limit)` would keep (see [`slice_end`]).
    pub fn query(&mut self, query: &str, limit: f64) -> Vec<Hit> {
        self.refresh_norms();
        self.queries += 1;
        let mut touched: Vec<u32> = Vec::new();
        let stop = std::mem::replace(&mut self.options.stop_words, StopWords::none());
        for_each_token(query, &stop, |token| self.score(token, &mut touched));
        self.options.stop_words = stop;
        let end = slice_end(touched.len(), limit);
        if end == 0 {
            return Vec::new();
        }
        let best = touched.iter().map(|&slot| self.weights[slot as usize].score).fold(f64::MIN, f64::max);
        let mut ranked: Vec<(f64, usize)> = touched
            .iter()
            .enumerate()
            .map(|(rank, &slot)| (self.weights[slot as usize].score / best, rank))
            .collect();
        let by_score = |a: &(f64, usize), b: &(f64, usize)| {
            b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
        };
        if end < ranked.len() {
            ranked.select_nth_unstable_by(end - 1, by_score);
            ranked.truncate(end);
        }
        ranked.sort_unstable_by(by_score);
        let hit = |(score, rank): (f64, usize)| Hit { key: self.groups[touched[rank] as usize].key, score };
        ranked.into_iter().map(hit).collect()
    }

    /// How many tokens a text has, and how often it has each term.
    fn count(&mut self, text: &str) -> (u32, Vec<(u32, u32)>) {
        self.counted += 1;
        let mut length = 0;
        let mut counts: Vec<(u32, u32)> = Vec::new();
        let stop = std::mem::replace(&mut self.options.stop_words, StopWords::none());
        for_each_token(text, &stop, |token| {
            length += 1;
            let term = self.term(token);
            let seen = &mut self.terms[term as usize].seen;
            if seen.text == self.counted {
                counts[seen.at].1 += 1;
            } else {
                *seen = Seen { text: self.counted, at: counts.len() };
                counts.push((term, 1));
            }
        });
        self.options.stop_words = stop;
        (length, counts)
    }

    fn score(&mut self, token: &str, touched: &mut Vec<u32>) {
        let Some(&term) = self.term_at.get(token) else { return };
        let postings = &self.terms[term as usize].postings;
        let idf = inverse_document_frequency(self.documents, postings.live());
        if idf <= 0.0 {
            return;
        }
        let gain = self.options.k1 + 1.0;
        for posting in postings.iter() {
            let weight = &mut self.weights[posting.slot as usize];
            let tf = f64::from(posting.tf);
            let part = idf * ((tf * gain) / (tf + weight.norm));
            if weight.query == self.queries {
                weight.score += part;
            } else {
                weight.query = self.queries;
                weight.score = part;
                touched.push(posting.slot);
            }
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    fn refresh_norms(&mut self) {
        if !self.norms_are_stale {
            return;
        }
        self.norms_are_stale = false;
        let average = if self.documents == 0 { 0.0 } else { self.tokens as f64 / self.documents as f64 };
        let Bm25Options { k1, b, .. } = self.options;
        for weight in &mut self.weights {
            weight.norm = k1 * (1.0 - b + (b * f64::from(weight.length)) / average.max(1.0));
        }
    }

    fn slot(&mut self, key: u32) -> u32 {
        if let Some(&slot) = self.group_at.get(&key) {
            return slot;
        }
        let group = Group { key, ..Group::default() };
        let slot = if let Some(slot) = self.free_groups.pop() {
            self.groups[slot as usize] = group;
            self.weights[slot as usize] = Weight::default();
            slot
        } else {
            self.groups.push(group);
            self.weights.push(Weight::default());
            index(self.groups.len() - 1)
        };
        self.group_at.insert(key, slot);
        slot
    }

    fn term(&mut self, token: &str) -> u32 {
        if let Some(&term) = self.term_at.get(token) {
            return term;
        }
        let text: Rc<str> = Rc::from(token);
        let new = Term { text: Rc::clone(&text), postings: Postings::default(), seen: Seen::default() };
        let term = if let Some(term) = self.free_terms.pop() {
            self.terms[term as usize] = new;
            term
        } else {
            self.terms.push(new);
            index(self.terms.len() - 1)
        };
        self.term_at.insert(text, term);
        term
    }
}

fn index(position: usize) -> u32 {
    u32::try_from(position).expect("fewer than 2^32 groups and terms fit into memory")
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn inverse_document_frequency(documents: u64, holding: usize) -> f64 {
    let (n, df) = (documents as f64, holding as f64);
    log((n - df + 0.5) / (df + 0.5) + 1.0).max(0.0)
}

/// How many items JavaScript's `slice(0, limit)` keeps of `length`: fractions are cut off, a
/// negative limit counts from the end, NaN is 0.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "lengths stay far below 2^53")]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=length before")]
pub fn slice_end(length: usize, limit: f64) -> usize {
    let limit = if limit.is_nan() { 0.0 } else { limit.trunc() };
    let end = if limit < 0.0 { length as f64 + limit } else { limit };
    end.clamp(0.0, length as f64) as usize
}

#[cfg(test)]
#[path = "bm25_tests.rs"]
mod tests;
