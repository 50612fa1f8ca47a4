//! Pauses that nodes send by themselves.

use incast_model::units::{Bytes, Time};
use incast_sim::Outcome;
use incast_sim::network::{FailureParams, PauseParams};
use incast_sim::outcome::{LinkChange, Obstacle, PauseRecord, QueueRef, Stop};
use incast_sim::switch::{PfcMode, QueueBy, WatchdogAction};

use super::bounces::{END, EVENT, bench, bouncing, rate, tagged, watched};
use crate::common::{Bench, Cable, chain, check, exact, fct, port, record, star};

/// Full packet, PFC frame, link of 100 m, in ps.
const DATA: u64 = 1048 * 80;
const PFC: u64 = 64 * 80;
const DELAY: u64 = 500_000;

fn pause(at: &str, priority: u8, from: Time, until: Option<Time>) -> PauseParams {
    PauseParams { at: at.into(), peer: None, priority, from, until, random: None }
}

fn holding(bench: Bench, pauses: &[PauseParams]) -> Bench {
    bench.with(|params| params.network.pause.extend_from_slice(pauses))
}

fn hub() -> Bench {
    Bench::new(star(&[Cable::new(100, 500); 3])).with(|params| params.switch.lossless = vec![3, 4])
}

fn pauses_of(bench: &Bench, outcome: &Outcome, from: &str, to: &str) -> Vec<PauseRecord> {
    let port = port(&bench.fabric(), from, to);
    outcome.pauses.iter().copied().filter(|pause| pause.port == port).collect()
}

/// A pause delays a flow by its length less the rest of the switch's current packet.
#[test]
fn i1_a_host_pauses_a_flow() {
    // The host is idle half a packet after an ACK.
    let from = 2 * (DATA + DELAY) + 500 * DATA + DATA / 2;
    let (length, heard) = (Time::us(100).0, from + PFC + DELAY);
    let first = DATA + DELAY;
    let held = first + (heard - first).div_ceil(DATA) * DATA;
    let asked = pause("h1", 3, Time(from), Some(Time(from + length)));
    for xoff in [None, Some(Bytes(20_000))] {
        let base = || {
            hub().flow(0, 1, 4_000_000, Time::ZERO).with(|params| {
                if let Some(xoff) = xoff {
                    params.switch.pfc_mode = PfcMode::Static { xoff };
                }
            })
        };
        let plain = base().run();
        let bench = holding(base(), std::slice::from_ref(&asked)).flow_of(4, 2, 1, 300_000, Time(from + 5_000_000));
        let outcome = bench.run();
        let later = fct(&outcome, 0) - fct(&plain, 0);
        exact("I1", "later by, ps", heard + length - held, later.0);
        exact("I1", "flow of another priority, ps", outcome.flows[1].ideal_exact.0, fct(&outcome, 1).0);
        exact("I1", "drops", 0, outcome.counts.drops);
        let paused = pauses_of(&bench, &outcome, "s0", "h1");
        let sent_by = port(&bench.fabric(), "h1", "s0");
        let expected = PauseRecord {
            port: port(&bench.fabric(), "s0", "h1"),
            priority: 3,
            start: Time(heard),
            end: Some(Time(heard + length)),
            ingress_bytes: 0,
            culprit: QueueRef { port: sent_by, priority: 3 },
        };
        assert_eq!(paused, [expected]);
        let frames = record(&outcome, sent_by, 3);
        assert_eq!((frames.xoff_sent, frames.xon_sent), (1, 1));
        assert_eq!(outcome.counts.pauses > 1, xoff.is_some(), "the sender is paused with a small threshold alone");
        assert_eq!((outcome.ledger.unbalanced().count(), outcome.deadlocks.len()), (0, 0));
    }
}

#[test]
fn i2_other_priorities_do_not_notice() {
    let flows = || hub().flow(0, 1, 2_000_000, Time::ZERO).flow(2, 1, 1_000_000, Time::us(20));
    let plain = flows().run();
    let outcome = holding(flows(), &[pause("h2", 4, Time::us(30), None)]).run();
    assert_eq!(outcome.stop, Stop::Finished);
    for flow in 0..2 {
        exact("I2", "completion, ps", fct(&plain, flow).0, fct(&outcome, flow).0);
    }
    exact("I2", "pauses", plain.counts.pauses + 1, outcome.counts.pauses);
}

fn after(outcome: &Outcome, flow: u32) -> f64 {
    rate(outcome, flow, EVENT + Time::us(500), END)
}

fn before(outcome: &Outcome, flow: u32) -> f64 {
    rate(outcome, flow, Time::ms(1), EVENT)
}

/// h12 pauses tag 2 of a bounced flow; the switch of the bounce pauses tag 1 upstream.
#[test]
fn i3_pauses_and_tags() {
    let base = || {
        let bench = bench().flow(0, 12, 1 << 30, Time::ZERO).via(&["t0", "l0", "s0", "l2", "s1", "l3", "t3"]);
        let bench = bench.flow(8, 12, 1 << 30, Time::ZERO).via(&["t2", "l3", "t3"]);
        holding(tagged(bench), &[pause("h12", 4, EVENT, None)])
    };
    let bench = base();
    let outcome = bench.run();
    check("I3", "rate of the bounced flow before, Gb/s", "> 18", before(&outcome, 0), before(&outcome, 0) > 18.0);
    exact("I3", "its rate after, Gb/s", 0.0, after(&outcome, 0));
    let (was, is) = (before(&outcome, 1), after(&outcome, 1));
    check("I3", "rate of the other after, Gb/s", "at least that before, > 35", is, is >= was && is > 35.0);
    exact("I3", "drops", 0, outcome.counts.drops);
    exact("I3", "packets made lossy", 0, outcome.counts.made_lossy);
    for (from, to, priority) in
        [("t3", "h12", 4), ("l3", "t3", 4), ("s1", "l3", 4), ("l2", "s1", 4), ("s0", "l2", 3), ("h0", "t0", 3)]
    {
        let last = pauses_of(&bench, &outcome, from, to).pop().expect("a pause");
        assert_eq!((last.priority, last.end), (priority, None), "{from} to {to}");
        assert!(last.start >= EVENT, "{from} to {to}: {last:?}");
    }
    exact("I3", "deadlocks", 0, outcome.deadlocks.len());
    assert_eq!(outcome.ledger.unbalanced().count(), 0);
    let held = QueueRef { port: port(&bench.fabric(), "t3", "h12"), priority: 4 };
    assert_eq!(
        outcome.cut_off.iter().map(|one| (one.flow, one.place)).collect::<Vec<_>>(),
        [(0, Obstacle::Held(held))]
    );
    // As T5 (`bounces.rs`).
    let wrong = base().with(|params| params.switch.tagging.queue_by = QueueBy::ArrivingTag).run();
    let lost = wrong.counts.lossless_drops;
    check("I3", "lossless drops, queue of the arriving tag", "> 0", lost as f64, lost > 0);
    assert_eq!(wrong.ledger.unbalanced().count(), 0);
}

#[test]
fn i4_a_storm() {
    let base = || {
        let bench = bench().flow(0, 12, 1 << 30, Time::ZERO).via(&["t0", "l0", "s0", "l2", "t3"]);
        let bench = bench.flow(8, 13, 1 << 30, Time::ZERO).via(&["t2", "l2", "t3"]);
        holding(bench, &[pause("h12", 3, EVENT, None)]).with(|params| params.measure.deadlock_every = Time::us(10))
    };
    let storm = base().run();
    check("I4", "rate of the other flow before, Gb/s", "> 18", before(&storm, 1), before(&storm, 1) > 18.0);
    exact("I4", "its rate in the storm, Gb/s", 0.0, after(&storm, 1));
    exact("I4", "deadlocks", 0, storm.deadlocks.len());
    exact("I4", "drops", 0, storm.counts.drops);
    assert_eq!((storm.stop, storm.cut_off.len()), (Stop::Horizon { unfinished: 2 }, 1));
    let outcome = watched(base(), WatchdogAction::Drop).run();
    let (was, is) = (before(&outcome, 1), rate(&outcome, 1, EVENT + Time::ms(2), END));
    check("I4", "rate of the other flow with a watchdog, Gb/s", "> 0.9 of that before", is, is > 0.9 * was);
    assert!(!outcome.storms.is_empty() && outcome.deadlocks.is_empty());
    assert!(outcome.counts.watchdog_drops > 0 && outcome.counts.lossless_drops == 0, "{:?}", outcome.counts);
    assert_eq!((outcome.cut_off.len(), outcome.cut_off[0].flow, outcome.ledger.unbalanced().count()), (1, 0, 0));
}

#[test]
fn i5_what_waits_for_ever_ends_the_run() {
    let base = || hub().flow(0, 1, 2_000_000, Time::ZERO).flow(0, 2, 2_000_000, Time::ZERO);
    let bench = holding(base(), &[pause("h1", 3, Time::us(10), None)]);
    let outcome = bench.run();
    assert_eq!(outcome.stop, Stop::Stalled { flows: vec![0], unfinished: 1 });
    let held = QueueRef { port: port(&bench.fabric(), "s0", "h1"), priority: 3 };
    assert_eq!((outcome.cut_off.len(), outcome.cut_off[0].place), (1, Obstacle::Held(held)));
    assert_eq!((outcome.counts.drops, outcome.ledger.unbalanced().count()), (0, 0));
    let long = holding(base(), &[pause("h1", 3, Time::us(10), Some(Time::ms(200)))]).run();
    assert_eq!(long.stop, Stop::Finished);
    assert!(fct(&long, 0) > Time::ms(200) && fct(&long, 1) < Time::ms(1));
}

#[test]
fn i6_a_switch_holds_and_pauses() {
    let base = || {
        Bench::new(chain(&[Cable::new(100, 500), Cable::new(100, 500), Cable::new(25, 500)]))
            .flow(0, 1, 8_000_000, Time::ZERO)
            .with(|params| {
                params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(100_000) };
                params.switch.resume_offset = Bytes(60_000);
            })
    };
    let plain = base().run();
    let own = pauses_of(&base(), &plain, "s0", "s1");
    let (start, end) = (own[1].start, own[1].end.expect("it ends"));
    let hold = |from: Time, until: Time| {
        let asked = PauseParams { peer: Some("s0".into()), ..pause("s1", 3, from, Some(until)) };
        let bench = holding(base(), &[asked]);
        let outcome = bench.run();
        assert_eq!((outcome.stop.clone(), outcome.counts.drops), (Stop::Finished, 0));
        let found = pauses_of(&bench, &outcome, "s0", "s1");
        (found, fct(&outcome, 0))
    };
    let middle = Time((start.0 + end.0) / 2);
    let within = hold(start, middle);
    assert_eq!(within.0, own);
    exact("I6", "completion, ps", fct(&plain, 0).0, within.1.0);
    let long = end + Time::us(200);
    let (found, later) = hold(middle, long);
    exact("I6", "begin of the pause, ps", start.0, found[1].start.0);
    exact("I6", "end of the pause, ps", long.0 + PFC + DELAY, found[1].end.expect("it ends").0);
    assert!(later > fct(&plain, 0));
}

#[test]
fn i7_pauses_end_with_their_link() {
    let down = |until: Time| {
        let failure = FailureParams {
            link: Some(["s0".into(), "h1".into()]),
            at: Time::us(50),
            until: Some(until),
            ..FailureParams::default()
        };
        let bench = hub().flow(0, 1, 2_000_000, Time::ZERO).with(|params| {
            params.network.failure = vec![failure];
            params.network.reroute_after = None;
            params.rdma.rto = Some(Time::us(200));
        });
        let bench = holding(bench, &[pause("h1", 3, Time::us(20), Some(Time::us(300)))]);
        let outcome = bench.run();
        assert_eq!((outcome.stop.clone(), outcome.ledger.unbalanced().count()), (Stop::Finished, 0));
        assert_eq!(outcome.links.iter().filter(|record| record.change == LinkChange::Up).count(), 1);
        let frames = record(&outcome, port(&bench.fabric(), "h1", "s0"), 3);
        let paused = pauses_of(&bench, &outcome, "s0", "h1");
        let times: Vec<_> = paused.iter().map(|pause| (pause.start, pause.end.expect("it ends"))).collect();
        (times, (frames.xoff_sent, frames.xon_sent))
    };
    let heard = |time: Time| time + Time(PFC + DELAY);
    let during = down(Time::us(100));
    assert!(during.0[0].0 >= heard(Time::us(20)) && during.0[0].0 < heard(Time::us(20)) + Time(64 * 80));
    assert_eq!((during.0[0].1, during.0[1]), (Time::us(50), (heard(Time::us(100)), heard(Time::us(300)))));
    assert_eq!((during.0.len(), during.1), (2, (2, 1)));
    let beyond = down(Time::us(400));
    assert_eq!((beyond.0.len(), beyond.0[0].1, beyond.1), (1, Time::us(50), (1, 0)));
}

#[test]
fn i8_a_hold_in_a_circle_is_no_deadlock() {
    let base = || {
        bouncing().with(|params| {
            params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(30_000) };
            params.measure.deadlock_every = Time::us(1);
        })
    };
    exact("I8", "deadlocks without a hold", 0, base().run().deadlocks.len());
    let hold = |from: Time, until: Time| PauseParams { peer: Some("l0".into()), ..pause("s0", 3, from, Some(until)) };
    // The first hold fills the cycle.
    let (begin, again) = (EVENT + Time::ms(1), EVENT + Time::us(1503));
    let outcome = holding(base(), &[hold(begin, begin + Time::us(500)), hold(again, again + Time::ms(2))]).run();
    let fabric = base().fabric();
    for (from, to) in [("s0", "l2"), ("l2", "s1"), ("s1", "l0")] {
        let port = port(&fabric, from, to);
        let waits = |pause: &PauseRecord| pause.port == port && pause.start < again && pause.end > Some(again);
        assert!(outcome.pauses.iter().any(waits), "{from} to {to} waits when the hold begins again");
    }
    exact("I8", "deadlocks", 0, outcome.deadlocks.len());
    let goes_on = rate(&outcome, 0, again + Time::ms(3), END);
    check("I8", "rate of flow 0 after, Gb/s", "> 10", goes_on, goes_on > 10.0);
    let small =
        outcome.pauses.iter().find(|pause| pause.start > again && pause.culprit.port == port(&fabric, "s0", "l0"));
    let held = small.expect("the second hold").ingress_bytes;
    check(
        "I8",
        "bytes counted at what is held, threshold 34096",
        "> 0, < 31024",
        held as f64,
        held > 0 && held < 31_024,
    );
}
