//! Guarantee Partitioning: divides a VM's hose into guarantees of its pairs (ElasticSwitch, SIGCOMM 2013, section 4.1).
//!
//! The paper's rule for messages is not available. Ours (docs/design/tenants.md), Charny's advertised rates, converges to
//! max-min shares.

/// Bounds of a pair at one end, in bit/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Want {
    /// Infinite if packets wait for the limiter.
    pub(crate) demand: f64,
    /// The other end's; infinite before its first message.
    pub(crate) offer: f64,
}

/// In bit/s.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Share {
    pub(crate) share: f64,
    /// Share without the other end's bound.
    pub(crate) offer: f64,
}

/// A demand counts at least `floor` of an equal part, so that a waking pair can show demand.
pub(crate) fn partition(hose: f64, floor: f64, wants: &[Want]) -> Vec<Share> {
    let least = floor * hose / wants.len() as f64;
    let caps: Vec<f64> = wants.iter().map(|want| want.demand.max(least).min(want.offer)).collect();
    let mut sorted = caps.clone();
    sorted.sort_by(f64::total_cmp);
    let level = level(hose, &sorted);
    let asked: f64 = caps.iter().sum();
    let spread = if asked < hose && asked > 0.0 { hose / asked } else { 1.0 };
    caps.iter().map(|&cap| Share { share: cap.min(level) * spread, offer: level_without(hose, &sorted, cap) }).collect()
}

/// Level to which `hose` fills sorted caps; infinite if all fit.
fn level(hose: f64, sorted: &[f64]) -> f64 {
    let mut left = hose;
    for (place, &cap) in sorted.iter().enumerate() {
        let equal = left / (sorted.len() - place) as f64;
        if cap > equal {
            return equal;
        }
        left -= cap;
    }
    f64::INFINITY
}

/// Without its own cap, one of `sorted`.
fn level_without(hose: f64, sorted: &[f64], own: f64) -> f64 {
    let mut left = hose;
    let mut passed = false;
    let mut others = sorted.len();
    for &cap in sorted {
        if !passed && cap == own {
            passed = true;
            continue;
        }
        let equal = left / others as f64;
        if cap > equal {
            return equal;
        }
        left -= cap;
        others -= 1;
    }
    left / others as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONE: f64 = f64::INFINITY;

    fn shares(hose: f64, demands: &[f64]) -> Vec<f64> {
        let wants: Vec<Want> = demands.iter().map(|&demand| Want { demand, offer: NONE }).collect();
        partition(hose, 0.0, &wants).iter().map(|one| one.share).collect()
    }

    #[test]
    fn a_bounded_pair_leaves_the_rest_to_the_others() {
        assert_eq!(shares(450.0, &[100.0, NONE, NONE]), [100.0, 175.0, 175.0]);
        assert_eq!(shares(450.0, &[NONE]), [450.0]);
        // All bounded: proportional shares of the rest.
        assert_eq!(shares(450.0, &[100.0, 200.0]), [150.0, 300.0]);
        assert_eq!(shares(450.0, &[300.0, 300.0]), [225.0, 225.0]);
    }

    #[test]
    fn a_floor_lets_a_pair_show_its_demand() {
        let idle = Want { demand: 0.0, offer: NONE };
        let busy = Want { demand: NONE, offer: NONE };
        let [one, other] = partition(400.0, 0.25, &[idle, busy])[..] else { unreachable!() };
        assert_eq!((one.share, other.share), (50.0, 350.0));
        assert_eq!((one.offer, other.offer), (200.0, 350.0));
    }

    /// Both ends of backlogged pairs; guarantees, and true if the last round changed none.
    fn settle(hoses: &[f64], pairs: &[(usize, usize)], rounds: usize) -> (Vec<f64>, bool) {
        let ends = |vm: usize, sends: bool| -> Vec<usize> {
            (0..pairs.len()).filter(|&at| vm == if sends { pairs[at].0 } else { pairs[at].1 }).collect()
        };
        let mut offers = [vec![NONE; pairs.len()], vec![NONE; pairs.len()]];
        let (mut shares, mut before) = ([vec![0.0; pairs.len()], vec![0.0; pairs.len()]], Vec::new());
        let mut settled = false;
        for _ in 0..rounds {
            for (side, sends) in [(0, true), (1, false)] {
                let mut said = offers[side].clone();
                for (vm, &hose) in hoses.iter().enumerate() {
                    let mine = ends(vm, sends);
                    let wants: Vec<Want> =
                        mine.iter().map(|&at| Want { demand: NONE, offer: offers[1 - side][at] }).collect();
                    for (&at, share) in mine.iter().zip(partition(hose, 0.25, &wants)) {
                        (shares[side][at], said[at]) = (share.share, share.offer);
                    }
                }
                offers[side] = said;
            }
            let now: Vec<f64> = (0..pairs.len()).map(|at| shares[0][at].min(shares[1][at])).collect();
            let same = |before: &Vec<f64>| before.iter().zip(&now).all(|(a, b)| (a - b).abs() <= 1e-3 * b);
            settled = !before.is_empty() && same(&before);
            before = now;
        }
        (before, settled)
    }

    fn max_min(hoses: &[f64], pairs: &[(usize, usize)]) -> Vec<f64> {
        let mut rates = vec![0.0; pairs.len()];
        let mut free: Vec<bool> = vec![true; pairs.len()];
        while free.contains(&true) {
            let mut step = (NONE, 0, true);
            for (vm, &hose) in hoses.iter().enumerate() {
                for sends in [true, false] {
                    let of = |at: &usize| vm == if sends { pairs[*at].0 } else { pairs[*at].1 };
                    let used: f64 = (0..pairs.len()).filter(of).filter(|&at| !free[at]).map(|at| rates[at]).sum();
                    let count = (0..pairs.len()).filter(of).filter(|&at| free[at]).count();
                    if count > 0 && (hose - used) / (count as f64) < step.0 {
                        step = ((hose - used) / count as f64, vm, sends);
                    }
                }
            }
            for (at, pair) in pairs.iter().enumerate() {
                if free[at] && step.1 == if step.2 { pair.0 } else { pair.1 } {
                    (free[at], rates[at]) = (false, step.0);
                }
            }
        }
        rates
    }

    #[test]
    fn a_receiver_gives_to_others_what_a_sender_cannot_use() {
        let pairs: Vec<(usize, usize)> = (2..12).map(|to| (0, to)).chain([(1, 2)]).collect();
        let (settled, done) = settle(&[450.0; 12], &pairs, 60);
        assert!(done);
        assert!((settled[0] - 45.0).abs() < 1e-6 && (settled[10] - 405.0).abs() < 1e-6, "{settled:?}");
    }

    proptest! {
        #[test]
        fn both_ends_settle_at_max_min(
            hoses in prop::collection::vec(50.0..1000.0f64, 2..10),
            drawn in prop::collection::hash_set((0usize..10, 0usize..10), 1..25),
        ) {
            let mut pairs: Vec<(usize, usize)> =
                drawn.into_iter().filter(|(from, to)| from != to && *from.max(to) < hoses.len()).collect();
            pairs.sort_unstable();
            prop_assume!(!pairs.is_empty());
            let (found, settled) = settle(&hoses, &pairs, 60);
            prop_assert!(settled, "{:?}", found);
            for (a, b) in found.iter().zip(max_min(&hoses, &pairs)) {
                prop_assert!((a - b).abs() <= 0.01 * b, "{} instead of {}", a, b);
            }
        }

        #[test]
        fn no_hose_is_exceeded(
            hose in 1.0..1000.0f64,
            wants in prop::collection::vec((0.0..2000.0f64, 0.1..2000.0f64), 1..40),
        ) {
            let wants: Vec<Want> = wants.into_iter().map(|(demand, offer)| Want { demand, offer }).collect();
            let total: f64 = partition(hose, 0.25, &wants).iter().map(|one| one.share).sum();
            prop_assert!(total <= hose * (1.0 + 1e-9));
        }
    }
}
