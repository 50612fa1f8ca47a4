//! Times that are too short for the network or come after the end.

use incast_model::fabric::Fabric;
use incast_model::units::{Bytes, Time, ceil3};
use incast_sim::congestion::{Control, DcqcnParams};
use incast_sim::host::{CnpMode, RdmaParams, Recovery};
use incast_sim::transport::{FastpassParams, Transport};
use incast_sim::{BufferPlan, Setup};

use crate::warning::{Warning, setting};

/// Default of `rdma.rto`.
pub(super) const DEFAULT_RTO: Time = Time::ms(4);

pub(super) fn found(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    let rules = [rdma_timeouts, timeouts, epochs, periods, cnp_interval, watchdog, after_the_end];
    rules.iter().flat_map(|rule| rule(fabric, setup)).collect()
}

const SPURIOUS: &str = "packets are retransmitted that are not lost";

/// IRN (SIGCOMM 2018, section 4.1): RTO_low of 100 us with 24 us of base RTT.
const RDMA_TIMES: u64 = 4;
/// pFabric (SIGCOMM 2013, section 4.2): about 3 round trips.
const TRANSPORT_TIMES: u64 = 3;
/// Feedback arrives after one, with a queue (our choice).
const PERIOD_TIMES: u64 = 2;

fn too_short(field: &str, now: Time, longest: Time, wanted: Time, what: &str) -> Warning {
    let name = field.rsplit('.').next().unwrap_or(field);
    let text = format!(
        "{now:#} does not exceed the longest base RTT, {:#}: {what}; write {}",
        Time(ceil3(longest.0)),
        setting(name, wanted)
    );
    Warning::new(field, text)
}

fn times(number: u64, time: Time) -> Time {
    Time(ceil3(time.0.saturating_mul(number)))
}

fn rdma_timeouts(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    let rdma = &setup.params.rdma;
    let Some(rto) = rdma.rto.filter(|_| !setup.controls.is_empty()) else { return Vec::new() };
    let longest = setup.params.longest_rtt(fabric, setup.params.packets.payload).0;
    let selective = rdma.recovery == Recovery::SelectiveRepeat;
    let both = [("rdma.rto", rto, DEFAULT_RTO, true), ("rdma.rto_low", rdma.rto_low, usual_low(), selective)];
    let short = both.into_iter().filter(|(_, now, _, used)| *used && *now <= longest);
    short
        .map(|(field, now, usual, _)| {
            too_short(field, now, longest, if usual > longest { usual } else { times(RDMA_TIMES, longest) }, SPURIOUS)
        })
        .collect()
}

fn usual_low() -> Time {
    RdmaParams::default().rto_low
}

/// Round trip of a full segment on the longest path.
fn longest_of_segments(fabric: &Fabric, setup: &Setup) -> Time {
    let packets = &setup.params.packets;
    setup.params.longest_rtt(fabric, Bytes(packets.mss.0 + packets.segment_header.0)).0
}

fn timeouts(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    if setup.transports.is_empty() {
        return Vec::new();
    }
    let longest = longest_of_segments(fabric, setup);
    let of_transport = |transport: &Transport| {
        let (field, timeout) = transport.timeout()?;
        let field = format!("transport.{}.{field}", transport.name());
        let what = match transport {
            Transport::Phost(_) => "hosts repeat announcements that are not lost",
            Transport::Fastpass(_) => "hosts repeat requests that are not lost",
            _ => SPURIOUS,
        };
        (timeout <= longest).then(|| too_short(&field, timeout, longest, times(TRANSPORT_TIMES, longest), what))
    };
    setup.transports.iter().filter_map(of_transport).collect()
}

/// Without `retry`, Fastpass repeats a request after an epoch.
fn epochs(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    let longest = longest_of_segments(fabric, setup);
    let packets = &setup.params.packets;
    let rates = fabric.hosts().iter().flat_map(|&host| fabric.ports_of(host)).map(|port| fabric.rate(port));
    let Some(fastest) = rates.max() else { return Vec::new() };
    let packet = fastest.time_for(packets.mss.0 + packets.segment_header.0 + packets.gap.0);
    let of_transport = |transport: &Transport| {
        let Transport::Fastpass(FastpassParams { retry: None, epoch_packets, epoch_slack, .. }) = transport else {
            return None;
        };
        let epoch = Time((packet.0 as f64 * (f64::from(*epoch_packets) + epoch_slack)).round() as u64);
        let what = "after this epoch, hosts repeat requests for packets whose ACKs are on their way";
        (epoch <= longest)
            .then(|| too_short("transport.fastpass.retry", epoch, longest, times(TRANSPORT_TIMES, longest), what))
    };
    setup.transports.iter().filter_map(of_transport).collect()
}

fn periods(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    let Some(hypervisor) = &setup.params.hypervisor else { return Vec::new() };
    let longest = longest_of_segments(fabric, setup);
    let short = hypervisor.periods().into_iter().filter(|(_, period)| *period <= longest);
    short
        .map(|(field, period)| {
            let field = format!("hypervisor.{}.{field}", hypervisor.name());
            let what = "hypervisors act before feedback arrives";
            too_short(&field, period, longest, times(PERIOD_TIMES, longest), what)
        })
        .collect()
}

/// DCQCN's alpha decays between two CNPs of a congested flow.
fn cnp_interval(_: &Fabric, setup: &Setup) -> Vec<Warning> {
    let rdma = &setup.params.rdma;
    let interval = rdma.cnp_interval;
    let fades = |control: &Control| match control {
        Control::Dcqcn(DcqcnParams { alpha_interval, .. }) if *alpha_interval < interval => Some(*alpha_interval),
        _ => None,
    };
    let alpha = setup.controls.iter().find_map(|one| fades(&one.control));
    let Some(alpha) = alpha.filter(|_| rdma.cnp == CnpMode::Packet) else { return Vec::new() };
    // SIGCOMM 2015: 55 us for CNPs every 50 us.
    let wanted = Time(ceil3(interval.0 + interval.0 / 10));
    let text = format!(
        "{alpha:#} is shorter than rdma.cnp_interval, {interval:#}: alpha decays although marks continue, so cuts are small; write {}",
        setting("alpha_interval", wanted)
    );
    vec![Warning::new("control.dcqcn.alpha_interval", text)]
}

/// Detection of storms within the pause of an ordinary incast: a port sends its headroom and the resume offset at its share of
/// the slowest rate, if all senders of a host send at once.
fn watchdog(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    let params = &setup.params;
    let guard = &params.switch.watchdog;
    if !guard.enabled || params.switch.paused_priorities() == 0 {
        return Vec::new();
    }
    let senders = most_senders(setup);
    let largest = params.packets.largest(&setup.carriers);
    let pause = fabric.switches().filter_map(|switch| {
        let ports = || fabric.ports_of(switch);
        let slowest = ports().map(|port| fabric.rate(port)).min()?;
        let headroom = ports().map(|port| BufferPlan::headroom_of(fabric, params, largest, port)).max()?;
        let bytes = headroom.saturating_add(params.switch.resume_offset.0).saturating_mul(senders);
        Some((slowest.time_for(bytes), switch))
    });
    let Some((pause, switch)) = pause.max().filter(|(pause, _)| guard.detection <= *pause) else { return Vec::new() };
    let text = format!(
        "{:#} is within the pause of an ordinary incast: up to {:#} at {}, if the {senders} senders of a host send at once; \
         write {}",
        guard.detection,
        Time(ceil3(pause.0)),
        fabric.node(switch).name,
        setting("watchdog.detection", times(2, pause))
    );
    vec![Warning::new("switch.watchdog.detection", text)]
}

/// Most hosts that send to one.
fn most_senders(setup: &Setup) -> u64 {
    let mut pairs: Vec<_> = setup.flows.flows.iter().map(|flow| (flow.dst, flow.src)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.chunk_by(|one, other| one.0 == other.0).map(<[_]>::len).max().unwrap_or(0) as u64
}

/// Events that the run does not reach.
fn after_the_end(_: &Fabric, setup: &Setup) -> Vec<Warning> {
    let params = &setup.params;
    let Some(end) = params.horizon else { return Vec::new() };
    let failures = params.network.failure.iter().enumerate();
    let failures = failures.map(|(index, one)| (format!("network.failure[{index}].at"), one.at));
    let pauses = params.network.pause.iter().enumerate();
    let pauses = pauses.map(|(index, one)| (format!("network.pause[{index}].from"), one.from));
    let sampled = params.measure.sample_every.map(|_| ("measure.sample_from".to_owned(), params.measure.sample_from));
    let late = failures.chain(pauses).chain(sampled).filter(|(_, time)| *time >= end);
    late.map(|(field, time)| {
        let text = format!(
            "has no effect: {time:#} is not before the end of the simulation at {end:#}; write {}",
            setting("simulation.horizon", times(2, time))
        );
        Warning::new(field, text)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;

    fn of(field: &str, text: &str) -> Option<String> {
        let fabric = "[fabric.star]\nhosts = 9\n[[workload]]\nincast = { fan_in = 8, size = \"20kB\", receiver = 0 }\n";
        found(&format!("{fabric}{text}")).into_iter().find(|one| one.starts_with(field))
    }

    const DCQCN: &str = "[scheme.A]\ncontrol = \"dcqcn\"\n";

    #[test]
    fn timeouts_below_the_round_trip() {
        let rto = |more: &str| of("rdma.rto", &format!("{DCQCN}[rdma]\n{more}"));
        let said = "does not exceed the longest base RTT, 4.16 us: packets are retransmitted that are not lost; write";
        assert_eq!(rto("rto = \"4us\"").unwrap(), format!("rdma.rto: 4 us {said} `rto = \"4ms\"`"));
        assert_eq!(rto("rto = \"5us\""), None);
        let low = "recovery = \"selective-repeat\"\nrto_low = \"4us\"";
        assert_eq!(rto(low).unwrap(), format!("rdma.rto_low: 4 us {said} `rto_low = \"100us\"`"));
        let text = rto("rto_low = \"4us\"").unwrap();
        assert!(text.starts_with("rdma.rto_low: has no effect: go-back-n"), "{text}");
        let tcp = |min: &str| of("transport.tcp", &format!("[scheme.A]\ntransport.tcp.rto_min = \"{min}\"\n"));
        // 4 us and two times 120 ns for 1500 B; three times that.
        assert!(tcp("1us").unwrap().ends_with("write `rto_min = \"12.8us\"`"), "{:?}", tcp("1us"));
        assert_eq!(tcp("12800ns"), None);
        let phost = of("transport.phost", "[scheme.A]\ntransport.phost.retry = \"1us\"\n").unwrap();
        assert!(phost.contains(": hosts repeat announcements that are not lost; write "), "{phost}");
    }

    #[test]
    fn alpha_that_decays_between_cnps() {
        let alpha = |more: &str| of("control.dcqcn.alpha", more);
        let cnps = "[rdma]\ncnp = \"packet\"\n";
        let text = alpha(&format!("{DCQCN}{cnps}")).unwrap();
        assert!(text.contains("1 us is shorter than rdma.cnp_interval, 50 us"), "{text}");
        assert!(text.ends_with("write `alpha_interval = \"55us\"`"), "{text}");
        assert_eq!(alpha(DCQCN), None, "marks in ACKs");
        let paper = "[scheme.A]\ncontrol.dcqcn.profile = \"paper\"\n";
        assert_eq!(alpha(&format!("{paper}{cnps}")), None);
        assert_eq!(alpha(&format!("[scheme.A]\ncontrol = \"hpcc\"\n{cnps}")), None);
    }

    #[test]
    fn a_watchdog_that_takes_an_incast_for_a_storm() {
        let watchdog = |detection: &str| {
            of("switch.watchdog", &format!("{DCQCN}[switch.watchdog]\nenabled = true\ndetection = \"{detection}\"\n"))
        };
        // 8 senders: 8·(28,334 + 3072) B at 100 Gb/s take 20.09984 us.
        let said = "switch.watchdog.detection: 20 us is within the pause of an ordinary incast: up to 20.1 us at s0, if the 8 \
                    senders of a host send at once; write `watchdog.detection = \"40.2us\"`";
        assert_eq!(watchdog("20us").as_deref(), Some(said));
        assert_eq!(watchdog("40200ns"), None);
        assert_eq!(of("switch.watchdog", &format!("{DCQCN}[switch.watchdog]\nenabled = true\n")), None);
    }

    #[test]
    fn events_after_the_end() {
        let event = |at: &str| format!("[network]\nfailure = [{{ link = [\"h1\", \"s0\"], at = \"{at}\" }}]\n");
        let end = "[simulation]\nhorizon = \"1ms\"\n";
        let text = of("network.failure", &format!("{DCQCN}{}{end}", event("2ms"))).unwrap();
        assert!(text.ends_with("the end of the simulation at 1 ms; write `simulation.horizon = \"4ms\"`"), "{text}");
        assert_eq!(of("network.failure", &format!("{DCQCN}{}{end}", event("10us"))), None);
        assert_eq!(of("network.failure", &format!("{DCQCN}{}", event("2ms"))), None);
        let sample = "[measure]\nsample_every = \"1us\"\nsample_from = \"1ms\"\n";
        assert!(of("measure.sample_from", &format!("{DCQCN}{sample}{end}")).is_some());
        assert_eq!(of("measure.sample_from", &format!("{DCQCN}{sample}")), None);
    }
}
