//! `host/selective` tests single losses packet by packet.

use incast_model::units::{Bytes, Time};
use incast_sim::Arithmetic;
use incast_sim::host::Recovery;
use incast_sim::outcome::{Outcome, Stop};

use crate::common::{Bench, Cable, check, exact, star};

/// The switch holds 60 packets.
fn incast(senders: u32, recovery: Recovery) -> Bench {
    let cables = vec![Cable::new(100, 1000); senders as usize + 1];
    let flows = (1..=senders).map(|src| (src, 0, 200_000, Time::ZERO));
    Bench::new(star(&cables)).flows(flows).with(|params| {
        params.rdma.recovery = recovery;
        params.rdma.rto = Some(Time::us(320));
        params.switch.lossless = vec![];
        params.switch.reserve = Bytes(0);
        params.switch.buffer = Bytes(64_000);
    })
}

fn again(outcome: &Outcome) -> u64 {
    outcome.flows.iter().map(|flow| flow.retransmitted).sum()
}

/// Not always earlier: only timeouts find lost retransmissions.
#[test]
fn l1_selective_repeat_sends_less_again() {
    for senders in [2, 4, 8, 16] {
        let [repeat, back] = [Recovery::SelectiveRepeat, Recovery::GoBackN].map(|how| incast(senders, how).run());
        let (repeats, backs) = (again(&repeat), again(&back));
        check("L1", &format!("{senders} to 1, sent again"), format!("<= {backs}"), repeats as f64, repeats <= backs);
        assert!(repeat.counts.drops > 0 && repeats >= repeat.counts.drops, "what is lost is sent again");
        for outcome in [&repeat, &back] {
            let sent: u64 = outcome.flows.iter().map(|flow| flow.packets).sum();
            let discarded: u64 = outcome.flows.iter().map(|flow| u64::from(flow.discarded)).sum();
            let lost = outcome.drops.iter().filter(|drop| drop.bytes == 1048).count() as u64;
            exact("L1", &format!("{senders} to 1, packets kept"), 200 * u64::from(senders), sent - lost - discarded);
            assert_eq!(outcome.stop, Stop::Finished);
        }
    }
}

#[test]
fn l2_where_nothing_is_lost_recovery_does_not_matter() {
    let run = |recovery| {
        let run = incast(8, recovery).with(|params| {
            params.switch.lossless = vec![3];
            params.switch.buffer = Bytes(32 << 20);
            params.rdma.rto_low = Time::us(320);
            params.rdma.bdp_bound = false;
        });
        run.run()
    };
    let [repeat, back] = [run(Recovery::SelectiveRepeat), run(Recovery::GoBackN)];
    exact("L2", "sent again", 0, again(&repeat));
    assert_eq!(repeat.flows, back.flows);
}

#[test]
fn l3_what_cannot_be_is_refused() {
    let why = |set: &dyn Fn(&mut incast_sim::Params)| incast(2, Recovery::SelectiveRepeat).with(|p| set(p)).refused();
    assert_eq!(
        why(&|params| params.arithmetic = Arithmetic::Ns3),
        "rdma.recovery: selective-repeat is not possible in ns3 arithmetic: the HPCC authors' ns-3 has go-back-n only"
    );
    assert_eq!(
        why(&|params| params.rdma.rto_low = Time::ms(1)),
        "rdma.rto_low = 1ms: must be at most the timeout for more packets in flight, rdma.rto, 320us"
    );
    assert_eq!(why(&|params| params.rdma.rto_low = Time::ZERO), "rdma.rto_low = 0ps: must be more than 0s");
    assert_eq!(
        why(&|params| params.rdma.reorder_window = Some(40_000)),
        "rdma.reorder_window = 40000: must be at most 32767, or \"none\""
    );
}
