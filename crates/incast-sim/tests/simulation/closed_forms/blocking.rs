use incast_model::units::{Bytes, Time};
use incast_sim::Outcome;
use incast_sim::network::PauseParams;

use crate::common::{Bench, Cable, check, digest, exact, leaf_spine, star};

/// Eight hosts on two leaves send to h0 over one spine. Victims: h10 to the idle h1, and h11 to h17 on the other leaf.
fn two_hops() -> Bench {
    let fabric = leaf_spine(3, 6, 1, Cable::new(100, 200), Cable::new(400, 200));
    let bench = Bench::new(fabric).with(|params| {
        params.switch.buffer = Bytes(4_000_000);
        params.switch.lossless = vec![2, 3];
        params.ecn.enabled = false;
        params.measure.blocking = true;
    });
    let senders = [6, 7, 8, 9, 12, 13, 14, 15];
    let bench = senders.into_iter().fold(bench, |bench, host| bench.flow(host, 0, 6_000_000, Time::ZERO));
    bench.flow(10, 1, 2_000_000, Time::us(100)).flow(11, 17, 2_000_000, Time::us(100))
}

const VICTIM: usize = 8;

fn others(outcome: &Outcome, of: impl Fn(&incast_sim::measure::Waits) -> Time) -> u64 {
    outcome.waits[..VICTIM].iter().map(|waits| of(waits).0).sum()
}

#[test]
fn o1_the_root_is_the_end_of_the_chain() {
    let outcome = two_hops().run();
    for victim in &outcome.waits[VICTIM..] {
        let (blocked, at_host) = (victim.blocked, victim.host_blocked);
        check("O1", "victim blocked in switches, ms", "> 100", blocked.0 as f64 / 1e9, blocked > Time::ms(100));
        exact("O1", "of that as a victim, ps", blocked.0, victim.victim.0);
        check("O1", "victim blocked at its host, ms", "> 1", at_host.0 as f64 / 1e9, at_host > Time::ms(1));
        exact("O1", "of that as a victim, ps", at_host.0, victim.host_victim.0);
    }
    check("O1", "others blocked at hosts", "> 0", others(&outcome, |one| one.host_blocked) as f64, {
        others(&outcome, |one| one.host_blocked) > 0
    });
    exact("O1", "others as victims in switches, ps", 0, others(&outcome, |one| one.victim));
    exact("O1", "others as victims at hosts, ps", 0, others(&outcome, |one| one.host_victim));
    assert_eq!(digest(&outcome), digest(&two_hops().with(|params| params.measure.blocking = false).run()));
}

#[test]
fn o2_a_wait_at_a_host_by_hand() {
    let pause = |until| PauseParams {
        at: "s0".into(),
        peer: Some("h0".into()),
        priority: 3,
        from: Time::us(1),
        until: Some(until),
        random: None,
    };
    let (until, start) = (Time::us(50), Time::us(10));
    let bench = || {
        let bench = Bench::new(star(&[Cable::new(100, 500); 3])).flow(0, 1, 1000, start).flow(0, 2, 1000, Time::us(20));
        bench.flow_of(4, 0, 2, 1000, start)
    };
    let outcome = bench()
        .with(|params| {
            params.measure.blocking = true;
            params.switch.lossless = vec![3, 4];
            params.network.pause.push(pause(until));
        })
        .run();
    let resumed = until.0 + 64 * 80 + 500_000;
    let of = |src: u32, dst: u32, prio: u8| {
        let flows = bench().sorted();
        let at = flows.flows.iter().position(|one| (one.src.0, one.dst.0, one.priority) == (src, dst, prio));
        outcome.waits[at.expect("such a flow")]
    };
    exact("O2", "the first, blocked at its host, ps", resumed - start.0, of(0, 1, 3).host_blocked.0);
    exact("O2", "the second, ps", resumed - Time::us(20).0, of(0, 2, 3).host_blocked.0);
    exact("O2", "another priority, ps", 0, of(0, 2, 4).host_blocked.0);
    exact("O2", "as a victim: the switch paused by itself, ps", 0, of(0, 1, 3).host_victim.0);
    exact("O2", "in switches, ps", 0, of(0, 1, 3).blocked.0);
}

#[test]
fn o3_who_may_not_send_does_not_wait() {
    let pause = PauseParams {
        at: "s0".into(),
        peer: Some("h0".into()),
        priority: 3,
        from: Time::us(1),
        until: Some(Time::us(50)),
        random: None,
    };
    let outcome = Bench::new(star(&[Cable::new(100, 500); 2]))
        .flow(0, 1, 1000, Time::ZERO)
        .with(|params| {
            params.measure.blocking = true;
            params.network.pause.push(pause.clone());
        })
        .run();
    exact("O3", "blocked at its host, ps", 0, outcome.waits[0].host_blocked.0);
}
