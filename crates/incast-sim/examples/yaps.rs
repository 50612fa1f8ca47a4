#[path = "../tests/clos144/main.rs"]
#[allow(dead_code)]
mod clos;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (name, profile, file) = (&args[1], &args[2], &args[3]);
    let seed: u64 = args.get(4).map_or(1, |s| s.parse().unwrap());
    let text = std::fs::read_to_string(file).unwrap();
    let mut flows = Vec::new();
    let mut reference = Vec::new();
    for line in text.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        let start: f64 = f[1].parse::<f64>().unwrap() - 1.0;
        flows.push((
            f[3].parse::<u32>().unwrap(),
            f[4].parse::<u32>().unwrap(),
            f[2].parse::<u64>().unwrap(),
            (start * 1e12).round() as u64,
        ));
        reference.push((f[5].parse::<f64>().unwrap(), f[6].parse::<f64>().unwrap()));
    }
    let set = clos::flow_set(&flows);
    let transport = clos::named(name, profile);
    let params = incast_sim::Params { seed, ..clos::params(&transport) };
    let begin = std::time::Instant::now();
    let outcome = clos::run(40, set, transport, params);
    let wall = begin.elapsed().as_secs_f64();
    let mut ours = Vec::new();
    for (record, (fct, ideal)) in outcome.flows.iter().zip(&reference) {
        let us = record.fct().unwrap().0 as f64 * 1e-6;
        assert!((record.ideal_exact.0 as f64 * 1e-6 - ideal).abs() < 2e-3, "{} {}", record.ideal_exact.0, ideal);
        ours.push((us / ideal, fct / ideal, flows[ours.len()].2));
    }
    let stat = |from: u64, to: u64| {
        let mut a: Vec<f64> = ours.iter().filter(|o| o.2 >= from && o.2 < to).map(|o| o.0).collect();
        let mut b: Vec<f64> = ours.iter().filter(|o| o.2 >= from && o.2 < to).map(|o| o.1).collect();
        a.sort_by(f64::total_cmp);
        b.sort_by(f64::total_cmp);
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let q = |v: &[f64], p: f64| v[(p * v.len() as f64) as usize];
        println!(
            "  n {:5} mean {:.4} {:.4} ({:+.2}%) p50 {:.4} {:.4} ({:+.2}%) p99 {:.3} {:.3} ({:+.2}%)",
            a.len(),
            mean(&a),
            mean(&b),
            100.0 * (mean(&a) / mean(&b) - 1.0),
            q(&a, 0.5),
            q(&b, 0.5),
            100.0 * (q(&a, 0.5) / q(&b, 0.5) - 1.0),
            q(&a, 0.99),
            q(&b, 0.99),
            100.0 * (q(&a, 0.99) / q(&b, 0.99) - 1.0)
        );
    };
    println!(
        "{name} {profile} seed {seed}: {:.1} M hops in {wall:.2} s = {:.2} M/s; drops {} retransmitted {} discarded {} timeouts {} events/hop {:.2}",
        outcome.counts.packet_hops() as f64 * 1e-6,
        outcome.counts.packet_hops() as f64 * 1e-6 / wall,
        outcome.counts.drops,
        outcome.flows.iter().map(|f| f.retransmitted).sum::<u64>(),
        outcome.flows.iter().map(|f| f.discarded).sum::<u32>(),
        outcome.flows.iter().map(|f| f.timeouts).sum::<u32>(),
        outcome.counts.events as f64 / outcome.counts.packet_hops() as f64
    );
    stat(0, u64::MAX);
    stat(0, 102_400);
    stat(102_400, 10 << 20);
    stat(10 << 20, u64::MAX);
}
