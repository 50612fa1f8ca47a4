use super::draw::Draw;

/// Section of a small fabric, and its number of hosts.
pub(super) fn fabric(draw: &mut Draw<'_>) -> (String, u64) {
    let (host, other, delay) = (draw.rate(), draw.rate(), draw.delay());
    let (name, shape, rates, hosts) = match draw.within(0, 8) {
        0 => {
            let hosts = draw.within(2, 8);
            ("star", format!("hosts = {hosts}"), format!("rate = {host}"), hosts)
        }
        1 => {
            let (left, right) = (draw.within(1, 4), draw.within(1, 4));
            let shape = format!("left = {left}\nright = {right}");
            ("dumbbell", shape, format!("host_rate = {host}\nbottleneck_rate = {other}"), left + right)
        }
        2 => {
            let [leaves, spines, each] = [2, 1, 1].map(|least| draw.within(least, 3));
            let shape = format!("leaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {each}");
            ("leaf_spine", shape, format!("host_rate = {host}\nuplink_rate = {other}"), leaves * each)
        }
        3 => ("fat_tree", "k = 4".into(), format!("host_rate = {host}\nfabric_rate = {other}"), 16),
        4 => {
            let shape = "switches = 5\nports = 4\nnetwork_ports = 2".into();
            ("jellyfish", shape, format!("host_rate = {host}\nfabric_rate = {other}"), 10)
        }
        5 => ("bcube", "n = 2\nk = 2".into(), format!("rate = {host}"), 8),
        6 => {
            let rates = format!("host_rate = {host}\nlocal_rate = {other}");
            ("dragonfly", "p = 1\na = 2\nh = 1".into(), rates, 6)
        }
        7 => {
            let shape = format!("servers = 3\ngpus_per_server = 2\nspines = {}", draw.within(1, 2));
            ("rail_optimized", shape, format!("nic_rate = {host}\nuplink_rate = {other}"), 6)
        }
        _ => return (ring(&host, &delay), 4),
    };
    (format!("[fabric.{name}]\n{shape}\n{rates}\ndelay = {delay}\n"), hosts)
}

/// Four switches in a ring, which can deadlock, with a host each.
fn ring(rate: &str, delay: &str) -> String {
    let link = |a: &str, b: &str| format!("{{ a = \"{a}\", b = \"{b}\", rate = {rate}, delay = {delay} }}");
    let hosts = (0..4).map(|at| link(&format!("h{at}"), &format!("s{at}")));
    let ring = (0..4).map(|at| link(&format!("s{at}"), &format!("s{}", (at + 1) % 4)));
    let links: Vec<String> = hosts.chain(ring).collect();
    let switches = "switches = [\"s0\", \"s1\", \"s2\", \"s3\"]";
    format!("[fabric.custom]\nhosts = 4\n{switches}\nlinks = [{}]\n", links.join(", "))
}
