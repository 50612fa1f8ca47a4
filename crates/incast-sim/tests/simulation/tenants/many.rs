//! X and Y each have a guarantee of 450 Mb/s on a 1 Gb/s link.

use incast_model::fabric::generators::LeafSpine;
use incast_model::fabric::{Fabric, HostId, Vms};
use incast_model::tenant::{Tenancy, Tenant, Vm};
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::Outcome;
use incast_sim::switch::{EcnParams, QueueParams};
use incast_sim::tenant::{Detection, ElasticSwitchParams, Hypervisor, RateParams};
use incast_sim::transport::Transport;

use crate::common::{Bench, check, jain, within};

/// Payload share of a packet on the wire.
pub(crate) const PAYLOAD: f64 = 1460.0 / 1538.0;

pub(crate) fn tree(racks: u32) -> Fabric {
    let gigabit = Rate::gbps(1);
    let spec =
        LeafSpine { host_rate: gigabit, uplink_rate: gigabit, delay: Time::us(5), ..LeafSpine::new(racks, 1, 4) };
    spec.build().expect("a valid fabric").with_vms(&Vms::new(4)).expect("room for VMs")
}

pub(crate) fn tenant(name: &str, vms: impl IntoIterator<Item = u32>, hose: Rate) -> Tenant {
    let vms = vms.into_iter().map(|host| Vm { host: HostId(host), mapper: false }).collect();
    Tenant { name: name.into(), group: name.into(), vms, send: hose, receive: hose }
}

#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) senders: u32,
    /// If true, Y is on X's server.
    pub(crate) edge: bool,
    pub(crate) to_y: Transport,
    pub(crate) hypervisor: Option<Hypervisor>,
    pub(crate) ecn: bool,
    pub(crate) guarantee: Rate,
    pub(crate) jitter: Time,
}

pub(crate) fn tcp() -> Transport {
    Transport::named("tcp", "linux").expect("a profile")
}

pub(crate) fn udp() -> Transport {
    Transport::named("udp", "line-rate").expect("a profile")
}

pub(crate) fn elastic(rate: RateParams) -> Hypervisor {
    Hypervisor::ElasticSwitch(ElasticSwitchParams { rate, ..ElasticSwitchParams::default() })
}

impl Case {
    pub(crate) fn new(senders: u32, to_y: Transport, hypervisor: Option<Hypervisor>) -> Self {
        Self { senders, edge: false, to_y, hypervisor, ecn: false, guarantee: Rate(450_000_000), jitter: Time::ZERO }
    }

    pub(crate) fn run(&self, seconds: u64) -> (Outcome, Measured) {
        let fabric = tree(2 + self.senders / 16);
        let (x, y) = (0, if self.edge { 1 } else { 4 });
        let sources: Vec<u32> = (16..17 + self.senders).collect();
        let tenants = vec![
            tenant("x", [x, sources[0]], self.guarantee),
            tenant("y", [y].into_iter().chain(sources[1..].iter().copied()), self.guarantee),
        ];
        let mut bench = Bench::new(fabric).transport(tcp()).tenants(Tenancy::new(tenants));
        bench = bench.flow(sources[0], x, 1, Time::ZERO).until(Time::ms(1000 * seconds));
        bench = bench.then_transport(self.to_y.clone());
        for (at, &source) in (0u64..).zip(&sources[1..]) {
            bench = bench.flow(source, y, 1, Time::us(100 * at)).until(Time::ms(1000 * seconds));
        }
        let outcome = bench
            .with(|params| {
                params.switch.queues = QueueParams::DropTail { limit: Bytes(256_000) };
                params.switch.lossless = Vec::new();
                params.server_queue = Bytes(1_500_000);
                params.packets.gap = Bytes(38);
                params.host.jitter = self.jitter;
                params.hypervisor.clone_from(&self.hypervisor);
                params.horizon = Some(Time::ms(1000 * seconds));
                params.measure.sample_every = Some(Time::ms(1000));
                params.ecn = if self.ecn {
                    EcnParams { enabled: true, per_rate: Rate::gbps(1), ..EcnParams::step(Bytes(20 * 1500)) }
                } else {
                    EcnParams { enabled: false, ..EcnParams::default() }
                };
            })
            .run();
        let measured = Measured::of(&outcome, seconds);
        (outcome, measured)
    }
}

/// Payload in Mb/s after the first second.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) x: f64,
    pub(crate) each: Vec<f64>,
}

impl Measured {
    fn of(outcome: &Outcome, seconds: u64) -> Self {
        let at = |flow: usize, time: Time| {
            outcome.rates.iter().find(|one| one.time == time && one.flow == flow as u32).map_or(0, |one| one.acked)
        };
        let rate = |flow: usize| {
            let bytes = outcome.flows[flow].acked - at(flow, Time::ms(1000));
            bytes as f64 * 8.0 / (seconds as f64 - 1.0) * 1e-6
        };
        Self { x: rate(0), each: (1..outcome.flows.len()).map(rate).collect() }
    }

    pub(crate) fn y(&self) -> f64 {
        self.each.iter().sum()
    }
}

#[test]
fn x_keeps_its_guarantee_against_many() {
    for senders in [1, 5, 20] {
        let (_, found) = Case::new(senders, tcp(), Some(elastic(RateParams::default()))).run(6);
        let least = 0.95 * 450.0 * PAYLOAD;
        check("ES1", &format!("X against {senders}, Mb/s"), format!("{least:.0} or more"), found.x, found.x >= least);
        check("ES4", &format!("Y of {senders}, Mb/s"), format!("{least:.0} or more"), found.y(), found.y() >= least);
    }
}

#[test]
fn without_protection_x_has_a_share_of_one() {
    let (_, found) = Case::new(20, tcp(), None).run(6);
    let share = 1000.0 * PAYLOAD / 21.0;
    // A full queue drops packets of X's lone sender first (TCP Outcast, NSDI 2012).
    check("ES5", "X against 20 without protection, Mb/s", "1/21 or less", found.x, found.x < 1.5 * share);
}

/// Packets in step lock a flow out.
#[test]
fn jitter_ends_phase_effects() {
    let case = Case::new(5, tcp(), None);
    let (_, in_step) = case.run(6);
    check("jitter", "X against 5 in step, Mb/s", "nothing", in_step.x, in_step.x < 1.0);
    let (outcome, found) = Case { jitter: Time::us(1), ..case }.run(20);
    within("jitter", "X against 5, Mb/s", 1000.0 * PAYLOAD / 6.0, found.x, 0.3);
    within("jitter", "all, Mb/s", 1000.0 * PAYLOAD, found.x + found.y(), 0.01);
    let again: u64 = outcome.flows.iter().map(|flow| flow.retransmitted).sum();
    // Some after early timeouts.
    let lost = outcome.counts.drops as f64;
    check("jitter", "sent again", format!("{lost} lost"), again as f64, (again as f64) < 1.02 * lost);
}

#[test]
fn x_keeps_its_guarantee_against_udp_at_the_edge() {
    let case = Case { edge: true, ..Case::new(10, udp(), Some(elastic(RateParams::default()))) };
    let (_, found) = case.run(4);
    let least = 0.95 * 450.0 * PAYLOAD;
    check("ES2", "X against a blast of 10, Mb/s", format!("{least:.0} or more"), found.x, found.x >= least);
    let fair = jain(&found.each);
    check("ES6", "Jain's index of the blasts", "0.9 or more", fair, fair >= 0.9);
    let (_, alone) = Case { hypervisor: None, ..case }.run(2);
    check("ES2", "X without protection, Mb/s", "nearly nothing", alone.x, alone.x < 20.0);
}

#[test]
fn x_alone_has_the_link() {
    let (_, found) = Case::new(0, tcp(), Some(elastic(RateParams::default()))).run(10);
    // The increase takes 5 s.
    check("ES3", "X alone, Mb/s", "0.75 of the link or more", found.x, found.x >= 750.0 * PAYLOAD);
}

#[test]
fn marks_do_better_than_losses() {
    let rate = RateParams { detection: Detection::Ecn, ..RateParams::default() };
    let (outcome, found) = Case { ecn: true, ..Case::new(20, tcp(), Some(elastic(rate))) }.run(6);
    let least = 0.95 * 450.0 * PAYLOAD;
    check("ES15", "X against 20 with marks, Mb/s", format!("{least:.0} or more"), found.x, found.x >= least);
    check("ES15", "packets dropped", "hardly any", outcome.counts.drops as f64, outcome.counts.drops < 1000);
}
