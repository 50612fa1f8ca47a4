use incast_model::range;
use incast_model::units::Time;

use super::TcpParams;
use super::control::TcpControl;
use super::sender::{Heard, Phase, Sender};
use crate::kernel::Range;
use crate::transport::TransportParams;
use crate::transport::segments::Packets;

const MSS: u64 = 1460;

fn sender(segments: u64, params: TcpParams) -> Sender {
    let mut sender = Sender::new(&params, Packets { size: segments * MSS, mss: MSS });
    sender.on_syn_ack(Time::us(10).0);
    sender
}

fn newreno() -> TcpParams {
    TcpParams { init_cwnd: 10, ..TcpParams::profile("newreno").expect("there is one") }
}

fn with_sack() -> TcpParams {
    TcpParams { control: TcpControl::named("reno").expect("there is one"), sack: true, ..newreno() }
}

fn sent(sender: &mut Sender) -> Vec<u64> {
    let mut numbers = Vec::new();
    while let Some(segment) = sender.next_segment() {
        numbers.push(segment.seq / MSS);
    }
    numbers
}

/// Acknowledges all before segment `next`, and `beyond`; returns the segments then sent.
fn ack_with(sender: &mut Sender, next: u64, beyond: &[(u64, u64)], marked: bool) -> Vec<u64> {
    let beyond: Vec<Range> = beyond.iter().map(|(start, end)| (start * MSS, end * MSS)).collect();
    let now = Time::us(100);
    sender.on_ack(&Heard { now, next: next * MSS, beyond: &beyond, rtt: Time::us(10).0, marked });
    sent(sender)
}

fn ack(sender: &mut Sender, next: u64) -> Vec<u64> {
    ack_with(sender, next, &[], false)
}

#[test]
fn slow_start_doubles_and_congestion_avoidance_adds_one() {
    let mut flow = sender(1000, TcpParams { init_cwnd: 1, ..newreno() });
    let mut rounds = Vec::new();
    let mut in_flight = sent(&mut flow);
    for _ in 0..5 {
        rounds.push(in_flight.len());
        in_flight = in_flight.iter().flat_map(|segment| ack(&mut flow, segment + 1)).collect();
    }
    assert_eq!(rounds, [1, 2, 4, 8, 16]);
    // Slow start up to half of the flight; then a segment per round.
    flow.on_timeout();
    let mut in_flight = sent(&mut flow);
    let mut rounds = Vec::new();
    for _ in 0..7 {
        rounds.push(in_flight.len());
        in_flight = in_flight.iter().flat_map(|segment| ack(&mut flow, segment + 1)).collect();
    }
    assert_eq!(rounds, [1, 2, 4, 8, 16, 17, 18]);
}

#[test]
fn three_duplicates_bring_a_fast_retransmit_and_each_more_a_new_segment() {
    let mut flow = sender(100, newreno());
    assert_eq!(sent(&mut flow), (0..10).collect::<Vec<_>>());
    assert!(ack(&mut flow, 0).is_empty() && ack(&mut flow, 0).is_empty());
    assert_eq!(ack(&mut flow, 0), [0], "segment 0 again");
    assert_eq!((flow.phase, flow.cwnd()), (Phase::Recovery, 8 * MSS), "half of ten, and three");
    assert!(ack(&mut flow, 0).is_empty() && ack(&mut flow, 0).is_empty());
    assert_eq!([ack(&mut flow, 0), ack(&mut flow, 0)], [[10], [11]], "segments that have left let others in");
    assert_eq!(ack(&mut flow, 10), [12], "no burst: one more than the two in flight");
    assert_eq!(flow.phase, Phase::Open);
}

#[test]
fn newreno_goes_from_hole_to_hole() {
    let mut flow = sender(100, newreno());
    sent(&mut flow);
    (0..2).for_each(|_| drop(ack(&mut flow, 0)));
    assert_eq!(ack(&mut flow, 0)[0], 0);
    assert_eq!(ack(&mut flow, 3)[0], 3, "a partial acknowledgement");
    assert_eq!(ack(&mut flow, 7)[0], 7);
    assert_eq!(flow.phase, Phase::Recovery);
    ack(&mut flow, 10);
    assert_eq!(flow.phase, Phase::Open);
}

#[test]
fn with_sack_all_holes_are_filled_within_the_window() {
    let mut flow = sender(100, with_sack());
    sent(&mut flow);
    assert_eq!(ack_with(&mut flow, 0, &[(1, 2)], false), [10], "what has come is no longer in flight");
    assert_eq!(ack_with(&mut flow, 0, &[(1, 3)], false), [11]);
    // The first hole is lost: three segments beyond. The window is six, eight are in flight.
    assert_eq!(ack_with(&mut flow, 0, &[(1, 3), (5, 6)], false), [0]);
    assert_eq!((flow.phase, flow.cwnd()), (Phase::Recovery, 6 * MSS));
    assert!(ack_with(&mut flow, 0, &[(1, 3), (5, 7)], false).is_empty());
    assert_eq!(ack_with(&mut flow, 0, &[(1, 3), (5, 8)], false), [3], "two more are lost, and so not in flight");
    assert_eq!(ack_with(&mut flow, 0, &[(1, 3), (5, 9)], false), [4]);
    assert_eq!(ack_with(&mut flow, 3, &[(5, 10)], false), [12, 13], "3 has been sent again already");
    ack(&mut flow, 12);
    assert_eq!((flow.phase, flow.cwnd()), (Phase::Open, 6 * MSS));
}

#[test]
fn a_timeout_goes_back_and_skips_what_has_come() {
    let mut flow = sender(30, with_sack());
    sent(&mut flow);
    ack_with(&mut flow, 0, &[(2, 4)], false);
    let timeout = flow.timeout();
    flow.on_timeout();
    assert_eq!((flow.phase, flow.cwnd()), (Phase::Loss, MSS));
    assert_eq!(flow.timeout(), 2 * timeout);
    assert_eq!(sent(&mut flow), [0]);
    assert_eq!(ack(&mut flow, 1), [1, 4]);
    assert_eq!(flow.timeout(), timeout, "something new was heard");
    assert_eq!(ack(&mut flow, 4), [5, 6, 7]);
    (0..5).for_each(|_| drop(ack(&mut flow, 4)));
    assert_eq!(flow.phase, Phase::Loss);
    ack(&mut flow, 12);
    assert_eq!(flow.phase, Phase::Open);
    (0..3).for_each(|_| drop(ack(&mut flow, 12)));
    assert_eq!(flow.phase, Phase::Open, "not before more than that is acknowledged");
}

#[test]
fn marks_cut_once_per_window() {
    let dctcp = TcpParams { init_cwnd: 10, ..TcpParams::profile("dctcp").expect("there is one") };
    let mut flow = sender(1000, dctcp);
    sent(&mut flow);
    ack_with(&mut flow, 1, &[], true);
    // The first window of data is one segment: alpha stays 1, the window is halved.
    assert_eq!(flow.cwnd(), 5 * MSS);
    (2..11).for_each(|next| drop(ack_with(&mut flow, next, &[], true)));
    assert_eq!(flow.cwnd() / MSS, 5, "of the same window of data");
    ack_with(&mut flow, 11, &[], true);
    assert!(flow.cwnd() / MSS < 4, "of the next one");
    let mut deaf = sender(1000, newreno());
    sent(&mut deaf);
    ack_with(&mut deaf, 1, &[], true);
    assert_eq!(deaf.cwnd(), 11 * MSS);
}

#[test]
fn without_duplicates_only_timeouts_tell_of_losses() {
    let mut flow =
        sender(100, TcpParams { init_cwnd: 10, ..TcpParams::profile("disaggregation").expect("there is one") });
    sent(&mut flow);
    (0..9).for_each(|beyond| {
        let heard = Heard { now: Time::ZERO, next: 0, beyond: &[(MSS, (2 + beyond) * MSS)], rtt: 1, marked: false };
        assert!(!flow.on_ack(&heard));
    });
    assert_eq!(flow.phase, Phase::Open);
    assert!(!flow.counts_duplicates());
    flow.on_timeout();
    assert_eq!(flow.timeout(), Time::us(45).0, "always the same");
    assert_eq!(sent(&mut flow), [0]);
    assert_eq!(ack(&mut flow, 10), [10, 11]);
}

#[test]
fn nothing_is_sent_before_the_handshake_is_over() {
    let mut flow = Sender::new(&newreno(), Packets { size: 5 * MSS, mss: MSS });
    assert!(sent(&mut flow).is_empty());
    assert_eq!(flow.timeout(), Time::ms(10).0);
    flow.on_timeout();
    assert_eq!((flow.phase, flow.timeout()), (Phase::Handshake, Time::ms(20).0));
    flow.on_syn_ack(Time::us(10).0);
    assert_eq!(flow.timeout(), Time::ms(1).0);
    assert_eq!(sent(&mut flow), [0, 1, 2, 3, 4]);
    ack(&mut flow, 5);
    assert!(flow.is_done());
}

#[test]
fn parameters_have_bounds() {
    let usual = TcpParams::default;
    for bad in [
        TcpParams { init_cwnd: 0, ..usual() },
        TcpParams { max_cwnd: Some(9), ..usual() },
        TcpParams { abc_limit: 0, ..usual() },
        TcpParams { rto: Some(Time::ZERO), ..usual() },
        TcpParams { rto_min: Time::ZERO, ..usual() },
        TcpParams { rto_max: Time::ms(100), ..usual() },
        TcpParams { rto_init: Time::ZERO, ..usual() },
        TcpParams { dupacks: Some(0), ..usual() },
        TcpParams { sack_blocks: Some(0), ..usual() },
        TcpParams { delayed_ack: Some(Time::ZERO), ..usual() },
        TcpParams { ack_every: 0, ..usual() },
    ] {
        assert!(range::check(&bad).and_then(|()| bad.check()).is_err(), "{bad:?}");
    }
    for (name, _) in TcpParams::PROFILES {
        assert_eq!(
            TcpParams::profile(name).map(|profile| range::check(&profile).and_then(|()| profile.check())),
            Some(Ok(())),
            "{name}"
        );
    }
}
