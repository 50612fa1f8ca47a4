//! scratch
use std::time::Instant;
use incast_deadlock::{Wiring, elp::*, tagging::*, rules::*};
use incast_model::fabric::generators::Jellyfish;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: u32 = args[1].parse().unwrap();
    let k: u32 = args[2].parse().unwrap();
    let seed: u64 = args[3].parse().unwrap();
    let t = Instant::now();
    let fabric = Jellyfish { seed, ..Jellyfish::new(n, k, k / 2) }.build().unwrap();
    let wiring = Wiring::new(&fabric);
    eprintln!("fabric {:?}", t.elapsed());
    for (name, choice, roots, order, injection) in [
        ("A", Choice::Random, Roots::Host, Order::Random(1), Injection::Shared),
        ("A'", Choice::FirstFound, Roots::Host, Order::Random(1), Injection::Shared),
    ] {
        let elp = Elp::Shortest(ShortestPaths { choice, roots, seed: 1, within_switch: false });
        let t = Instant::now();
        let hops = elp.hops(&wiring).unwrap();
        let a = t.elapsed();
        let placement = Greedy { order, injection }.place(&hops).unwrap();
        let b = t.elapsed();
        let tr = placement.transitions();
        let rules = placement.rules();
        let c = t.elapsed();
        println!("{name}: hops {} tags {} {}", hops.layers().len(), rules.tags(), placement.tags());
        for counting in [Counting::Each, Counting::InputSets, Counting::OutputSets, Counting::ChangingInputSets] {
            let (x, y) = (tr.count(counting), rules.transitions().count(counting));
            println!("   {counting:?} none {}/{} min {}/{}", x.total, x.most, y.total, y.most);
        }
        println!("   time hops {a:?} greedy {:?} rules {:?} count {:?}", b - a, c - b, t.elapsed() - c);
    }
}
