use std::collections::HashMap;

use crate::fabric::HostId;
use crate::rng::{Stream, pick};

/// Equally likely in choice and order (first steps of a Fisher-Yates shuffle).
pub(in crate::tenant) fn random(free: &[HostId], vms: usize, rng: &mut Stream) -> Vec<HostId> {
    // Copying thousands of free slots for each of thousands of tenants would take minutes.
    let mut moved: HashMap<usize, HostId> = HashMap::new();
    let draw = |chosen: usize| {
        let other = chosen + pick(rng, free.len() - chosen);
        let at = |place: usize| moved.get(&place).copied().unwrap_or(free[place]);
        let (first, drawn) = (at(chosen), at(other));
        moved.insert(other, first);
        drawn
    };
    (0..vms).map(draw).collect()
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
            *counts.entry(random(&free, 2, &mut stream(seed, "test", 0))).or_default() += 1;
        }
        // 12 outcomes of 1000 each, standard deviation 30.
        assert_eq!(counts.len(), 12);
        assert!(counts.values().all(|count| count.abs_diff(1000) < 150), "{counts:?}");
    }
}
