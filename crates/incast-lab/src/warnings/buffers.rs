//! Buffers that cannot hold the packets in flight.

use std::collections::HashMap;

use incast_model::fabric::{BaseRtts, Fabric, HostId, NodeId, PortId};
use incast_model::gates::never_start;
use incast_model::units::{Bytes, Time, ceil3};
use incast_sim::congestion::Control;
use incast_sim::switch::{Headroom, PortProfile, QueueParams};
use incast_sim::{BufferPlan, Carrier, Setup};

use super::thresholds::lossy_queue;
use crate::scenario::Prepared;
use crate::warning::{Warning, setting};

pub(super) fn found(prepared: &Prepared, setup: &Setup) -> Vec<Warning> {
    // A `profile` reproduces another simulator.
    let repeats = prepared.given.written(&["profile"]).is_some();
    let headroom = if repeats { None } else { small_headroom(&prepared.fabric, setup) };
    let lossy = no_packet_fits(&prepared.fabric, setup).or_else(|| burst(&prepared.fabric, setup));
    headroom.into_iter().chain(lossy).collect()
}

/// Headroom for fewer bytes than can arrive after XOFF.
fn small_headroom(fabric: &Fabric, setup: &Setup) -> Option<Warning> {
    let params = &setup.params;
    let of_rates = params.switch.by_rate.iter().any(|one| one.headroom.is_some());
    if params.switch.paused_priorities() == 0 || params.switch.headroom == Headroom::Computed && !of_rates {
        return None;
    }
    let largest = params.packets.largest(&setup.carriers);
    let mut computed = params.clone();
    computed.switch.headroom = Headroom::Computed;
    computed.switch.by_rate.clear();
    let both = |port: PortId| {
        let [given, needed] = [params, &computed].map(|params| BufferPlan::headroom_of(fabric, params, largest, port));
        (given, needed)
    };
    let ports = fabric.switches().flat_map(|switch| fabric.ports_of(switch).map(move |port| (port, both(port))));
    let (port, (given, needed)) = ports.max_by_key(|(_, (given, needed))| needed.saturating_sub(*given))?;
    (given < needed).then(|| {
        let profile = PortProfile::of(&params.switch.by_rate, fabric.rate(port), fabric.delay(port));
        let (field, advice) = match profile.and_then(|one| one.headroom) {
            Some(_) => ("switch.by_rate", format!("in the entry for {:#} {}", fabric.rate(port), setting("headroom", Bytes(needed)))),
            None => ("switch.headroom", setting("headroom", "computed")),
        };
        let text = format!(
            "{:#} can arrive at a port of {} after XOFF, but its headroom is {:#}: lossless packets can be dropped; write {advice}",
            Bytes(needed),
            fabric.node(fabric.port(port).node).name,
            Bytes(given),
        );
        Warning::new(field, text)
    })
}

/// A lossy queue of a shared buffer that has no space for one packet.
fn no_packet_fits(fabric: &Fabric, setup: &Setup) -> Option<Warning> {
    let params = &setup.params;
    let lossy = !params.switch.paused_priorities();
    if params.switch.queues != QueueParams::Shared
        || !setup.flows.flows.iter().any(|flow| lossy & 1 << flow.priority != 0)
    {
        return None;
    }
    let largest = params.packets.largest(&setup.carriers);
    let plans =
        fabric.switches().filter_map(|switch| Some((switch, BufferPlan::new(fabric, params, largest, switch).ok()?)));
    let (switch, plan) = plans.min_by_key(|(_, plan)| plan.shared)?;
    let limit = (params.switch.lossy_alpha * plan.shared as f64) as u64;
    (limit < largest).then(|| {
        let text = format!(
            "a lossy queue of {} has space for lossy_alpha times the free buffer, at most {:#}, and a packet has up to {:#}: {} \
             dropped; write {}",
            fabric.node(switch).name,
            Bytes(limit),
            Bytes(largest),
            if params.switch.reserve.0 < largest { "all are" } else { "those that have to wait are" },
            setting("buffer", buffer_for(largest, setup, &plan))
        );
        Warning::new("switch.buffer", text)
    })
}

struct Burst {
    to: HostId,
    flows: usize,
    bytes: u64,
    /// Bytes that the receiver's port cannot have sent by then.
    queue: u64,
}

/// Lossy flows to one host that together send more before feedback arrives than the port's queue holds.
fn burst(fabric: &Fabric, setup: &Setup) -> Option<Warning> {
    let params = &setup.params;
    let largest = bursts(fabric, setup).into_iter().max_by_key(|burst| (burst.queue, burst.to))?;
    let port = last_port(fabric, largest.to)?;
    let switch = fabric.port(port).node;
    let (limit, advice) = match params.switch.queues {
        QueueParams::Shared => {
            let plan = BufferPlan::new(fabric, params, params.packets.largest(&setup.carriers), switch).ok()?;
            (lossy_queue(&params.switch, &plan), setting("buffer", buffer_for(largest.queue, setup, &plan)))
        }
        QueueParams::DropTail { limit } => (limit.0, setting("queues.drop-tail.limit", Bytes(ceil3(largest.queue)))),
        QueueParams::Pfabric { .. } => return None, // drops are part of it
    };
    (largest.queue > limit).then(|| {
        let text = format!(
            "{} lossy flows to {} start within a base RTT and send {:#} before feedback arrives, but the queue of {} holds at most \
             {:#}: packets are dropped; for the first round trip alone write {advice}",
            largest.flows,
            fabric.node(fabric.hosts()[largest.to.index()]).name,
            Bytes(largest.bytes),
            fabric.node(switch).name,
            Bytes(limit)
        );
        Warning::new(if params.switch.queues == QueueParams::Shared { "switch.buffer" } else { "switch.queues" }, text)
    })
}

/// Buffer in which a lossy queue can hold so many bytes.
fn buffer_for(queue: u64, setup: &Setup, plan: &BufferPlan) -> Bytes {
    let alpha = setup.params.switch.lossy_alpha;
    Bytes(ceil3(plan.headroom + (queue as f64 * (1.0 + alpha) / alpha) as u64 + 1))
}

/// Port towards a host with one link to a switch.
fn last_port(fabric: &Fabric, host: HostId) -> Option<PortId> {
    let node: NodeId = fabric.hosts()[host.index()];
    let mut ports = fabric.ports_of(node);
    let port = fabric.port(ports.next()?).peer;
    let switch = fabric.switches().any(|switch| switch == fabric.port(port).node);
    (ports.len() == 0 && switch && fabric.servers().is_empty()).then_some(port)
}

/// Largest burst to each host.
fn bursts(fabric: &Fabric, setup: &Setup) -> Vec<Burst> {
    let params = &setup.params;
    let lossy = !params.switch.paused_priorities();
    // Swift may start with a smaller window.
    let bursty = |carrier: &Carrier| matches!(carrier, Carrier::Rdma(index) if !matches!(setup.controls[*index].control, Control::Swift(_)));
    let bursty: Vec<bool> = setup.carriers.iter().map(bursty).collect();
    let flows = &setup.flows.flows;
    if !flows.iter().any(|flow| bursty[usize::from(flow.label)] && lossy & 1 << flow.priority != 0) {
        return Vec::new();
    }
    let waits = never_start(&setup.flows.gates, |_| true, vec![false; flows.len()]);
    let rtts = BaseRtts::new(fabric, params.packets.payload);
    let mut arrivals: HashMap<HostId, Vec<(Time, Time, u64)>> = HashMap::new();
    for (flow, _) in flows
        .iter()
        .zip(waits)
        .filter(|(flow, waits)| !waits && bursty[usize::from(flow.label)] && lossy & 1 << flow.priority != 0)
    {
        let pair = rtts.pair(flow.src, flow.dst);
        arrivals.entry(flow.dst).or_default().push((flow.start, pair.base_rtt, flow.size.0.min(pair.bdp().0)));
    }
    arrivals.into_iter().filter_map(|(to, all)| largest_burst(fabric, to, &all)).collect()
}

/// `all`: starts, base RTTs and first bytes, by start.
fn largest_burst(fabric: &Fabric, to: HostId, all: &[(Time, Time, u64)]) -> Option<Burst> {
    let rate = fabric.rate(last_port(fabric, to)?);
    let (mut first, mut bytes, mut largest) = (0, 0, None::<Burst>);
    for (last, &(start, rtt, sent)) in all.iter().enumerate() {
        bytes += sent;
        while start.saturating_sub(all[first].0) >= rtt.max(Time(1)) {
            bytes -= all[first].2;
            first += 1;
        }
        // The port sends during the round trip in which the bytes arrive.
        let drained = u128::from(rate.0) * u128::from(rtt.0) / 8_000_000_000_000;
        let queue = bytes.saturating_sub(u64::try_from(drained).unwrap_or(u64::MAX));
        if largest.as_ref().is_none_or(|known| queue > known.queue) {
            largest = Some(Burst { to, flows: last + 1 - first, bytes, queue });
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;

    fn of(field: &str, text: &str) -> Option<String> {
        let fabric = "[fabric.star]\nhosts = 33\n";
        let flows = "[[workload]]\nincast = { fan_in = 32, size = \"1MB\", receiver = 0 }\n";
        let all = found(&format!("{fabric}{flows}[scheme.A]\ncontrol = \"dcqcn\"\n{text}"));
        all.into_iter().find(|one| one.starts_with(field))
    }

    #[test]
    fn headroom_below_the_bytes_in_flight() {
        let headroom = |value: &str| of("switch.headroom", &format!("[switch]\nheadroom = {value}\n"));
        // 2·100 Gb/s·1 us = 25,000 B, 3 packets of 1090 B, a pause frame of 64 B.
        let said = "switch.headroom: 28.334 kB can arrive at a port of s0 after XOFF, but its headroom is 20 kB: lossless packets \
                    can be dropped; write `headroom = \"computed\"`";
        assert_eq!(headroom("{ bytes = \"20kB\" }").as_deref(), Some(said));
        assert_eq!(headroom("{ bytes = \"28334B\" }"), None);
        assert_eq!(headroom("\"three-delays\""), None, "37.5 kB");
        assert_eq!(headroom("\"computed\""), None);
        let by_rate = |headroom: &str| {
            let entry = format!("by_rate = [{{ rate = \"100Gbps\", headroom = \"{headroom}\" }}]");
            of("switch.by_rate", &format!("[switch]\nheadroom.bytes = \"1MB\"\n{entry}\n"))
        };
        let said = "lossless packets can be dropped; write in the entry for 100 Gb/s `headroom = \"28.334kB\"`";
        assert!(by_rate("20kB").unwrap().ends_with(said), "{:?}", by_rate("20kB"));
        assert_eq!(by_rate("28334B"), None);
        let text = of("switch.headroom", "[switch]\npfc = false\nheadroom.bytes = \"1kB\"\n").unwrap();
        assert!(text.contains("has no effect"), "{text}");
    }

    #[test]
    fn a_lossy_queue_without_space_for_a_packet() {
        let lossy = |text: &str| of("switch.buffer", &format!("[switch]\npfc = false\nlossy_alpha = 0.2\n{text}\n"));
        let said = |drops: &str| {
            format!(
                "switch.buffer: a lossy queue of s0 has space for lossy_alpha times the free buffer, at most 800 B, and a packet \
                 has up to 1.09 kB: {drops} dropped; write `buffer = \"6.55kB\"`"
            )
        };
        assert_eq!(lossy("buffer = \"4kB\"\nreserve = \"0B\""), Some(said("all are")));
        // The 33 ports have reserves of 135,168 B; 4 kB are left.
        let text = lossy("buffer = \"139168B\"").unwrap();
        assert!(text.contains("those that have to wait are dropped"), "{text}");
    }

    #[test]
    fn a_lossy_incast_larger_than_the_queue() {
        let lossy = |buffer: &str| of("switch.buffer", &format!("[switch]\npfc = false\nbuffer = \"{buffer}\"\n"));
        let text = lossy("1MB").unwrap();
        // Base RTT 4.16 us: 52 kB at 100 Gb/s from each of 32.
        let said = "32 lossy flows to h0 start within a base RTT and send 1.664 MB before feedback arrives, but the queue of s0 holds \
                    at most 500 kB: packets are dropped; for the first round trip alone write `buffer = \"";
        assert!(text.contains(said), "{text}");
        let advised = text.rsplit_once("buffer = \"").unwrap().1.trim_end_matches("\"`");
        assert_eq!(lossy(advised), None, "{advised}");
        assert_eq!(lossy("32MiB"), None);
        assert_eq!(of("switch.buffer", "[switch]\nbuffer = \"8MB\"\n"), None, "lossless");
        let tail = |limit: &str| of("switch.queues", &format!("[switch]\nqueues.drop-tail.limit = \"{limit}\"\n"));
        let text = tail("500kB").unwrap();
        // Less 52 kB that the port sends meanwhile.
        assert!(text.ends_with("write `queues.drop-tail.limit = \"1.62MB\"`"), "{text}");
        assert_eq!(tail("1.62MB"), None);
    }
}
