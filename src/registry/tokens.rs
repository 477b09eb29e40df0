//! Words of a text, as the lexical search sees them (spec 01 section 6.7).
//!
//! A token is a maximal run of `[a-z0-9_]` in the lower-cased text. Lower-casing is Unicode's, which
//! matters only where it leads into ASCII: U+0130 starts with `i`, U+212A is `k`. Tokens are
//! therefore always ASCII.

use rustc_hash::FxHashSet;

/// The words that carry no meaning in a search, unless the caller brings a set of his own.
pub const DEFAULT_STOP_WORDS: [&str; 27] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "have", "in", "is", "it",
    "its", "of", "on", "or", "that", "the", "to", "was", "were", "will", "with",
];

/// A set of words to leave out.
#[derive(Debug, Clone)]
pub struct StopWords(FxHashSet<Box<str>>);

impl Default for StopWords {
    fn default() -> Self {
        DEFAULT_STOP_WORDS.into_iter().collect()
    }
}

impl<S: AsRef<str>> FromIterator<S> for StopWords {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        Self(words.into_iter().map(|word| word.as_ref().into()).collect())
    }
}

impl StopWords {
    /// No words at all.
    #[must_use]
    pub fn none() -> Self {
        Self(FxHashSet::default())
    }

    /// Whether a token is left out.
    #[must_use]
    pub fn contains(&self, token: &str) -> bool {
        self.0.contains(token)
    }
}

/// Calls `each` with every token that is not a stop word, in order, repetitions included.
pub(super) fn for_each_token(text: &str, stop: &StopWords, mut each: impl FnMut(&str)) {
    let lowered = text.to_lowercase();
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    // Splitting by bytes is safe: every byte of a multi-byte character is above 0x7F.
    let bytes = lowered.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && is_word(bytes[at]) {
            at += 1;
        }
        let token = &lowered[start..at];
        if !stop.contains(token) {
            each(token);
        }
    }
}

/// The tokens of a text that are not stop words, in order, repetitions included.
#[must_use]
pub fn tokenise(text: &str, stop: &StopWords) -> Vec<String> {
    let mut tokens = Vec::new();
    for_each_token(text, stop, |token| tokens.push(token.to_owned()));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The tokeniser vector of section 12.
    #[test]
    fn the_vector() {
        let text = "The Quick-brown_fox, 42! search_issues weather.lookup café naïve İstanbul \u{212A}";
        assert_eq!(
            tokenise(text, &StopWords::default()).join(", "),
            "quick, brown_fox, 42, search_issues, weather, lookup, caf, na, ve, i, stanbul, k"
        );
        assert_eq!(tokenise("this not you", &StopWords::default()).len(), 3);
        assert_eq!(tokenise("the of", &StopWords::none()), ["the", "of"]);
        assert!(tokenise("", &StopWords::default()).is_empty());
    }

    #[test]
    fn a_set_of_ones_own_replaces_the_default() {
        let stop: StopWords = ["fox"].into_iter().collect();
        assert_eq!(tokenise("the fox the", &stop), ["the", "the"]);
    }

    proptest! {
        #[test]
        fn tokens_are_words_of_the_lowered_text(text in "\\PC*") {
            let lowered = text.to_lowercase();
            for token in tokenise(&text, &StopWords::none()) {
                prop_assert!(!token.is_empty() && lowered.contains(&token));
                prop_assert!(token.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
            }
        }
    }
}
