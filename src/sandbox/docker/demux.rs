//! The engine's log format: frames of an 8-byte header and a payload, for logs fetched whole.
//!
//! Anything that is not that format (a container with a terminal, a stand-in's plain text) is stdout
//! as it is. A last frame that was cut keeps what is there.

/// The two streams, as bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// Type 1, or everything when there are no frames.
    pub stdout: Vec<u8>,
    /// Type 2.
    pub stderr: Vec<u8>,
}

const HEADER: usize = 8;

/// Takes the frames apart.
#[must_use]
pub fn demultiplex(log: &[u8]) -> Streams {
    let mut streams = Streams::default();
    let mut rest = log;
    if rest.len() < HEADER {
        return Streams { stdout: log.to_vec(), stderr: Vec::new() };
    }
    while !rest.is_empty() {
        let Some((header, payload)) = rest.split_first_chunk::<HEADER>() else {
            // A header that was cut: nothing of its frame is there.
            break;
        };
        let [kind @ 0..=2, 0, 0, 0, length @ ..] = *header else {
            return Streams { stdout: log.to_vec(), stderr: Vec::new() };
        };
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        let (frame, after) = payload.split_at(length.min(payload.len()));
        match kind {
            1 => streams.stdout.extend_from_slice(frame),
            2 => streams.stderr.extend_from_slice(frame),
            _ => {}
        }
        rest = after;
    }
    streams
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = vec![kind, 0, 0, 0];
        out.extend(u32::try_from(payload.len()).unwrap().to_be_bytes());
        out.extend(payload);
        out
    }

    #[test]
    fn interleaved_and_empty_frames() {
        let log = [frame(1, b"a"), frame(2, b"x"), frame(1, b""), frame(0, b"in"), frame(1, b"b")].concat();
        let streams = demultiplex(&log);
        assert_eq!((streams.stdout.as_slice(), streams.stderr.as_slice()), (&b"ab"[..], &b"x"[..]));
    }

    #[test]
    fn plain_text_stays_whole() {
        for text in ["", "42", "{\"a\":1}", "long enough to be no header"] {
            assert_eq!(demultiplex(text.as_bytes()).stdout, text.as_bytes());
        }
        // A bad header anywhere makes everything plain.
        let log = [frame(1, b"abc"), b"no header at all".to_vec()].concat();
        assert_eq!(demultiplex(&log).stdout, log);
    }

    #[test]
    fn a_cut_frame_keeps_what_is_there() {
        let mut log = frame(1, b"whole");
        log.extend(&frame(1, b"cut short")[..HEADER + 3]);
        assert_eq!(demultiplex(&log).stdout, b"wholecut");
    }

    proptest! {
        #[test]
        fn any_sequence_of_frames_comes_back(frames in proptest::collection::vec((0u8..3, proptest::collection::vec(any::<u8>(), 0..40)), 1..20)) {
            let log: Vec<u8> = frames.iter().flat_map(|(kind, payload)| frame(*kind, payload)).collect();
            let of = |wanted: u8| frames.iter().filter(|(kind, _)| *kind == wanted).flat_map(|(_, payload)| payload.clone()).collect::<Vec<u8>>();
            let streams = demultiplex(&log);
            prop_assert_eq!(streams.stdout, of(1));
            prop_assert_eq!(streams.stderr, of(2));
        }

        #[test]
        fn never_panics(log in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = demultiplex(&log);
        }
    }
}
