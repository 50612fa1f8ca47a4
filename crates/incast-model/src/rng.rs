//! Random streams by seed, purpose and actor: no actor's draws affect another's.

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// Generator: PCG, XSL-RR, 128-bit state (O'Neill, HMC-CS-2014-0905).
pub type Stream = Pcg64Mcg;

/// Stream of an actor, equal on every machine.
pub fn stream(seed: u64, purpose: &str, actor: u64) -> Stream {
    let mut state = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
    for byte in purpose.bytes() {
        state = mix(state ^ u64::from(byte));
    }
    state = mix(state ^ mix(actor));
    Stream::seed_from_u64(state)
}

/// A number from `low` to `high`, each as likely.
pub fn uniform(rng: &mut impl rand::Rng, low: u64, high: u64) -> u64 {
    low + ((u128::from(rng.next_u64()) * (u128::from(high - low) + 1)) >> 64) as u64
}

/// SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014): a bijection that spreads every input bit.
pub const fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Uniform in [0, 1), from the top 53 bits of a draw.
pub fn unit(rng: &mut impl rand::Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Uniform index below `n`.
pub fn pick(rng: &mut Stream, n: usize) -> usize {
    (unit(rng) * n as f64) as usize
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn streams_differ_by_seed_purpose_and_actor() {
        let first = |seed, purpose, actor| stream(seed, purpose, actor).next_u64();
        let base = first(1, "ecn", 0);
        assert_eq!(base, first(1, "ecn", 0));
        assert!([first(2, "ecn", 0), first(1, "arrivals", 0), first(1, "ecn", 1)].iter().all(|&x| x != base));
    }
}
