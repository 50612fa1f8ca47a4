use incast_model::units::{Bytes, Time};
use incast_sim::Arithmetic;
use incast_sim::switch::{Forwarding, QueueParams};
use incast_sim::transport::{FastpassParams, PhostParams, Transport};

use super::{named, racks};
use crate::common::{Bench, Cable, star};

fn bench(transport: Transport) -> Bench {
    Bench::new(racks(2)).transport(transport).flow(0, 1, 5000, Time::ZERO)
}

#[test]
fn refused() {
    let elsewhere =
        |arbiter: &str| Transport::Fastpass(FastpassParams { arbiter: arbiter.into(), ..FastpassParams::default() });
    assert_eq!(
        bench(elsewhere("arbitre")).refused(),
        "transport.fastpass.arbiter: there is no host `arbitre` on the fabric (allowed: a host; [[service]] adds one to the \
         fabric); did you mean `arbiter`?"
    );
    assert_eq!(
        bench(elsewhere("h1")).refused(),
        "transport.fastpass.arbiter: `h1` is one end of flow 0 (allowed: a host that no flow begins or ends at; [[service]] \
         adds one to the fabric)"
    );
    let none = Transport::Phost(PhostParams { window: 0, ..PhostParams::default() });
    assert_eq!(bench(none).refused(), "transport.phost.window = 0: must be 1 or more");
    let two = bench(named("phost", "yaps")).then_transport(named("phost", "paper")).flow(2, 3, 5000, Time::ZERO);
    assert_eq!(
        two.refused(),
        "transport.phost: flows of one run have it with different parameters; hosts have one set for all of them"
    );
    let ns3 = bench(named("tcp", "linux")).with(|params| params.arithmetic = Arithmetic::Ns3);
    assert_eq!(ns3.refused(), "transport: ns3 arithmetic knows RDMA only");
    let rdma = || Bench::new(star(&[Cable::new(100, 1000); 3])).flow(0, 1, 5000, Time::ZERO);
    let cut = rdma().with(|params| {
        params.arithmetic = Arithmetic::Ns3;
        params.switch.forwarding = Forwarding::CutThrough;
    });
    assert_eq!(cut.refused(), "switch.forwarding = cut-through: must be store-and-forward, or exact arithmetic");
    let own = rdma().with(|params| params.switch.queues = QueueParams::DropTail { limit: Bytes(0) });
    assert_eq!(own.refused(), "switch.queues.drop-tail.limit = 0B: must be above 0B, at most 2GiB");
    let header = rdma().with(|params| params.switch.cut_through_header = Bytes(0));
    assert_eq!(header.refused(), "switch.cut_through_header = 0B: must be 1B to 4096B");
    let wide = Bench::new(star(&[Cable::new(100, 1000); 4097])).flow(0, 1, 5000, Time::ZERO);
    assert_eq!(wide.refused(), "fabric: switch `s0` has 4097 ports; at most 4096 are possible");
    let long = rdma().with(|params| params.horizon = Some(Time::ms(4_000_001)));
    assert_eq!(long.refused(), "simulation.horizon: 4000.001s is out of range; at most 4000s is possible");
    let late = rdma().flow(0, 1, 5000, Time::ms(4_000_000));
    assert_eq!(late.refused(), "workload: a flow starts at 4000 s; a simulation lasts 4000 s at most");
    let huge = rdma().flow(0, 1, 1 << 63, Time::ZERO);
    assert_eq!(huge.refused(), "workload: the flows have 9.223 EB together; at most 1 EB is possible");
    let mss = rdma().with(|params| params.packets.mss = Bytes(65_500));
    assert_eq!(mss.refused(), "packets.mss: 65.5kB makes segments of 65540 B; at most 65535 B are possible");
}
