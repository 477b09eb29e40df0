//! The fuzz targets' bodies on pseudo-random input, for toolchains without libFuzzer.
//!
//! Inputs mix random bytes with the words each target cares about. `FERRULE_FUZZ_SECONDS` runs each
//! body for that long instead of a fixed number of rounds.
#![cfg(unix)]

use std::time::{Duration, Instant};

#[path = "../fuzz/bodies/results.rs"]
mod results;

const ROUNDS: u32 = 1_500;

const WORDS: &[&[u8]] = &[
    b"ignore ",
    b"all ",
    b"the ",
    b"previous ",
    b"instructions",
    b"new ",
    b"prompt",
    b":",
    b"you are ",
    b"now ",
    b"a ",
    b"<invoke",
    b">",
    b"<<<",
    b">>>",
    b"/",
    b"untrusted_content",
    b"\"",
    b"\n",
    b"\r\n",
    b" ",
    b"..",
    b".",
    b"\\",
    b".meta",
    b".json",
    b".txt",
    b"CON",
    b"~",
    b"\xF0\x9F\xA6\x8A",
    b"\xC3\xA9",
    b"\xED\xA0\xBD",
    b"\xE2\x80\x8B",
    b"\xF3\xA0\x81\xA1",
    b"\xF0\x9F\x8F\xB4",
    b"\xE2\x80\x8D",
    b"\xEF\xB8\x8F",
    b"\xE2\x80\xA8",
];

/// xorshift64*: repeatable, and good enough to choose words.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap_or(0) % bound
    }

    fn input(&mut self) -> Vec<u8> {
        let mut data = Vec::new();
        for _ in 0..self.below(60) {
            if self.below(3) == 0 {
                data.push(self.next().to_le_bytes()[7]);
            } else {
                data.extend_from_slice(WORDS[self.below(WORDS.len())]);
            }
        }
        data
    }
}

fn drive(name: &str, seed: u64, body: fn(&[u8])) {
    let seconds: Option<u64> = std::env::var("FERRULE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut random = Random(seed);
    let mut round = 0;
    while until.map_or(round < ROUNDS, |until| Instant::now() < until) {
        round += 1;
        let input = random.input();
        let outcome = std::panic::catch_unwind(|| body(&input));
        assert!(outcome.is_ok(), "{name} fails on {input:?} (round {round})");
    }
}

#[test]
fn cutter() {
    drive("cutter", 0x9E37_79B9, results::cutter);
}

#[test]
fn scanner() {
    drive("scanner", 0x7F4A_7C15, results::scanner);
}

#[test]
fn handle_uri() {
    drive("handle_uri", 0xBF58_476D, results::handle_uri);
}

#[test]
fn reader_range() {
    drive("reader_range", 0x94D0_49BB, results::reader_range);
}

#[test]
fn sidecar() {
    drive("sidecar", 0x1331_11EB, results::sidecar);
}
