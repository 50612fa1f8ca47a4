use std::fmt::Write as _;

use super::draw::Draw;

const ALGORITHMS: [&str; 4] = ["binomial_tree", "binary_tree", "recursive_doubling", "halving_doubling"];
/// Most flows of a list, and most ranks of a collective.
const MOST_FLOWS: u64 = 8;
const MOST_RANKS: u64 = 5;

/// Entry with the label `w` and its number.
pub(super) fn entry(draw: &mut Draw<'_>, number: u64, hosts: u64) -> String {
    let mut text = format!("[[workload]]\nlabel = \"w{number}\"\nstart = {}\n", draw.start());
    if draw.rarely(4) {
        let _ = writeln!(text, "priority = {}", draw.within(1, 7));
    }
    if draw.rarely(8) {
        text += "qps = 2\n";
    }
    if draw.rarely(8) {
        text += "end = \"60us\"\n";
    }
    text + &pattern(draw, hosts) + "\n"
}

fn pattern(draw: &mut Draw<'_>, hosts: u64) -> String {
    let (size, ranks) = (draw.size(), hosts.min(MOST_RANKS));
    match draw.within(0, 9) {
        0 => {
            let (fan_in, receiver) = (draw.within(1, hosts - 1), draw.within(0, hosts - 1));
            format!("incast = {{ fan_in = {fan_in}, size = {size}, receiver = {receiver} }}")
        }
        1 => {
            let flows: Vec<String> = (0..draw.within(1, MOST_FLOWS)).map(|_| flow(draw, hosts)).collect();
            format!("list = [{}]", flows.join(", "))
        }
        2 => format!("permutation.size = {size}"),
        3 => format!("all_to_all = {{ size = {size}, ranks.count = {ranks} }}"),
        4 => {
            let chunks = draw.within(1, 3);
            format!("ring_all_reduce = {{ size = {size}, chunks = {chunks}, ranks.count = {ranks} }}")
        }
        5 => {
            let algorithm = draw.one_of(&ALGORITHMS);
            format!("tree_all_reduce = {{ size = {size}, algorithm = \"{algorithm}\", ranks.count = 2 }}")
        }
        6 => format!("moe_all_to_all = {{ size = {size}, layers = 1, ranks.count = {ranks} }}"),
        7 => {
            let (response, requests) = (draw.size(), draw.within(1, 4));
            format!("request_response = {{ request = {size}, response = {response}, requests = {requests} }}")
        }
        8 => format!("shuffle = {{ size = {size}, mappers.count = 1, reducers.count = 1 }}"),
        _ => {
            let (load, sizes) = (draw.within(1, 9), "{ uniform = { min = \"1B\", max = \"50kB\" } }");
            format!("poisson = {{ load = 0.{load}, sizes = {sizes}, duration = \"20us\" }}")
        }
    }
}

fn flow(draw: &mut Draw<'_>, hosts: u64) -> String {
    let (src, hop) = (draw.within(0, hosts - 1), draw.within(1, hosts - 1));
    let (size, start, priority) = (draw.size(), draw.start(), draw.within(1, 7));
    let dst = (src + hop) % hosts;
    format!("{{ src = {src}, dst = {dst}, size = {size}, start = {start}, priority = {priority} }}")
}
