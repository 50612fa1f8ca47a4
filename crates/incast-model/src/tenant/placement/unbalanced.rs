//! Mappers at one end of the fabric, all others at the other: what they send crosses its core.

use crate::fabric::HostId;

/// Slots for VMs, by whether they are mappers, among those that are free, at least as many, in order: mappers get the first,
/// others the last, from the last one on down.
pub(in crate::tenant) fn unbalanced(free: &[HostId], mappers: &[bool]) -> Vec<HostId> {
    let (mut first, mut last) = (free.iter(), free.iter().rev());
    mappers.iter().filter_map(|&mapper| if mapper { first.next() } else { last.next() }).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_both_ends() {
        let free = [1, 2, 4, 6, 8, 9].map(HostId);
        let slots = unbalanced(&free, &[true, true, false, false, false]);
        assert_eq!(slots, [1, 2, 9, 8, 6].map(HostId));
    }
}
