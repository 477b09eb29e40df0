//! The last resort of a search: which name or tag contains the query's very text (spec 01, 6.6).
//!
//! Names and tags of all documents, lower-cased, lie in one text, so that a scan of 100,000 tools is
//! one pass of a vectorised substring search. The text is put together when a scan needs it and
//! something changed since.

use memchr::memmem;
use std::collections::BTreeMap;

/// Stands between fields, so that no match spans two.
const SEPARATOR: char = '\0';

#[derive(Debug)]
struct Document {
    /// Where its fields end in the joined text.
    end: usize,
    key: u32,
    /// Which of the key's documents it is, from 0.
    nth: u32,
}

/// The searchable fields of all documents, in document order.
#[derive(Debug, Default)]
pub struct NameScan {
    /// Lower-cased fields by key, one entry a document. Keys sort like the documents.
    fields: BTreeMap<u32, Vec<Vec<Box<str>>>>,
    joined: String,
    documents: Vec<Document>,
    stale: bool,
}

impl NameScan {
    /// Adds a document under `key`, behind those the key has already.
    pub fn add<'a>(&mut self, key: u32, fields: impl IntoIterator<Item = &'a str>) {
        let lowered = fields.into_iter().map(|field| field.to_lowercase().into_boxed_str()).collect();
        self.fields.entry(key).or_default().push(lowered);
        self.stale = true;
    }

    /// Removes all documents under `key`.
    pub fn remove(&mut self, key: u32) {
        self.stale |= self.fields.remove(&key).is_some();
    }

    /// The first document of each key with a field that contains `needle`, as `(key, nth)` in
    /// document order, at most `limit` of them and none of the keys in `skip`.
    pub fn find(&mut self, needle: &str, skip: &[u32], limit: usize) -> Vec<(u32, u32)> {
        let needle = needle.to_lowercase();
        if needle.contains(SEPARATOR) {
            return self.find_slowly(&needle, skip, limit);
        }
        self.join();
        let finder = memmem::Finder::new(needle.as_bytes());
        let mut found: Vec<(u32, u32)> = Vec::new();
        let mut at = 0;
        while found.len() < limit {
            let Some(hit) = finder.find(&self.joined.as_bytes()[at..]) else { break };
            let position = at + hit;
            // A document owns the bytes before its end, its last separator included.
            let index = self.documents.partition_point(|document| document.end <= position);
            let Some(document) = self.documents.get(index) else { break };
            at = document.end;
            let known = found.last().is_some_and(|&(key, _)| key == document.key);
            if !known && !skip.contains(&document.key) {
                found.push((document.key, document.nth));
            }
        }
        found
    }

    fn find_slowly(&self, needle: &str, skip: &[u32], limit: usize) -> Vec<(u32, u32)> {
        let first = |documents: &[Vec<Box<str>>]| {
            documents.iter().position(|fields| fields.iter().any(|field| field.contains(needle)))
        };
        self.fields
            .iter()
            .filter(|(key, _)| !skip.contains(key))
            .filter_map(|(&key, documents)| first(documents).map(|nth| (key, position(nth))))
            .take(limit)
            .collect()
    }

    fn join(&mut self) {
        if !self.stale {
            return;
        }
        self.stale = false;
        self.joined.clear();
        self.documents.clear();
        for (&key, documents) in &self.fields {
            for (nth, fields) in documents.iter().enumerate() {
                for field in fields {
                    self.joined.push_str(field);
                    self.joined.push(SEPARATOR);
                }
                self.documents.push(Document { end: self.joined.len(), key, nth: position(nth) });
            }
        }
    }
}

fn position(nth: usize) -> u32 {
    u32::try_from(nth).expect("fewer than 2^32 documents fit into memory")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_names_and_tags_without_case() {
        let mut scan = NameScan::default();
        scan.add(7, ["Search_Issues", "LINEAR"]);
        scan.add(3, ["list_repos"]);
        scan.add(9, ["unique_tool_xyz"]);
        assert_eq!(scan.find("XYZ", &[], 5), [(9, 0)]);
        assert_eq!(scan.find("linear", &[], 5), [(7, 0)]);
        assert_eq!(scan.find(" xyz ", &[], 5), []);
        assert_eq!(scan.find("i", &[], 5), [(3, 0), (7, 0), (9, 0)]);
        assert_eq!(scan.find("i", &[3], 1), [(7, 0)]);
        scan.remove(7);
        assert_eq!(scan.find("i", &[], 5), [(3, 0), (9, 0)]);
    }

    #[test]
    fn no_match_spans_two_fields() {
        let mut scan = NameScan::default();
        scan.add(1, ["ab", "cd"]);
        scan.add(2, ["e\0f"]);
        assert_eq!(scan.find("bc", &[], 5), []);
        assert_eq!(scan.find("b\0c", &[], 5), []);
        assert_eq!(scan.find("e\0f", &[], 5), [(2, 0)]);
    }

    proptest! {
        /// The joined text answers as a loop over the fields does.
        #[test]
        fn equals_the_plain_loop(
            docs in proptest::collection::vec((0u32..8, proptest::collection::vec("[abA ]{0,4}", 0..3)), 0..20),
            needle in "[abA ]{1,3}",
            skip in proptest::collection::vec(0u32..8, 0..3),
            limit in 0usize..6,
        ) {
            let mut scan = NameScan::default();
            for (key, fields) in &docs {
                scan.add(*key, fields.iter().map(String::as_str));
            }
            let slow = scan.find_slowly(&needle.to_lowercase(), &skip, limit);
            prop_assert_eq!(scan.find(&needle, &skip, limit), slow);
        }
    }
}
