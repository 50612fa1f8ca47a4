//! Windows against the global event order: failures, routes, PFC storms, guards, queueing delays.

use incast_model::fabric::Fabric;
use incast_model::units::{Bytes, Time};
use incast_sim::host::{ClassBy, ClassParams};
use incast_sim::network::{FailureParams, NetworkParams, PauseParams};
use incast_sim::switch::{
    FlowDetection, IsolationAtHosts, IsolationParams, MarkedFlows, WatchdogAction, WatchdogParams,
};
use proptest::prelude::*;

use crate::common::{Bench, random_runs, same_event_by_event};
use crate::properties::{Scenario, load_balancing, scenario};

/// Link, begin and duration in ns (0: for ever), fraction lost silently (0: link down).
type Failure = (usize, u64, u64, u8);

/// Host, or switch port; begin and duration in ns.
type Storm = (usize, u64, u64);

#[derive(Debug, Clone, Default)]
pub(crate) struct Trouble {
    failures: Vec<Failure>,
    storms: Vec<Storm>,
    /// In ns.
    reroute_after: Option<u64>,
    /// In ns; 0: none.
    horizon: u64,
}

pub(crate) fn trouble() -> impl Strategy<Value = Trouble> {
    let failures = prop::collection::vec((0usize..16, 0u64..60_000, 0u64..60_000, 0u8..4), 0..4);
    let storms = prop::collection::vec((0usize..12, 0u64..60_000, 0u64..60_000), 0..3);
    (failures, storms, prop::option::of(0u64..20_000), 20_000u64..2_000_000)
        .prop_map(|(failures, storms, reroute_after, horizon)| Trouble { failures, storms, reroute_after, horizon })
}

impl Trouble {
    pub(crate) fn network(&self, fabric: &Fabric, paused: bool) -> NetworkParams {
        let name = |node: incast_model::fabric::NodeId| fabric.node(node).name.clone();
        let end = |begin: u64, duration: u64| (duration > 0).then(|| Time::ns(begin + duration));
        let failure = |&(link, at, duration, share): &Failure| {
            let link = &fabric.links()[link % fabric.links().len()];
            let ends = [link.a, link.b].map(|port| name(fabric.port(port).node));
            let silent = (share > 0).then(|| f64::from(share) / 3.0);
            FailureParams {
                link: Some(ends),
                at: Time::ns(at + 1),
                until: end(at + 1, duration),
                silent,
                ..Default::default()
            }
        };
        let storm = |&(port, from, duration): &Storm| {
            let port = fabric.ports()[port % fabric.ports().len()];
            let (at, peer) = (name(port.node), name(fabric.port(port.peer).node));
            PauseParams {
                at,
                peer: Some(peer),
                priority: 3,
                from: Time::ns(from),
                until: end(from, duration),
                random: None,
            }
        };
        NetworkParams {
            failure: self.failures.iter().map(failure).collect(),
            pause: if paused { self.storms.iter().map(storm).collect() } else { Vec::new() },
            reroute_after: self.reroute_after.map(Time::ns),
            ..NetworkParams::default()
        }
    }
}

fn watchdog() -> impl Strategy<Value = WatchdogParams> {
    (any::<bool>(), any::<bool>(), 500u64..20_000, 500u64..20_000, 500u64..9000).prop_map(
        |(enabled, drops, detection, restoration, poll)| WatchdogParams {
            enabled,
            detection: Time::ns(detection),
            restoration: Time::ns(restoration),
            poll: Time::ns(poll),
            action: if drops { WatchdogAction::Drop } else { WatchdogAction::Forward },
        },
    )
}

fn isolation() -> impl Strategy<Value = IsolationParams> {
    let lengths = (500u64..20_000, 0u64..20_000, 0u64..10_000);
    let times = (100u64..5000, 1u64..20_000, 1u64..20_000);
    let more = (any::<bool>(), prop::option::of(1u32..4), any::<bool>(), any::<bool>(), 1u32..4);
    let sizes = 1u64..100;
    (any::<bool>(), lengths, times, more, sizes).prop_map(
        |(enabled, (from, ramp, length), (every, hold, age), more, message)| {
            let (marks, table, hosts, all, flows) = more;
            IsolationParams {
                enabled,
                queue: 2,
                detection: match marks {
                    true => FlowDetection::Marks { kmin: Bytes(from), kmax: Bytes(from + ramp), pmax: 0.4 },
                    false => FlowDetection::Counters { above: Bytes(from), flows },
                },
                table,
                message_above: Bytes(length),
                message: Bytes(message),
                message_every: Time::ns(every),
                release_below: Bytes(from),
                hold: Time::ns(hold),
                age: Time::ns(every + age),
                hosts: if hosts { IsolationAtHosts::Isolate } else { IsolationAtHosts::Ignore },
                mark: if all { MarkedFlows::All } else { MarkedFlows::Isolated },
            }
        },
    )
}

fn troubled(scenario: &Scenario, trouble: &Trouble) -> Bench {
    let bench = scenario.bench();
    let network = trouble.network(&bench.fabric(), scenario.lossless);
    bench.with(|params| {
        params.network = network;
        params.horizon = (trouble.horizon > 0).then(|| Time::ns(trouble.horizon));
        params.measure.deadlock_every = Time::us(7);
        params.packets.int_records = 8;
    })
}

fn guarded(scenario: &Scenario, trouble: &Trouble, watchdog: WatchdogParams, isolation: IsolationParams) -> Bench {
    troubled(scenario, trouble).with(|params| {
        params.switch.watchdog = WatchdogParams { enabled: watchdog.enabled && scenario.lossless, ..watchdog };
        if isolation.enabled && scenario.lossless {
            params.switch.isolation = isolation;
            params.switch.lossless = vec![2, 3, 4, 5];
            params.switch.buffer = Bytes(2 * params.switch.buffer.0);
        }
    })
}

proptest! {
    #![proptest_config(random_runs(600))]

    #[test]
    fn windows_give_the_same_run_with_failures_and_guards(
        scenario in scenario().prop_map(Scenario::for_windows),
        trouble in trouble(),
        every in 0u64..5000,
        (watchdog, isolation) in (watchdog(), isolation()),
        balance in load_balancing(),
        cut in 0u64..400,
    ) {
        let bench = guarded(&scenario, &trouble, watchdog, isolation).with(|params| {
            params.network.load_balancing = balance;
            params.measure.sample_every = (every > 1000).then(|| Time::ns(every));
        });
        prop_assume!(bench.setup_error().is_none());
        same_event_by_event(bench, cut)?;
    }

    #[test]
    fn windows_give_the_same_queueing_delays(
        scenario in scenario().prop_map(Scenario::for_windows),
        trouble in prop::option::of(trouble()),
        (watchdog, isolation) in (watchdog(), isolation()),
        demotion in prop::option::of(1u64..50_000),
        cut in 0u64..400,
    ) {
        let trouble = trouble.unwrap_or_default();
        let bench = guarded(&scenario, &trouble, watchdog, isolation).with(|params| {
            params.measure.blocking = true;
            if let Some(threshold) = demotion {
                params.host.classes =
                    ClassParams { by: ClassBy::Sent, mice: 4, elephants: 3, threshold: Bytes(threshold) };
            }
        });
        prop_assume!(bench.setup_error().is_none());
        same_event_by_event(bench, cut)?;
    }
}
