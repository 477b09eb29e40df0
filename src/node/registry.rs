//! Door of `registry`: the search index as a class, and the helpers beside it.

use crate::registry::{Bm25, Bm25Options, NameScan, StopWords, tokenise};
use crate::value::canonical_json;
use napi::{Error, Result, Status};
use napi_derive::napi;

/// A BM25 index over documents that come and go, and the scan of their names.
#[napi]
#[derive(Default)]
pub struct SearchIndex {
    ranked: Bm25,
    names: NameScan,
}

#[napi]
impl SearchIndex {
    #[napi(constructor)]
    pub fn new(k1: Option<f64>, b: Option<f64>, stop_words: Option<Vec<String>>) -> Self {
        let defaults = Bm25Options::default();
        let options = Bm25Options {
            k1: k1.unwrap_or(defaults.k1),
            b: b.unwrap_or(defaults.b),
            stop_words: stop_words.map_or(defaults.stop_words, |words| words.iter().collect()),
        };
        Self { ranked: Bm25::new(options), names: NameScan::default() }
    }

    /// Adds a document to the group `key`; `order` is its position among all documents.
    #[napi(catch_unwind)]
    pub fn add(&mut self, key: u32, order: u32, text: String) {
        self.ranked.add(key, order, &text);
    }

    /// Adds a document at the position that is its group's key, with the fields that `find_names` looks
    /// through.
    #[napi(catch_unwind)]
    pub fn add_named(&mut self, key: u32, text: String, name: String, tags: Option<Vec<String>>) {
        self.ranked.add(key, key, &text);
        let tags = tags.unwrap_or_default();
        self.names.add(key, std::iter::once(name.as_str()).chain(tags.iter().map(String::as_str)));
    }

    /// Removes a group.
    #[napi(catch_unwind)]
    pub fn remove(&mut self, key: u32) {
        self.ranked.remove(key);
        self.names.remove(key);
    }

    /// Key and score of the best groups, alternating.
    #[napi(catch_unwind)]
    pub fn query(&mut self, query: String, limit: f64) -> Vec<f64> {
        let hits = self.ranked.query(&query, limit);
        hits.into_iter().flat_map(|hit| [f64::from(hit.key), hit.score]).collect()
    }

    /// Key and place within its group of documents whose name or tag holds the text, alternating.
    #[napi(catch_unwind)]
    pub fn find_names(&mut self, needle: String, skip: Vec<u32>, limit: u32) -> Vec<u32> {
        let found = self.names.find(&needle, &skip, limit as usize);
        found.into_iter().flat_map(|(key, nth)| [key, nth]).collect()
    }
}

/// The tokens of a text, without the default stop words or with all words.
#[napi(catch_unwind)]
pub fn tokenise_text(text: String, keep_stop_words: bool) -> Vec<String> {
    let stop = if keep_stop_words { StopWords::none() } else { StopWords::default() };
    tokenise(&text, &stop)
}

/// Canonical JSON of a JSON text.
#[napi(catch_unwind)]
pub fn canonical_json_text(json: String) -> Result<String> {
    let value = serde_json::from_str(&json)
        .map_err(|error| Error::new(Status::InvalidArg, format!("not JSON: {error}")))?;
    Ok(canonical_json(&value))
}
