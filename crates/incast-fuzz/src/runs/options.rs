/// Overrides of scenarios; `{}` is a number. The order is that of the corpus: new ones go to the end.
pub(super) const OPTIONS: [&str; 72] = [
    "seed={}",
    "network.load_balancing=\"spray\"",
    "network.load_balancing={spray={order=\"round-robin\",acks=true}}",
    "network.load_balancing={flowlet={gap=\"{}00ns\"}}",
    "network.load_balancing={flowlet={gap=\"1us\",entries={}}}",
    "network.load_balancing={adaptive={samples={},memory=true}}",
    "network.routing=\"up-down\"",
    "network.hash=\"murmur3\"",
    "network.next_hop_order=\"neighbour-descending\"",
    "network.ttl={}",
    "network.reroute_after=\"{}us\"",
    "network.reroute_after=\"none\"",
    "network.hold_time={down=\"{}us\",up=\"2us\"}",
    "network.failure=[{random={links={}},at=\"3us\"}]",
    "network.failure=[{random={links=1},at=\"{}us\",until=\"1500us\"}]",
    "network.failure=[{random={links=1},at=\"1us\",until=\"9us\",times=3,every=\"{}us\"}]",
    "network.failure=[{random={links=2},at=\"2us\",silent=0.{}}]",
    "network.failure=[{switch=\"s0\",at=\"{}us\"}]",
    "network.pause=[{at=\"h0\",priority=3,from=\"{}us\"}]",
    "network.pause=[{at=\"h1\",priority=3,from=\"1us\",until=\"{}us\"}]",
    "switch.forwarding=\"cut-through\"",
    "switch.forwarding=\"cut-through-underrun\"",
    "switch.cut_through_header=\"{}B\"",
    "switch.queues={drop-tail={limit=\"{}kB\"}}",
    "switch.queues={pfabric={limit=\"{}kB\"}}",
    "switch.buffer=\"{}kB\"",
    "switch.buffer=\"{}00kB\"",
    "switch.cell=\"{}B\"",
    "switch.reserve=\"{}B\"",
    "switch.lossless=[]",
    "switch.lossless=[1,2,3,4,5,6,7]",
    "switch.lossless=[3,4,5]",
    "switch.pfc=false",
    "switch.pfc_mode={static={xoff=\"{}00B\"}}",
    "switch.pfc_mode={dynamic={alpha={}}}",
    "switch.pfc_mode={dynamic={alpha=0.0{}}}",
    "switch.resume_offset=\"{}00B\"",
    "switch.headroom=\"three-delays\"",
    "switch.headroom=\"{}00B\"",
    "switch.headroom={sonic={ }}",
    "switch.lossy_alpha=0.{}",
    "switch.scheduler=\"strict-priority\"",
    "switch.scheduler={drr={quanta=[1000,{},1000,1500,2000,1,700,9000]}}",
    "switch.scheduler={drr={quanta=[0,1000,1000,1000,1000,1000,1000,1000],strict=[7,6]}}",
    "switch={lossless=[3,4,5],tagging={enabled=true}}",
    "switch.tagging={enabled=true,paths=\"shortest\",queue_by=\"arriving-tag\"}",
    "switch.watchdog={enabled=true,detection=\"{}us\",restoration=\"9us\",poll=\"3us\"}",
    "switch.watchdog={enabled=true,detection=\"7us\",restoration=\"{}us\",poll=\"2us\",action=\"forward\"}",
    "switch.isolation={enabled=true,detection={counters={above=\"{}kB\"}}}",
    "switch.isolation={enabled=true,detection={marks={kmin=\"{}kB\"}},hosts=\"isolate\",mark=\"isolated\"}",
    "switch.isolation={enabled=true,table={},message_above=\"1kB\",hold=\"3us\",age=\"5us\",message_every=\"1us\"}",
    "ecn.enabled=false",
    "ecn={kmin=\"{}kB\",kmax=\"1000kB\",pmax=0.5}",
    "ecn={kmin=\"1kB\",kmax=\"{}kB\",pmax=1.0}",
    "ecn.mark_at=\"enqueue\"",
    "packets.payload=\"{}B\"",
    "packets.payload=\"4096B\"",
    "packets.gap=\"{}B\"",
    "host.nic_queue=\"port\"",
    "host.jitter=\"{}ns\"",
    "host.classes={by=\"size\",threshold=\"{}kB\"}",
    "host.classes={by=\"sent\",threshold=\"{}kB\"}",
    "rdma.ack_every={}",
    "rdma.ack_priority={}",
    "rdma.acks_ignore_pause=true",
    "rdma.recovery=\"selective-repeat\"",
    "rdma={recovery=\"selective-repeat\",reorder_window={},bdp_bound=false}",
    "rdma.rto=\"{}us\"",
    "rdma.rto=\"none\"",
    "rdma.cnp=\"packet\"",
    "rdma.window=\"{}kB\"",
    "simulation.arithmetic=\"ns3\"",
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use incast_lab::Loaded;

    use super::OPTIONS;

    const SCENARIO: &str = "[fabric.leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n[[workload]]\n\
                            permutation.size = \"1kB\"\n[scheme.S]\ncontrol = \"dcqcn\"\n";

    /// True if the option with some number gives a scenario that can run.
    fn works(option: &str) -> bool {
        [1, 3, 100, 1000].iter().any(|number| {
            let set = option.replace("{}", &number.to_string()).replace("\"s0\"", "\"leaf0\"");
            Loaded::from_text("s", SCENARIO, Path::new("."), &[set]).and_then(|loaded| loaded.prepare()).is_ok()
        })
    }

    #[test]
    fn every_option_can_be_used() {
        let refused: Vec<&str> = OPTIONS.into_iter().filter(|option| !works(option)).collect();
        assert!(refused.is_empty(), "{refused:#?}");
    }
}
