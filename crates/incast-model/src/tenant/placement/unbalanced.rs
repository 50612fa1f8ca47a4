use crate::fabric::HostId;

/// Mappers get the first free slots, others the last: traffic crosses the core.
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
