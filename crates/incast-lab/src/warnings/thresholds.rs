//! Thresholds of queues that contradict each other or the buffer.

use incast_model::fabric::{Fabric, NodeId, PortId};
use incast_model::units::{Bytes, Rate, ceil3, floor3};
use incast_sim::congestion::Input;
use incast_sim::switch::{FlowDetection, PfcMode, QueueParams, SwitchParams};
use incast_sim::{BufferPlan, Carrier, Setup};

use super::{kmin, scaled};
use crate::thresholds::is_physical;
use crate::warning::{Warning, setting};

/// `chosen`: the scenario has its own lossless priorities.
pub(super) fn found(fabric: &Fabric, setup: &Setup, chosen: bool) -> Vec<Warning> {
    let resumes = never_resumes_early(fabric, setup).or_else(|| empty_after_pauses(fabric, setup));
    [ecn(fabric, setup), isolation(fabric, setup), resumes, not_lossless(setup, chosen)].into_iter().flatten().collect()
}

/// Ports of switches outside servers, with the plan of their buffer.
fn ports(fabric: &Fabric, setup: &Setup) -> Vec<(NodeId, PortId, BufferPlan)> {
    let largest = setup.params.packets.largest(&setup.carriers);
    let of_switch = |switch: NodeId| {
        let plan = BufferPlan::new(fabric, &setup.params, largest, switch).ok()?;
        Some(fabric.ports_of(switch).map(move |port| (switch, port, plan)))
    };
    fabric.switches().filter(|&switch| is_physical(fabric, switch)).filter_map(of_switch).flatten().collect()
}

/// Priorities of flows that `counts`, as bits.
fn priorities(setup: &Setup, counts: impl Fn(&Carrier) -> bool) -> u8 {
    let counts: Vec<bool> = setup.carriers.iter().map(counts).collect();
    let flows = setup.flows.flows.iter().filter(|flow| counts[usize::from(flow.label)]);
    flows.fold(0, |mask, flow| mask | 1 << flow.priority)
}

/// Kmax over Kmin (the HPCC evaluation's 400 and 100 kB).
const KMIN_PART: u64 = 4;

/// A threshold of the bandwidth-delay product over this keeps the link busy (DCTCP, SIGCOMM 2010, section 3.4).
const FULL_LINK: u64 = 7;

/// Packets that a queue must hold at least for thresholds to be of use (our choice): Kmin is a quarter.
const SMALL: u64 = 8;

struct Marking {
    switch: NodeId,
    rate: Rate,
    kmin: u64,
    /// Largest queue of a flow that reads marks.
    most: u64,
    /// Queue of a single sender that PFC pauses.
    xoff: Option<u64>,
}

impl Marking {
    /// At most half of a queue that drops packets (our choice).
    fn useful(&self) -> u64 {
        self.xoff.unwrap_or(self.most / 2)
    }
}

/// Kmin above the largest queue, or above the XOFF threshold of a single sender that fills a port.
fn ecn(fabric: &Fabric, setup: &Setup) -> Option<Warning> {
    let params = &setup.params;
    let hypervisors = params.hypervisor.as_ref().is_some_and(|one| one.ecn().is_some());
    let readers = priorities(setup, |carrier| match *carrier {
        _ if hypervisors => true,
        Carrier::Rdma(index) => !setup.controls[index].control.ignores(Input::Marks),
        Carrier::Transport(index) => setup.transports[index].ecn().is_some(),
    });
    if !params.ecn.enabled || readers == 0 {
        return None;
    }
    let lossless = readers & params.switch.paused_priorities() != 0;
    let marking = |(switch, port, plan): (NodeId, PortId, BufferPlan)| {
        let rate = fabric.rate(port);
        let most = match params.switch.queues {
            QueueParams::Shared if lossless => plan.headroom + plan.reserved + plan.shared,
            QueueParams::Shared => lossy_queue(&params.switch, &plan),
            QueueParams::DropTail { limit } | QueueParams::Pfabric { limit } => limit.0,
        };
        let xoff = lossless.then(|| params.switch.reserve.0 + plan.lone_xoff(fabric, params, rate));
        Marking { switch, rate, kmin: kmin(&params.ecn, rate), most, xoff }
    };
    let all: Vec<Marking> = ports(fabric, setup).into_iter().map(marking).collect();
    let never = |one: &&Marking| one.kmin >= one.most;
    let late = |one: &&Marking| one.xoff.is_some_and(|xoff| one.kmin > xoff);
    let worst = all.iter().find(never).or_else(|| all.iter().find(late))?;
    let step = params.ecn.kmin == params.ecn.kmax;
    let exact = |rate: Rate| params.ecn.by_rate.iter().any(|one| one.rate == rate);
    let packet = params.packets.largest(&setup.carriers);
    // Written thresholds apply to all ports of the rate, or of all rates.
    let same = |one: &&Marking| if exact(worst.rate) { one.rate == worst.rate } else { !exact(one.rate) };
    let smallest = all.iter().filter(same).map(Marking::useful).min()?;
    let (rtt, _) = params.longest_rtt(fabric, params.packets.payload);
    let idle = |one: &Marking| one.rate.time_for(one.useful() / KMIN_PART * FULL_LINK) < rtt;
    let advice = if smallest < SMALL * packet {
        format!("thresholds below would be a packet or less: enlarge `{}`", limit(&params.switch.queues))
    } else if all.iter().filter(same).any(idle) {
        format!(
            "thresholds below would be less than a seventh of the bandwidth-delay product, and links would run empty: \
             enlarge `{}`",
            limit(&params.switch.queues)
        )
    } else if exact(worst.rate) {
        format!("for {:#} in ecn.by_rate, write {}", worst.rate, thresholds(smallest, step))
    } else {
        let of_port = |one: &Marking| scaled(one.useful(), params.ecn.per_rate, one.rate);
        format!("write {}", thresholds(all.iter().filter(same).map(of_port).min()?, step))
    };
    let name = &fabric.node(worst.switch).name;
    let what = match worst.xoff {
        Some(xoff) if !never(&worst) => {
            format!("but PFC pauses a single sender at {:#}: PFC acts before ECN", Bytes(xoff))
        }
        _ => format!("but its queue holds at most {:#}: it never marks", Bytes(worst.most)),
    };
    Some(Warning::new("ecn.kmin", format!("Kmin of a port of {name} is {:#}, {what}; {advice}", Bytes(worst.kmin))))
}

/// Isolation that begins above the XOFF threshold of a single sender, at every port.
fn isolation(fabric: &Fabric, setup: &Setup) -> Option<Warning> {
    let params = &setup.params;
    let one = &params.switch.isolation;
    if !one.enabled || params.switch.paused_priorities() == 0 {
        return None;
    }
    let (first, names) = match one.detection {
        FlowDetection::Marks { kmin, .. } => (kmin, ["kmin", "kmax"]),
        FlowDetection::Counters { above, .. } => (above, ["above"; 2]),
    };
    let meant = Rate::gbps(100);
    let of_port = |(switch, port, plan): (NodeId, PortId, BufferPlan)| {
        let rate = fabric.rate(port);
        let xoff = params.switch.reserve.0 + plan.lone_xoff(fabric, params, rate);
        (scaled(xoff, meant, rate), scaled(first.0, rate, meant), xoff, switch)
    };
    let all: Vec<_> = ports(fabric, setup).into_iter().map(of_port).collect();
    let &(useful, from, xoff, switch) = all.iter().min()?;
    let never = all.iter().all(|&(_, from, xoff, _)| from > xoff);
    never.then(|| {
        let detection = if names[0] == names[1] { "counters" } else { "marks" };
        let [low, high] = [useful / KMIN_PART, useful].map(|bytes| Bytes(floor3(bytes)));
        let advice = match names {
            ["above", _] => setting(names[0], high),
            _ => format!("{} and {}", setting(names[0], low), setting(names[1], high)),
        };
        let text = format!(
            "flows at a port of {} are isolated above {:#}, but PFC pauses a single sender at {:#}; write {advice}",
            fabric.node(switch).name,
            Bytes(from),
            Bytes(xoff)
        );
        Warning::new(format!("switch.isolation.detection.{detection}.{}", names[0]), text)
    })
}

const fn limit(queues: &QueueParams) -> &'static str {
    match queues {
        QueueParams::Shared => "switch.buffer",
        QueueParams::DropTail { .. } => "switch.queues.drop-tail.limit",
        QueueParams::Pfabric { .. } => "switch.queues.pfabric.limit",
    }
}

/// Kmax at the useful end, Kmin a quarter of it (the HPCC evaluation's 100 and 400 kB); one threshold at the lower of the two.
fn thresholds(useful: u64, step: bool) -> String {
    let (kmin, kmax) = (Bytes(floor3(useful / KMIN_PART)), Bytes(floor3(useful)));
    format!("{} and {}", setting("kmin", kmin), setting("kmax", if step { kmin } else { kmax }))
}

/// Largest lossy queue of a port: lossy_alpha times the bytes that it leaves free, with reserves.
pub(super) fn lossy_queue(switch: &SwitchParams, plan: &BufferPlan) -> u64 {
    let alpha = switch.lossy_alpha;
    (alpha / (1.0 + alpha) * (plan.shared + plan.reserved) as f64) as u64
}

/// Ports that resume only with an empty queue, as the offset exceeds their largest dynamic XOFF threshold.
fn never_resumes_early(fabric: &Fabric, setup: &Setup) -> Option<Warning> {
    let params = &setup.params;
    if params.switch.paused_priorities() == 0 || !matches!(params.switch.pfc_mode, PfcMode::Dynamic { .. }) {
        return None;
    }
    let offset = params.switch.resume_offset;
    let xoff = |&(switch, port, plan): &(NodeId, PortId, BufferPlan)| {
        (switch, plan.largest_xoff(fabric, params, fabric.rate(port)))
    };
    let xoffs: Vec<(NodeId, u64)> = ports(fabric, setup).iter().map(xoff).collect();
    let (switch, xoff) = *xoffs.iter().find(|(_, xoff)| offset.0 > *xoff)?;
    let least = xoffs.iter().map(|(_, xoff)| *xoff).min()?;
    let usual = SwitchParams::default().resume_offset.0;
    let text = format!(
        "{offset:#} exceeds the largest XOFF threshold of a port of {}, {:#}: a paused queue resumes only when it is empty; \
         write {}",
        fabric.node(switch).name,
        Bytes(xoff),
        setting("resume_offset", Bytes(if usual <= least { usual } else { floor3(least) }))
    );
    Some(Warning::new("switch.resume_offset", text))
}

/// XOFF too low for the link: the queue is empty before packets arrive again.
fn empty_after_pauses(fabric: &Fabric, setup: &Setup) -> Option<Warning> {
    let params = &setup.params;
    let paused = params.switch.paused_priorities();
    if priorities(setup, |_| true) & paused == 0 {
        return None;
    }
    let (reserve, offset) = (params.switch.reserve.0, params.switch.resume_offset.0.max(1));
    let packet = params.packets.largest(&setup.carriers);
    let all = ports(fabric, setup);
    // XON and the first packet cross the link.
    let needed = |port: PortId| {
        let flight = u128::from(fabric.rate(port).0) * 2 * u128::from(fabric.delay(port).0);
        u64::try_from(flight / 8_000_000_000_000).unwrap_or(u64::MAX).saturating_add(packet)
    };
    let xoff = |plan: &BufferPlan, port: PortId| plan.lone_xoff(fabric, params, fabric.rate(port));
    let missing = |&&(_, port, plan): &&(NodeId, PortId, BufferPlan)| {
        needed(port).saturating_sub((reserve + xoff(&plan, port)).saturating_sub(offset))
    };
    let worst = all.iter().max_by_key(missing).filter(|one| missing(one) > 0)?;
    let &(switch, port, plan) = worst;
    let room = (reserve + xoff(&plan, port)).saturating_sub(needed(port));
    let (name, advice) = if room > 0 {
        let least = SwitchParams::default().resume_offset.0.min(room);
        ("switch.resume_offset", setting("resume_offset", Bytes(floor3(least))))
    } else {
        let wanted = (needed(port) + offset).saturating_sub(reserve).max(1);
        higher_xoff(setup, &plan, fabric.ports_of(switch).len() as u64, (wanted, xoff(&plan, port)))
    };
    let text = format!(
        "a queue of {} that resumes holds at most {:#}, but its port sends {:#} until packets arrive again: the port can run \
         empty after each pause; write {}",
        fabric.node(switch).name,
        Bytes((reserve + xoff(&plan, port)).saturating_sub(offset)),
        Bytes(needed(port)),
        advice
    );
    Some(Warning::new(name, text))
}

/// Field, and setting that raises an XOFF threshold.
fn higher_xoff(setup: &Setup, plan: &BufferPlan, ports: u64, (wanted, now): (u64, u64)) -> (&'static str, String) {
    let switch = &setup.params.switch;
    let buffer = |shared: u64| Bytes(ceil3(plan.headroom.saturating_add(plan.reserved).saturating_add(shared)));
    match switch.pfc_mode {
        PfcMode::Static { .. } => {
            let queues = ports * u64::from(switch.paused_priorities().count_ones());
            let shared = ceil3(wanted).saturating_mul(queues);
            let xoff = setting("pfc_mode.static.xoff", Bytes(ceil3(wanted)));
            let text =
                if shared > plan.shared { format!("{xoff} and {}", setting("buffer", buffer(shared))) } else { xoff };
            ("switch.pfc_mode", text)
        }
        // The threshold grows with the shared bytes.
        PfcMode::Dynamic { .. } => ("switch.buffer", setting("buffer", buffer(scaled_up(plan.shared, wanted, now)))),
    }
}

fn scaled_up(number: u64, to: u64, from: u64) -> u64 {
    u64::try_from((u128::from(number) * u128::from(to)).div_ceil(u128::from(from.max(1)))).unwrap_or(u64::MAX)
}

/// Priorities of RDMA that PFC does not pause: all of them, or some and nobody chose that.
fn not_lossless(setup: &Setup, chosen: bool) -> Option<Warning> {
    let switch = &setup.params.switch;
    let (paused, rdma) = (switch.paused_priorities(), |carrier: &Carrier| matches!(carrier, Carrier::Rdma(_)));
    let sent = priorities(setup, rdma);
    let moves = switch.isolation.enabled || switch.tagging.enabled;
    let lossy = sent & !paused;
    if lossy == 0 || paused == 0 || moves || (chosen && lossy != sent) {
        return None;
    }
    let listed = |mask: u8| (0..8u8).filter(move |prio| mask & 1 << prio != 0).map(|prio| prio.to_string());
    let listed = |mask: u8| listed(mask).collect::<Vec<_>>().join(", ");
    let noun = if lossy.count_ones() == 1 { "priority" } else { "priorities" };
    let otherwise = if lossy == sent { ", or `pfc = false`" } else { "" };
    let text = format!(
        "RDMA flows have {noun} {}, which PFC does not pause: packets can be dropped; write `lossless = [{}]`{otherwise}",
        listed(lossy),
        listed(sent)
    );
    Some(Warning::new("switch.lossless", text))
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;

    const STAR: &str = "[fabric.star]\nhosts = 4\n[[workload]]\nlist = [{ src = 0, dst = 1, size = \"10kB\" }]\n";

    fn of(field: &str, text: &str) -> Option<String> {
        found(&format!("{STAR}[scheme.A]\ncontrol = \"dcqcn\"\n{text}")).into_iter().find(|one| one.starts_with(field))
    }

    #[test]
    fn marking_that_a_lossy_queue_never_reaches() {
        let lossy = |more: &str| of("ecn.kmin", &format!("[switch]\npfc = false\nbuffer = \"1MB\"\n{more}"));
        // Lossy alpha 1: half of the buffer, 500 kB.
        assert_eq!(lossy(""), None);
        let kmin = "[ecn]\nkmin = \"600kB\"\n";
        let said = "Kmin of a port of s0 is 600 kB, but its queue holds at most 500 kB: it never marks; \
                    write `kmin = \"62.5kB\"` and `kmax = \"250kB\"`";
        assert_eq!(lossy(kmin), Some(format!("ecn.kmin: {said}")));
        let exact = "[ecn]\nby_rate = [{ rate = \"100Gbps\", kmin = \"600kB\", kmax = \"700kB\", pmax = 1.0 }]\n";
        let text = lossy(exact).unwrap();
        assert!(
            text.ends_with("for 100 Gb/s in ecn.by_rate, write `kmin = \"62.5kB\"` and `kmax = \"250kB\"`"),
            "{text}"
        );
        assert_eq!(lossy(&kmin.replace("600", "250")), None);
        let tail = |limit: &str| of("ecn.kmin", &format!("[switch.queues.drop-tail]\nlimit = \"{limit}\"\n"));
        assert!(
            tail("300kB")
                .unwrap()
                .ends_with("holds at most 300 kB: it never marks; write `kmin = \"37.5kB\"` and `kmax = \"150kB\"`")
        );
        assert_eq!(tail("500kB"), None);
        let said =
            "it never marks; thresholds below would be a packet or less: enlarge `switch.queues.drop-tail.limit`";
        assert!(tail("9kB").unwrap().ends_with(said), "{tail:?}", tail = tail("9kB"));
    }

    #[test]
    fn the_advised_kmin_marks_before_pfc_pauses() {
        let kmin = |size: &str| of("ecn.kmin", &format!("[ecn]\nkmin = \"{size}\"\nkmax = \"40MB\"\n"));
        let text = kmin("5MB").unwrap();
        let (said, advised) = text.split_once("; write `").unwrap();
        assert!(said.contains("PFC pauses a single sender at"), "{text}");
        let fields = advised.replace("` and `", "\n").replace('`', "\n");
        assert_eq!(of("ecn.kmin", &format!("[ecn]\n{fields}")), None);
        assert!(kmin("39MB").unwrap().contains("it never marks"));
    }

    #[test]
    fn isolation_that_begins_after_pfc() {
        let isolation = |detection: &str| {
            let text = format!("[switch.isolation]\nenabled = true\n{detection}");
            of("switch.isolation.detection", &text)
        };
        // 33.42 MB are shared, and alpha is 1/8.
        let text = isolation("detection.counters.above = \"30MB\"").unwrap();
        let said = "switch.isolation.detection.counters.above: flows at a port of s0 are isolated above 30 MB, but PFC pauses a \
                    single sender at 3705.303 kB; write `above = \"3.7MB\"`";
        assert_eq!(text, said);
        assert_eq!(isolation("detection.counters.above = \"3.7MB\""), None);
        let text = isolation("detection.marks = { kmin = \"30MB\", kmax = \"40MB\" }").unwrap();
        assert!(text.ends_with("write `kmin = \"926kB\"` and `kmax = \"3.7MB\"`"), "{text}");
        assert_eq!(isolation(""), None);
    }

    /// PFC pauses a single sender at a small switch before the queue has a useful length.
    #[test]
    fn no_threshold_is_advised_that_is_too_small_for_other_switches() {
        let fabric = "[fabric.leaf_spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 8\nuplink_rate = \"400Gbps\"\n";
        let text = format!("{fabric}{}[scheme.A]\ncontrol = \"dcqcn\"\n", &STAR[STAR.find("[[").unwrap()..]);
        let said = |buffer: &str| found(&format!("{text}[switch]\nbuffer = \"{buffer}\"\n")).join("\n");
        assert!(said("500kB").contains("or less: enlarge `switch.buffer`"), "{}", said("500kB"));
        // 8.32 us at 100 Gb/s: Kmin of at least 14.9 kB.
        assert!(said("1MB").contains("and links would run empty: enlarge `switch.buffer`"), "{}", said("1MB"));
        assert!(said("1200kB").contains("write `kmin = \"15.3kB\"` and "), "{}", said("1200kB"));
    }

    #[test]
    fn the_advised_xoff_outlasts_the_link() {
        let xoff =
            |size: &str, more: &str| of("switch.", &format!("[switch]\npfc_mode.static.xoff = \"{size}\"\n{more}"));
        // 2·100 Gb/s·1 us = 25,000 B and a packet of 1090 B: 26,090 B; 10 kB - 3072 B + 4096 B are queued.
        let said = "switch.pfc_mode: a queue of s0 that resumes holds at most 11.024 kB, but its port sends 26.09 kB until packets \
                    arrive again: the port can run empty after each pause; write `pfc_mode.static.xoff = \"25.1kB\"`";
        assert_eq!(xoff("10kB", "").unwrap(), said);
        assert_eq!(xoff("25100B", ""), None);
        let text = xoff("10kB", "buffer = \"200kB\"\n").unwrap();
        assert!(text.ends_with(" and `buffer = \"231kB\"`"), "{text}");
        assert_eq!(xoff("25100B", "buffer = \"231kB\"\n"), None);
    }

    #[test]
    fn an_offset_that_leaves_too_little() {
        let offset = |bytes: u32| of("switch.", &format!("[switch]\nresume_offset = \"{bytes}B\"\n"));
        // 33.42 MB are shared; alpha 1/8: 3.714 MB for a single sender.
        let text = offset(3_700_000).unwrap();
        assert!(text.starts_with("switch.resume_offset: a queue of s0 that resumes holds at most "), "{text}");
        assert!(text.ends_with("write `resume_offset = \"3.07kB\"`"), "{text}");
        assert_eq!(offset(3_600_000), None);
    }

    #[test]
    fn a_small_dynamic_threshold_needs_a_larger_buffer() {
        let buffer = |size: &str| of("switch.buffer", &format!("[switch]\nbuffer = \"{size}\"\n"));
        let text = buffer("200kB").unwrap();
        let (_, advised) = text.split_once("; write `buffer = \"").unwrap();
        assert_eq!(buffer(advised.trim_end_matches("\"`")), None, "{text}");
        assert_eq!(buffer("32MiB"), None);
    }

    #[test]
    fn a_workload_without_a_lossless_flow() {
        let text = of("switch.lossless", "[switch]\nlossless = [2]\n").unwrap();
        assert!(text.contains("RDMA flows have priority 3, which PFC does not pause"), "{text}");
        assert!(text.ends_with("write `lossless = [3]`, or `pfc = false`"), "{text}");
        let other = "[[workload]]\npriority = 4\nlist = [{ src = 0, dst = 1, size = \"10kB\" }]\n";
        let text = of("switch.lossless", other).unwrap();
        assert!(text.contains("RDMA flows have priority 4, which PFC does not pause"), "{text}");
        assert!(text.ends_with("write `lossless = [3, 4]`"), "{text}");
        assert_eq!(of("switch.lossless", &format!("[switch]\nlossless = [3]\n{other}")), None);
        for fine in ["lossless = [3]", "pfc = false", "lossless = [2, 3]", "lossless = []"] {
            assert_eq!(of("switch.lossless", &format!("[switch]\n{fine}\n")), None, "{fine}");
        }
    }
}
