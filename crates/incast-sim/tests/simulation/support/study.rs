use std::sync::Arc;

use incast_model::fabric::Fabric;
use incast_model::flow::Flow;
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::switch::EcnThreshold;
use incast_sim::{Outcome, Params};

use super::{Scheme, exact_params, fct_ps, ns3_params, run};

/// In ps, by flow.
pub(crate) type Fcts = Vec<u64>;

/// Maps nominal Gb/s to a link's rate.
pub(crate) type MakeFabric<'a> = &'a (dyn Fn(&dyn Fn(u64) -> Rate) -> Arc<Fabric> + Sync);

#[derive(Clone, Copy)]
pub(crate) struct Study<'a> {
    pub(crate) fabric: MakeFabric<'a>,
    pub(crate) flows: &'a [Flow],
    pub(crate) scheme: Scheme,
    pub(crate) buffer: Bytes,
    pub(crate) seeds: u64,
    /// 0: no run in another order at all.
    pub(crate) moves: u64,
}

#[derive(Debug)]
pub(crate) struct Findings {
    /// Defaults with the reference's ECMP.
    pub(crate) exact: Fcts,
    /// Links carry full packets in the reference's truncated times. Not for HPCC and HPCC-PINT, which steer to a share of the
    /// rate.
    pub(crate) wires: Option<Fcts>,
    /// Other seeds: DCQCN (random marks), HPCC-PINT (random rounding).
    pub(crate) seeds: Vec<Fcts>,
    /// Reference arithmetic, starts 0 to 63 ns later.
    pub(crate) moved: Vec<Fcts>,
    /// Reference arithmetic, flows of equal start in reverse order.
    pub(crate) ties: Option<Fcts>,
}

impl Study<'_> {
    pub(crate) fn find(&self) -> Findings {
        let nominal = (self.fabric)(&Rate::gbps);
        let (flows, scheme) = (self.flows, self.scheme);
        let exact = || self.buffered(exact_params());
        let listed = |params: Params| fcts(&run(&nominal, flows, scheme, params));
        let by_chance = match scheme {
            Scheme::Dcqcn | Scheme::DcqcnAcksObey | Scheme::DcqcnWindow | Scheme::Pint95 | Scheme::Pint99 => true,
            Scheme::Hpcc95 | Scheme::Hpcc99 | Scheme::Timely | Scheme::TimelyWindow | Scheme::Dctcp => false,
        };
        let seeds = if by_chance { self.seeds } else { 0 };
        let packet = match scheme {
            Scheme::Hpcc95 | Scheme::Hpcc99 | Scheme::Pint95 | Scheme::Pint99 => None,
            Scheme::Timely | Scheme::TimelyWindow => Some(1056),
            Scheme::Dcqcn | Scheme::DcqcnAcksObey | Scheme::DcqcnWindow | Scheme::Dctcp => Some(1048),
        };
        Findings {
            exact: listed(exact()),
            wires: packet.map(|packet| self.on_fast_wires(&nominal, packet)),
            seeds: (1..=seeds).map(|seed| listed(Params { seed, ..exact() })).collect(),
            moved: (1..=self.moves).map(|round| self.in_other_order(&nominal, &moved(flows, round))).collect(),
            ties: (self.moves > 0 && flows.windows(2).any(|pair| pair[0].start == pair[1].start))
                .then(|| self.in_other_order(&nominal, &reversed_ties(flows))),
        }
    }

    fn buffered(&self, mut params: Params) -> Params {
        params.switch.buffer = self.buffer;
        params
    }

    fn on_fast_wires(&self, nominal: &Fabric, packet: u64) -> Fcts {
        let fast = |gbps: u64| {
            // See "Links are too fast" in docs/design/agreement.md.
            let truncated_ns = (packet * 8 - 1) / gbps;
            Rate((packet * 8_000_000_000).div_ceil(truncated_ns))
        };
        let mut params = self.buffered(exact_params());
        let (base_rtt, window) = nominal.longest_rtt(Bytes(1000));
        (params.rdma.base_rtt, params.rdma.window) = (Some(base_rtt), Some(window));
        let threshold = |gbps: u64| {
            let (kmin, kmax, pmax) = if self.scheme == Scheme::Dctcp { (3000, 3000, 1.0) } else { (4000, 16_000, 0.2) };
            EcnThreshold { rate: fast(gbps), kmin: Bytes(kmin * gbps), kmax: Bytes(kmax * gbps), pmax }
        };
        params.ecn.by_rate = vec![threshold(100), threshold(400)];
        fcts(&run(&(self.fabric)(&fast), self.flows, self.scheme, params))
    }

    fn in_other_order(&self, fabric: &Arc<Fabric>, (flows, places): &(Vec<Flow>, Vec<usize>)) -> Fcts {
        let found = fcts(&run(fabric, flows, self.scheme, self.buffered(ns3_params())));
        let mut listed = vec![0; found.len()];
        places.iter().zip(found).for_each(|(&place, fct)| listed[place] = fct);
        listed
    }
}

fn fcts(outcome: &Outcome) -> Fcts {
    outcome.flows.iter().map(fct_ps).collect()
}

/// Less than a packet's time at 100 Gb/s.
fn moved(flows: &[Flow], round: u64) -> (Vec<Flow>, Vec<usize>) {
    let later = |place: usize| {
        let mixed = (round << 32 | place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 58
    };
    let delayed = |(place, flow): (usize, &Flow)| Flow { start: flow.start + Time::ns(later(place)), ..flow.clone() };
    sorted(flows.iter().enumerate().map(delayed).enumerate().collect())
}

fn reversed_ties(flows: &[Flow]) -> (Vec<Flow>, Vec<usize>) {
    let mut reversed: Vec<_> = flows.iter().cloned().enumerate().collect();
    reversed.reverse();
    sorted(reversed)
}

fn sorted(mut flows: Vec<(usize, Flow)>) -> (Vec<Flow>, Vec<usize>) {
    flows.sort_by_key(|(_, flow)| flow.start);
    flows.into_iter().map(|(place, flow)| (flow, place)).unzip()
}
