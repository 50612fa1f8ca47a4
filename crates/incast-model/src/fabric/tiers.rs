/// Hops from the nearest host; 0 if no host reaches the node.
pub(crate) fn tiers(is_host: &[bool], links: impl Iterator<Item = (usize, usize)>) -> Vec<u8> {
    let mut neighbours = vec![Vec::new(); is_host.len()];
    for (a, b) in links {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut tier = vec![0u8; is_host.len()];
    let mut seen = is_host.to_vec();
    let mut frontier: Vec<usize> = (0..is_host.len()).filter(|&node| is_host[node]).collect();
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for node in frontier {
            for &neighbour in &neighbours[node] {
                if !std::mem::replace(&mut seen[neighbour], true) {
                    tier[neighbour] = tier[node].saturating_add(1);
                    next.push(neighbour);
                }
            }
        }
        frontier = next;
    }
    tier
}

#[cfg(test)]
mod tests {
    #[test]
    fn tiers_are_hops_from_the_nearest_host() {
        let links = [(0, 2), (1, 3), (2, 4), (3, 4)];
        assert_eq!(super::tiers(&[true, true, false, false, false], links.into_iter()), [0, 0, 1, 1, 2]);
    }
}
