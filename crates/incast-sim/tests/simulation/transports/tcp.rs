use incast_model::units::{Bytes, Rate, Time};
use incast_sim::host::NicQueue;
use incast_sim::measure::MeasureParams;
use incast_sim::network::{FailureParams, RandomLinks};
use incast_sim::switch::{EcnParams, MarkAt, QueueParams};
use incast_sim::transport::{TcpControl, TcpParams, Transport, TransportParams};

use crate::common::{Bench, Cable, check, dumbbell, fct, jain, star, within};

fn reno() -> TcpParams {
    TcpParams { control: TcpControl::named("reno").unwrap(), ..TcpParams::profile("datacenter").unwrap() }
}

/// At 1 Gb/s after slow start; buffer and path in packets.
fn utilisation(params: TcpParams, bdp: u64, buffer: u64) -> f64 {
    // A packet takes 12 us.
    let delay = (bdp - 1) * 12_000 / 2;
    let fabric = dumbbell(1, Cable::new(10, 0), Cable::new(1, delay));
    let queues = QueueParams::DropTail { limit: Bytes(1500 * buffer) };
    let bench = Bench::new(fabric).transport(Transport::Tcp(params)).flow(0, 1, 1 << 30, Time::ZERO);
    let bench = bench.with(|params| {
        params.switch.queues = queues;
        params.horizon = Some(Time::ms(1800));
        params.measure.sample_every = Some(Time::ms(600));
    });
    let samples = bench.run().rates;
    let [from, to] = [1, 2].map(|at| &samples[at]);
    let packets = (to.acked - from.acked) as f64 / 1460.0;
    packets * 12e-6 / ((to.time - from.time).0 as f64 * 1e-12)
}

/// NewReno's window grows to what path and buffer hold, then halves. Utilisation is 1 with a buffer as large as the path
/// (Appenzeller et al., SIGCOMM 2004), 3/4 without; between: another packet simulation.
#[test]
fn t1_utilisation_by_buffer() {
    for (bdp, buffer, expected) in [
        (20, 1, 0.78),
        (20, 2, 0.82),
        (20, 4, 0.87),
        (20, 10, 0.955),
        (20, 20, 1.0),
        (100, 1, 0.753),
        (100, 50, 0.965),
        (100, 100, 0.997),
    ] {
        let params = TcpParams { rto_min: Time::ms(10), sack: false, ..reno() };
        let used = utilisation(params, bdp, buffer);
        within("T1", &format!("utilisation, {bdp} packets of path, {buffer} of buffer"), expected, used, 0.03);
    }
}

/// `sqrt(3/2p)` packets per round trip (Mathis et al., CCR 1997); every segment is acknowledged.
#[test]
fn t2_rate_under_random_loss() {
    for loss in [1e-3, 4e-3] {
        let packets = 100_000;
        let failure = FailureParams {
            random: Some(RandomLinks { links: 1, tiers: Some([1, 1]) }),
            silent: Some(loss),
            ..FailureParams::default()
        };
        let fabric = dumbbell(1, Cable::new(100, 0), Cable::new(100, 250_000));
        let params = TcpParams { rto_min: Time::ms(10), ..reno() };
        let outcome = Bench::new(fabric)
            .transport(Transport::Tcp(params))
            .flow(0, 1, packets * 1460, Time::ZERO)
            .with(|params| params.network.failure = vec![failure.clone()])
            .run();
        let rtts = fct(&outcome, 0).0 as f64 / 500e6;
        within("T2", &format!("packets per round trip, loss {loss}"), (1.5 / loss).sqrt(), packets as f64 / rtts, 0.15);
    }
}

#[test]
fn t3_fairness() {
    for (control, bound) in [("reno", 0.95), ("cubic", 0.95), ("dctcp", 0.98)] {
        let params = TcpParams { rto_min: Time::ms(10), control: TcpControl::named(control).unwrap(), ..reno() };
        let transport = Transport::Tcp(params);
        let fabric = dumbbell(8, Cable::new(10, 1000), Cable::new(1, 100_000));
        let size = 8_000_000;
        let flows = (0..8).map(|pair| (pair, pair + 8, size, Time::us(137 * u64::from(pair))));
        let ecn = EcnParams { per_rate: Rate::gbps(1), mark_at: MarkAt::Enqueue, ..EcnParams::step(Bytes(20 * 1500)) };
        let outcome = Bench::new(fabric)
            .transport(transport)
            .flows(flows)
            .with(|params| {
                params.switch.queues = QueueParams::DropTail { limit: Bytes(1500 * 64) };
                params.ecn = EcnParams { enabled: control == "dctcp", ..ecn.clone() };
                params.horizon = Some(Time::ms(400));
            })
            .run();
        let shares: Vec<f64> = outcome.flows.iter().map(|flow| flow.acked as f64).collect();
        let index = jain(&shares);
        check(
            "T3",
            &format!("Jain's index of 8 flows by {control}"),
            format!("{bound} or more"),
            index,
            index >= bound,
        );
    }
}

/// SIGCOMM 2010, section 3.3 and figure 1.
#[test]
fn t4_dctcp_holds_the_queue_at_its_threshold() {
    let fabric = star(&[Cable::new(10, 20_000); 3]);
    let transport = Transport::Tcp(TcpParams::profile("dctcp").unwrap());
    let measure = MeasureParams {
        sample_every: Some(Time::us(10)),
        sample_from: Time::ms(10),
        sample_until: Some(Time::ms(50)),
        ..MeasureParams::default()
    };
    let bench = Bench::new(fabric)
        .transport(transport)
        .flows((0..2).map(|src| (src, 2, 40_000_000, Time::us(50 * u64::from(src)))));
    let outcome = bench.with(|params| (params.measure, params.horizon) = (measure.clone(), Some(Time::ms(50)))).run();
    let lengths: Vec<f64> = outcome.queues.iter().map(|sample| sample.bytes as f64 / 1500.0).collect();
    let mean = lengths.iter().sum::<f64>() / 4000.0;
    within("T4", "mean queue, packets", 65.0, mean, 0.2);
    let longest = lengths.iter().fold(0.0f64, |most, one| most.max(*one));
    check("T4", "longest queue, packets", "65 and a few", longest, longest < 65.0 + 12.0);
    let acked: u64 = outcome.flows.iter().map(|flow| flow.acked).sum();
    let used = acked as f64 * 8.0 * 1500.0 / 1460.0 / (10e9 * 0.05);
    check("T4", "utilisation", "above 0.97", used, used > 0.97);
    assert_eq!(outcome.counts.drops, 0);
}

/// Shape of Vasudevan et al., SIGCOMM 2009.
#[test]
fn t5_incast_collapse() {
    let goodput = |servers: u32, rto: Time| {
        let fabric = star(&vec![Cable::new(1, 25_000); servers as usize + 1]);
        let params = TcpParams {
            rto_min: rto,
            rto_init: rto,
            init_cwnd: 3,
            control: TcpControl::named("reno").unwrap(),
            sack: false,
            delayed_ack: None,
            ..TcpParams::default()
        };
        let flows = (0..servers).map(|src| (src, servers, 256_000, Time::ZERO));
        let queues = QueueParams::DropTail { limit: Bytes(64_000) };
        let bench = Bench::new(fabric).transport(Transport::Tcp(params)).flows(flows);
        let outcome = bench.with(|params| params.switch.queues = queues).run();
        let last = outcome.flows.iter().map(|flow| flow.fct().unwrap().0).max().unwrap_or(1);
        f64::from(servers) * 256_000.0 * 8.0 / (last as f64 * 1e-12) / 1e9
    };
    let (one, many, quick) = (goodput(1, Time::ms(200)), goodput(32, Time::ms(200)), goodput(32, Time::ms(1)));
    check("T5", "1 server, 200 ms: share of the link", "above 0.6", one, one > 0.6);
    check("T5", "32 servers, 200 ms", "below 0.1", many, many < 0.1);
    check("T5", "32 servers, 1 ms", "above 0.6", quick, quick > 0.6);
}

#[test]
fn t6_delayed_acknowledgements() {
    let run = |delayed_ack, segments: u64| {
        let params = TcpParams { delayed_ack, init_cwnd: 1, ..reno() };
        let fabric = star(&[Cable::new(10, 1000); 2]);
        Bench::new(fabric).transport(Transport::Tcp(params)).flow(0, 1, segments * 1460, Time::ZERO).run()
    };
    let (eager, lazy) = (run(None, 400), run(Some(Time::us(500)), 400));
    let ratio = lazy.counts.ack_hops as f64 / eager.counts.ack_hops as f64;
    within("T6", "ACKs, of those without delay", 0.5, ratio, 0.03);
    let late = (fct(&lazy, 0) - fct(&eager, 0)).0 as f64 * 1e-6;
    check("T6", "later by, us", "500 and a few round trips", late, (500.0..540.0).contains(&late));
    let [eager, lazy] = [None, Some(Time::us(500))].map(|delay| fct(&run(delay, 1), 0));
    assert_eq!(eager, lazy, "a last segment is acknowledged at once");
}

#[test]
fn t7_cubic_fills_long_pipes() {
    let time = |control: &str| {
        let params = TcpParams { control: TcpControl::named(control).unwrap(), rto_min: Time::ms(200), ..reno() };
        let fabric = dumbbell(1, Cable::new(10, 0), Cable::new(1, 25_000_000));
        let queues = QueueParams::DropTail { limit: Bytes(1500 * 800) };
        let bench = Bench::new(fabric).transport(Transport::Tcp(params)).flow(0, 1, 1_000_000_000, Time::ZERO);
        let outcome =
            bench.with(|params| (params.switch.queues, params.horizon) = (queues, Some(Time::ms(8000)))).run();
        outcome.flows[0].acked as f64
    };
    let (reno, cubic) = (time("reno"), time("cubic"));
    check("T7", "CUBIC's bytes in 8 s of 50 ms round trips, of Reno's", "above 1", cubic / reno, cubic > reno);
}

#[test]
fn t8_what_waits_in_the_hosts_own_queue_is_not_sent_again() {
    let (flows, packets) = (200, 50);
    let bench = Bench::new(star(&[Cable::new(40, 200), Cable::new(40, 200)]))
        .transport(Transport::Tcp(TcpParams::profile("disaggregation").unwrap()))
        .flows((0..flows).map(|_| (0, 1, packets * 1460, Time::ZERO)));
    let outcome = bench.run();
    let again: u64 = outcome.flows.iter().map(|flow| flow.retransmitted).sum();
    let share = again as f64 / (flows * packets) as f64;
    check("T8", "packets sent again, share", "below 0.01", share, share < 0.01);
    let last = outcome.flows.iter().map(|flow| flow.fct().unwrap().0).max().unwrap() as f64 * 1e-6;
    within("T8", "all done after, us", (flows * packets) as f64 * 0.3, last, 0.02);
}

#[test]
fn t9_a_busy_queue_of_its_own_does_not_hide_losses() {
    let bench = Bench::new(star(&[Cable::new(1, 1000), Cable::new(1, 1000)]))
        .transport(Transport::Tcp(TcpParams::profile("linux").unwrap()))
        .flow(0, 1, 100_000_000, Time::ZERO);
    let outcome = bench
        .with(|params| {
            params.switch.queues = QueueParams::DropTail { limit: Bytes(150_000) };
            params.host.nic_queue = NicQueue::Port;
        })
        .run();
    assert!(outcome.counts.drops > 0);
    let fct = outcome.flows[0].fct().unwrap().0 as f64 * 1e-9;
    check("T9", "100 MB at 1 Gb/s, ms", "821 to 1400", fct, (821.0..1400.0).contains(&fct));
}

/// Timeouts that wait for the host's queue go on if the link fails, which empties it.
#[test]
fn t10_a_failed_link_does_not_stop_timers() {
    for transport in
        [Transport::Tcp(TcpParams::profile("disaggregation").unwrap()), Transport::named("pfabric", "paper").unwrap()]
    {
        let failure = FailureParams {
            link: Some(["h0".into(), "s0".into()]),
            at: Time::us(100),
            until: Some(Time::us(200)),
            ..FailureParams::default()
        };
        let outcome = Bench::new(star(&[Cable::new(40, 200), Cable::new(40, 200)]))
            .transport(transport)
            .flows((0..60).map(|_| (0, 1, 50 * 1460, Time::ZERO)))
            .with(|params| params.network.failure = vec![failure])
            .run();
        assert!(outcome.counts.drops > 100, "{} packets waited", outcome.counts.drops);
        assert!(outcome.flows.iter().all(|flow| flow.fct().is_some()));
    }
}
