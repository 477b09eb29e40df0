//! Which documents hold a term, in document order, cheap to append to and to remove from.
//!
//! Invariants: entries are sorted by `order`, one entry a group; a removed entry stays as a tombstone
//! (`tf == 0`) until tombstones outnumber the living, so that removing costs a binary search and not
//! a move of everything behind; `live` counts entries that are no tombstones.

/// One document group that holds the term.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    /// Position of the group's first document that holds the term.
    pub order: u32,
    /// The group's slot.
    pub slot: u32,
    /// How often the term occurs in the group; 0 marks a tombstone.
    pub tf: u32,
}

/// Tombstones below this number are not worth a sweep.
const SWEEP_FLOOR: usize = 16;

/// The groups that hold one term.
#[derive(Debug, Default)]
pub(super) struct Postings {
    entries: Vec<Posting>,
    live: usize,
}

impl Postings {
    /// How many groups hold the term.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// The living entries, in document order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Posting> + '_ {
        self.entries.iter().filter(|entry| entry.tf > 0).copied()
    }

    /// Adds `tf` occurrences to the entry at `order`, which comes to be if need be.
    pub(super) fn add(&mut self, order: u32, slot: u32, tf: u32) {
        if self.entries.last().is_none_or(|last| last.order < order) {
            self.entries.push(Posting { order, slot, tf });
            self.live += 1;
            return;
        }
        match self.entries.binary_search_by_key(&order, |entry| entry.order) {
            Ok(at) => {
                let entry = &mut self.entries[at];
                if entry.tf == 0 {
                    self.live += 1;
                }
                entry.slot = slot;
                entry.tf += tf;
            }
            Err(at) => {
                self.entries.insert(at, Posting { order, slot, tf });
                self.live += 1;
            }
        }
    }

    /// Removes the entry at `order`.
    pub(super) fn remove(&mut self, order: u32) {
        let Ok(at) = self.entries.binary_search_by_key(&order, |entry| entry.order) else { return };
        if self.entries[at].tf == 0 {
            return;
        }
        self.entries[at].tf = 0;
        self.live -= 1;
        let dead = self.entries.len() - self.live;
        if dead > SWEEP_FLOOR && dead > self.live {
            self.entries.retain(|entry| entry.tf > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Any sequence of adds and removals leaves what a plain map would hold.
        #[test]
        fn behaves_like_a_map(steps in proptest::collection::vec((any::<bool>(), 0u32..60), 0..300)) {
            let mut postings = Postings::default();
            let mut model = BTreeMap::new();
            for (add, order) in steps {
                if add {
                    postings.add(order, order * 2, 1);
                    *model.entry(order).or_insert(0) += 1;
                } else {
                    postings.remove(order);
                    model.remove(&order);
                }
                prop_assert_eq!(postings.live(), model.len());
                prop_assert!(postings.entries.len() <= model.len() * 2 + SWEEP_FLOOR + 1);
            }
            let found: Vec<_> = postings.iter().map(|p| (p.order, p.tf)).collect();
            prop_assert_eq!(found, model.into_iter().collect::<Vec<_>>());
        }
    }
}
