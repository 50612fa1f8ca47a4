use std::{path::Path, sync::Arc, ops::ControlFlow};
use incast_model::{ns3, units::*, fabric::*};
use incast_sim::{*, congestion::*, switch::*};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let dir = Path::new(&args[1]); let cc = &args[2];
    let exact = args.get(3).map(|s| s=="exact").unwrap_or(false);
    let fabric = Arc::new(ns3::read_topology(&dir.join("topology.txt")).unwrap().fabric().unwrap());
    let flows = Arc::new(ns3::read_flows(&dir.join("flow.txt"), &fabric, ns3::StartRounding::Reference).unwrap());
    let cfg = std::fs::read_to_string(dir.join(cc).join("config.txt")).unwrap();
    let buf: u64 = cfg.lines().find(|l| l.starts_with("BUFFER_SIZE")).unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
    let mut p = Params { arithmetic: if exact {Arithmetic::Exact} else {Arithmetic::Ns3}, ..Default::default() };
    if !exact {
        p.hash = incast_model::routing::EcmpHash::Murmur3;
        p.next_hop_order = incast_model::routing::NextHopOrder::NeighbourDescending;
        p.switch.headroom = Headroom::ThreeDelays;
        p.packets.pfc = Bytes(43);
        p.rdma.rto = None;
    }
    if args.get(4).map(|s| s=="fast").unwrap_or(false) { p.hash = incast_model::routing::EcmpHash::Murmur3;
        p.next_hop_order = incast_model::routing::NextHopOrder::NeighbourDescending; }
    p.switch.buffer = Bytes(buf << 20);
    if cfg.contains("ACK_HIGH_PRIO 1") && !exact { p.rdma.acks_ignore_pause = true; }
    let (control, window) = match cc.as_str() {
        "dcqcn" | "dcqcn_ackp0" => (Control::named("dcqcn","vendor").unwrap(), WindowMode::Off),
        "dcqcn_vwin" => (Control::named("dcqcn","vendor").unwrap(), WindowMode::Rate),
        "hp95ai50" => (Control::named("hpcc","reference").unwrap(), WindowMode::Rate),
        "hp99ai50" => (Control::named("hpcc","key-results").unwrap(), WindowMode::Rate),
        _ => panic!(),
    };
    let ntags = flows.tags.len();
    let setup = Setup { fabric: fabric.clone(), flows: flows.clone(), controls: vec![ControlSetup{control, window}], control_of_tag: vec![0; ntags], params: p };
    let t = std::time::Instant::now();
    let sim = Simulation::new(setup).unwrap();
    let t1 = std::time::Instant::now();
    let out = sim.run(&mut |_| ControlFlow::Continue(()));
    let w = t1.elapsed().as_secs_f64();
    println!("{cc}: setup {:.3}s run {:.3}s stop {:?} {:?} hops/s {:.2}M ev/hop {:.3} unbalanced {:?}", (t1-t).as_secs_f64(), w, out.stop, out.counts, out.counts.packet_hops() as f64/w/1e6, out.counts.events as f64/out.counts.packet_hops() as f64, out.ledger.unbalanced().collect::<Vec<_>>());
    let reference = ns3::read_fct(&dir.join(cc).join("fct.txt")).unwrap();
    let mut map = std::collections::HashMap::new();
    for (i, f) in flows.flows.iter().enumerate() { map.insert((fabric.hosts()[f.src.index()].0, fabric.hosts()[f.dst.index()].0, f.sport), i); }
    let (mut same, mut diff, mut worst) = (0, 0, 0i64); let mut shown = 0;
    for r in &reference {
        let i = map[&(r.src.0, r.dst.0, r.sport)];
        let mine = out.flows[i].finish.map(|t| (t.0 - out.flows[i].start.0) / 1000).unwrap_or(0) as i64;
        let theirs = r.fct.0 as i64 / 1000;
        if mine == theirs { same += 1 } else { diff += 1; worst = worst.max((mine - theirs).abs()); if shown < 5 { shown += 1; println!("  flow {i} size {} start {} theirs {theirs} mine {mine}", flows.flows[i].size, flows.flows[i].start) } }
        let below = out.flows[i].finish.map(|t| t.0 - out.flows[i].start.0 < out.flows[i].ideal_exact.0).unwrap_or(false);
        if below { println!("  BELOW ideal flow {i} {} {}", mine, out.flows[i].ideal_exact) }
    }
    println!("  same {same} different {diff} worst {worst} ns of {}", reference.len());
}
