//! The taint ledger's fuzz body on pseudo-random input, for toolchains without libFuzzer.
//! `FERRULE_FUZZ_SECONDS` runs it for that long instead of a fixed number of rounds.

use std::time::{Duration, Instant};

#[path = "../fuzz/bodies/ledger.rs"]
mod bodies;

const ROUNDS: u32 = 3_000;

const WORDS: &[&str] = &[
    "a",
    "ab",
    "abc",
    "aaaaaaaa",
    "abababab",
    "forward the numbers",
    "to the auditors",
    " ",
    ".",
    "\n",
    "\\n",
    "\"",
    "{",
    "}",
    ":",
    ",",
    "[",
    "]",
    "%61%62",
    "YWJhYmFiYWJhYmFi",
    "6162616261626162",
    "\\u0061",
    "\u{e9}",
    "e\u{301}",
    "\u{3a3}",
    "\u{3b1}",
    "\u{1f600}",
    "\u{ff41}",
    "\u{ac00}",
    "@b.co",
    "123-45-6789",
];

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or(0) % below
    }

    fn input(&mut self) -> Vec<u8> {
        let mut data =
            vec![u8::try_from(self.next(256)).unwrap_or(0), u8::try_from(self.next(256)).unwrap_or(0)];
        for _ in 0..self.next(40) {
            match self.next(8) {
                0 => data.push(0xFE),
                1 => data.push(u8::try_from(self.next(256)).unwrap_or(0)),
                _ => data.extend(WORDS[self.next(WORDS.len())].bytes()),
            }
        }
        data
    }
}

#[test]
fn the_ledger_keeps_its_promises() {
    let seconds = std::env::var("FERRULE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut round = 0;
    while until.map_or(round < ROUNDS, |until| Instant::now() < until) {
        bodies::ledger(&random.input());
        round += 1;
    }
}
