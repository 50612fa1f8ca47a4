use crate::fabric::HostId;
use crate::rng::{Stream, pick};

/// Equally likely in choice and order (first steps of a Fisher-Yates shuffle).
pub(in crate::tenant) fn random(mut free: Vec<HostId>, vms: usize, rng: &mut Stream) -> Vec<HostId> {
    for chosen in 0..vms {
        let other = chosen + pick(rng, free.len() - chosen);
        free.swap(chosen, other);
    }
    free.truncate(vms);
    free
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rng::stream;

    #[test]
    fn all_choices_are_equally_likely() {
        let mut counts: BTreeMap<Vec<HostId>, u32> = BTreeMap::new();
        for seed in 0..12_000 {
            let free = [3, 5, 7, 9].map(HostId).to_vec();
            *counts.entry(random(free, 2, &mut stream(seed, "test", 0))).or_default() += 1;
        }
        // 12 outcomes of 1000 each, standard deviation 30.
        assert_eq!(counts.len(), 12);
        assert!(counts.values().all(|count| count.abs_diff(1000) < 150), "{counts:?}");
    }
}
