//! The natural logarithm as JavaScript computes it.
//!
//! Scores must equal those of a JavaScript index bit for bit. V8 uses fdlibm's `log`; the `libm`
//! crate descends from another branch of that family, which leaves out the special cases near 1 and
//! differs there in the last bit (ln 4/3), and the platform's differs in its own ways. The method and
//! the coefficients are Sun's (fdlibm `e_log.c`, "freely granted, provided that this notice is
//! preserved": Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved).

const LN2_HI: f64 = 6.931_471_803_691_238e-1;
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;
const LG: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_942e-1,
    2.857_142_874_366_239e-1,
    2.222_219_843_214_978_4e-1,
    1.818_357_216_161_805e-1,
    1.531_383_769_920_937_3e-1,
    1.479_819_860_511_658_6e-1,
];
/// The high word's fraction bits.
const FRACTION: i32 = 0x000f_ffff;

/// `Math.log(x)` for a finite `x` of at least the smallest normal number, which every argument here
/// is; the platform's logarithm for the rest.
#[allow(clippy::many_single_char_names, reason = "the names of the published method")]
pub(super) fn log(x: f64) -> f64 {
    if !x.is_normal() || x < 0.0 {
        return x.ln();
    }
    // x = 2^k * (1 + f) with sqrt(2)/2 < 1 + f < sqrt(2).
    let bits = x.to_bits();
    let high = i32::try_from(bits >> 32).expect("the sign bit is clear");
    let fraction = high & FRACTION;
    let carry = (fraction + 0x9_5f64) & 0x10_0000;
    let k = f64::from((high >> 20) - 1023 + (carry >> 20));
    let reduced = u64::try_from(fraction | (carry ^ 0x3ff0_0000)).expect("both parts are positive");
    let f = f64::from_bits((reduced << 32) | (bits & 0xffff_ffff)) - 1.0;

    if FRACTION & (2 + fraction) < 3 {
        return near_a_power_of_two(f, k);
    }
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (LG[1] + w * (LG[3] + w * LG[5]));
    let odd = z * (LG[0] + w * (LG[2] + w * (LG[4] + w * LG[6])));
    let r = odd + even;
    if ((fraction - 0x6_147a) | (0x6_b851 - fraction)) > 0 {
        let half = 0.5 * f * f;
        if k == 0.0 {
            f - (half - s * (half + r))
        } else {
            k * LN2_HI - ((half - (s * (half + r) + k * LN2_LO)) - f)
        }
    } else if k == 0.0 {
        f - s * (f - r)
    } else {
        k * LN2_HI - ((s * (f - r) - k * LN2_LO) - f)
    }
}

/// The case of `|f| < 2^-20`.
fn near_a_power_of_two(f: f64, k: f64) -> f64 {
    if f == 0.0 {
        return k * LN2_HI + k * LN2_LO;
    }
    let r = f * f * (0.5 - 0.333_333_333_333_333_3 * f);
    if k == 0.0 { f - r } else { k * LN2_HI - ((r - k * LN2_LO) - f) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What Node's `Math.log` returns, as bits; the first is where `libm` differs.
    #[test]
    fn equals_math_log() {
        let table: &[(u64, u64)] = &include!("log_vectors.in");
        for &(x, wanted) in table {
            let x = f64::from_bits(x);
            assert_eq!(log(x).to_bits(), wanted, "log({x:e})");
        }
    }

    proptest! {
        #[test]
        fn is_within_one_unit_of_the_platform(x in 1e-300f64..1e300) {
            let (ours, theirs) = (log(x), x.ln());
            prop_assert!((ours - theirs).abs() <= theirs.abs() * f64::EPSILON);
        }
    }
}
