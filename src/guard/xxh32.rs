//! `XXH32`, the 32-bit xxHash. Fast, not collision resistant.

const P1: u32 = 0x9E37_79B1;
const P2: u32 = 0x85EB_CA77;
const P3: u32 = 0xC2B2_AE3D;
const P4: u32 = 0x27D4_EB2F;
const P5: u32 = 0x1656_67B1;

fn round(lane: u32, word: u32) -> u32 {
    lane.wrapping_add(word.wrapping_mul(P2)).rotate_left(13).wrapping_mul(P1)
}

/// Hashes `input`. The length enters modulo 2^32, as the algorithm has it.
#[must_use]
pub fn xxh32(input: &[u8], seed: u32) -> u32 {
    let (blocks, rest) = input.as_chunks::<16>();
    let mut hash = if blocks.is_empty() {
        seed.wrapping_add(P5)
    } else {
        let (mut a, mut b) = (seed.wrapping_add(P1).wrapping_add(P2), seed.wrapping_add(P2));
        let (mut c, mut d) = (seed, seed.wrapping_sub(P1));
        // Lane by lane rather than in an inner loop, which takes a development build three times as long.
        for block in blocks {
            let &[a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3] = block;
            a = round(a, u32::from_le_bytes([a0, a1, a2, a3]));
            b = round(b, u32::from_le_bytes([b0, b1, b2, b3]));
            c = round(c, u32::from_le_bytes([c0, c1, c2, c3]));
            d = round(d, u32::from_le_bytes([d0, d1, d2, d3]));
        }
        a.rotate_left(1)
            .wrapping_add(b.rotate_left(7))
            .wrapping_add(c.rotate_left(12))
            .wrapping_add(d.rotate_left(18))
    };
    #[allow(clippy::cast_possible_truncation, reason = "modulo 2^32 is the definition")]
    let length = input.len() as u32;
    hash = hash.wrapping_add(length);
    let (words, bytes) = rest.as_chunks::<4>();
    for word in words {
        hash = hash.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(P3)).rotate_left(17).wrapping_mul(P4);
    }
    for &byte in bytes {
        hash = hash.wrapping_add(u32::from(byte).wrapping_mul(P5)).rotate_left(11).wrapping_mul(P1);
    }
    hash = (hash ^ (hash >> 15)).wrapping_mul(P2);
    hash = (hash ^ (hash >> 13)).wrapping_mul(P3);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors() {
        for (input, seed, expected) in [
            (&b""[..], 0, 0x02cc_5d05_u32),
            (b"", 1, 0x0b2c_b792),
            (b"a", 0, 0x550d_7456),
            (b"abc", 0, 0x32d1_53ff),
            (b"hello", 0, 0xfb00_77f9),
            (b"Nobody inspects the spammish repetition", 0, 0xe229_3b2f),
            ("é😀".as_bytes(), 0, 0x89d4_69a0),
            (&[0, 1, 0xff], 0, 0x49fa_a516),
            (b"a", u32::MAX, 0xcd42_752d),
        ] {
            assert_eq!(xxh32(input, seed), expected, "{input:?} {seed}");
        }
        assert_eq!(xxh32(&[b'x'; 10_000], 0), 0xb8fd_2e58);
    }
}
