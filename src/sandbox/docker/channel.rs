//! The answer channel inside the container's stdout.
//!
//! The wrapper writes its messages in chunks of at most 4096 bytes, the size a pipe takes whole, each
//! behind a mark that holds the run's secret. Everything between chunks is the code's own printing.
//! Invariants: the result does not depend on how the stream was split; a chunk is recognised by the
//! secret only; a message over the limit is an error and not a growing buffer.

/// Bytes of the secret, in hex.
pub const NONCE_LENGTH: usize = 32;
/// Mark byte, secret, kind, four hex digits of length.
const HEADER: usize = 1 + NONCE_LENGTH + 1 + 4;

/// A message was larger than the run allows.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageTooLarge;

/// Splits the stream into printing and messages.
#[derive(Debug)]
pub struct Channel {
    mark: Vec<u8>,
    finder: memchr::memmem::Finder<'static>,
    pending: Vec<u8>,
    message: Vec<u8>,
    limit: usize,
}

impl Channel {
    /// A channel for the run that was given this secret.
    #[must_use]
    pub fn new(nonce: &str, limit: usize) -> Self {
        let mark = [b"\x01".as_slice(), nonce.as_bytes()].concat();
        Self {
            finder: memchr::memmem::Finder::new(&mark).into_owned(),
            mark,
            pending: Vec::new(),
            message: Vec::new(),
            limit,
        }
    }

    /// Takes in a piece of the stream; appends printing to `printed`, answers with finished messages.
    ///
    /// # Errors
    /// When a message grows over the limit.
    pub fn push(&mut self, piece: &[u8], printed: &mut Vec<u8>) -> Result<Vec<Vec<u8>>, MessageTooLarge> {
        self.pending.extend_from_slice(piece);
        let mut done = Vec::new();
        let mut at = 0;
        loop {
            let rest = &self.pending[at..];
            let Some(found) = self.finder.find(rest) else {
                let keep = self.held_back(rest);
                printed.extend_from_slice(&rest[..rest.len() - keep]);
                at += rest.len() - keep;
                break;
            };
            printed.extend_from_slice(&rest[..found]);
            at += found;
            let rest = &rest[found..];
            if rest.len() < HEADER {
                break;
            }
            let Some((last, length)) = header(&rest[self.mark.len()..HEADER]) else {
                // The secret, printed by the code itself: not a chunk.
                printed.extend_from_slice(&rest[..self.mark.len()]);
                at += self.mark.len();
                continue;
            };
            if rest.len() < HEADER + length {
                break;
            }
            if self.message.len() + length > self.limit {
                return Err(MessageTooLarge);
            }
            self.message.extend_from_slice(&rest[HEADER..HEADER + length]);
            if last {
                done.push(std::mem::take(&mut self.message));
            }
            at += HEADER + length;
        }
        self.pending.drain(..at);
        Ok(done)
    }

    /// The end of the stream: what was held back was printing after all.
    pub fn finish(&mut self, printed: &mut Vec<u8>) {
        printed.append(&mut self.pending);
    }

    /// How many bytes at the end may be the beginning of a mark.
    fn held_back(&self, rest: &[u8]) -> usize {
        let longest = rest.len().min(self.mark.len() - 1);
        (1..=longest).rev().find(|&length| rest.ends_with(&self.mark[..length])).unwrap_or(0)
    }
}

fn header(bytes: &[u8]) -> Option<(bool, usize)> {
    let (kind, digits) = bytes.split_first()?;
    let length = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match kind {
        b'm' => Some((false, length)),
        b'e' => Some((true, length)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    fn chunk(kind: char, payload: &[u8]) -> Vec<u8> {
        let mut out = format!("\x01{NONCE}{kind}{:04x}", payload.len()).into_bytes();
        out.extend(payload);
        out
    }

    fn feed(stream: &[u8], cuts: &[usize], limit: usize) -> (Vec<u8>, Result<Vec<Vec<u8>>, MessageTooLarge>) {
        let mut channel = Channel::new(NONCE, limit);
        let (mut printed, mut messages, mut at) = (Vec::new(), Vec::new(), 0);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
        cuts.push(stream.len());
        cuts.sort_unstable();
        for cut in cuts {
            match channel.push(&stream[at..cut], &mut printed) {
                Ok(more) => messages.extend(more),
                Err(error) => return (printed, Err(error)),
            }
            at = cut;
        }
        channel.finish(&mut printed);
        (printed, Ok(messages))
    }

    #[test]
    fn every_split_gives_the_same() {
        let stream = [
            b"before\x01012".to_vec(),
            chunk('m', b"one "),
            b"between".to_vec(),
            chunk('e', b"message"),
            chunk('e', b""),
            b"after \x01".to_vec(),
        ]
        .concat();
        let expected = b"before\x01012betweenafter \x01".to_vec();
        for cut in 0..=stream.len() {
            let (printed, messages) = feed(&stream, &[cut], 100);
            assert_eq!(printed, expected, "cut at {cut}");
            assert_eq!(messages.unwrap(), [b"one message".to_vec(), Vec::new()]);
        }
    }

    #[test]
    fn a_message_over_the_limit_is_refused() {
        let stream = [chunk('m', b"12345"), chunk('e', b"6")].concat();
        assert_eq!(feed(&stream, &[], 5).1, Err(MessageTooLarge));
        assert!(feed(&stream, &[], 6).1.is_ok());
    }

    #[test]
    fn another_secret_is_printing() {
        let stream = chunk('e', b"forged")
            .iter()
            .map(|byte| if *byte == b'a' { b'b' } else { *byte })
            .collect::<Vec<u8>>();
        let (printed, messages) = feed(&stream, &[], 100);
        assert_eq!((printed, messages.unwrap().len()), (stream, 0));
    }

    proptest! {
        #[test]
        fn printing_and_messages_come_apart(
            parts in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..50)), 0..12),
            cuts in proptest::collection::vec(0usize..2000, 0..30),
        ) {
            let stream: Vec<u8> = parts.iter().flat_map(|(message, bytes)| if *message { chunk('e', bytes) } else { bytes.clone() }).collect();
            let (printed, messages) = feed(&stream, &cuts, 1000);
            let of = |wanted: bool| parts.iter().filter(|(message, _)| *message == wanted).map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>();
            prop_assert_eq!(printed, of(false).concat());
            prop_assert_eq!(messages.unwrap(), of(true));
        }
    }
}
