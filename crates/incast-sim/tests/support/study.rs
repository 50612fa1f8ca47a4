//! One case under one scheme, run in several ways beside the reference.

use std::sync::Arc;

use incast_model::fabric::{BaseRtts, Fabric};
use incast_model::flow::Flow;
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::switch::EcnThreshold;
use incast_sim::{Outcome, Params};

use super::{Scheme, exact_params, fct_ps, ns3_params, run};

/// Completion times in picoseconds, by flow in order of the list.
pub(crate) type Fcts = Vec<u64>;

/// Makes a fabric whose links of so many Gb/s have the rate that a function says.
pub(crate) type MakeFabric<'a> = &'a (dyn Fn(&dyn Fn(u64) -> Rate) -> Arc<Fabric> + Sync);

/// What is run, and how often.
#[derive(Clone, Copy)]
pub(crate) struct Study<'a> {
    pub(crate) fabric: MakeFabric<'a>,
    pub(crate) flows: &'a [Flow],
    pub(crate) scheme: Scheme,
    /// Runs with other seeds, for schemes that marks drive.
    pub(crate) seeds: u64,
    /// Runs with starts moved.
    pub(crate) moves: u64,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Findings {
    /// The defaults, with the reference's ECMP.
    pub(crate) exact: Fcts,
    /// The same on links that carry full data packets as fast as the reference's truncated times do. Only for DCQCN:
    /// HPCC steers to a share of the rate that a link says it has.
    pub(crate) wires: Option<Fcts>,
    /// As `exact`, with other random numbers.
    pub(crate) seeds: Vec<Fcts>,
    /// The reference's arithmetic with every flow's start 0 to 63 ns later.
    pub(crate) moved: Vec<Fcts>,
    /// The reference's arithmetic with flows of equal start listed the other way round, if there are any.
    pub(crate) ties: Option<Fcts>,
}

impl Study<'_> {
    /// Runs everything.
    pub(crate) fn find(&self) -> Findings {
        let nominal = (self.fabric)(&Rate::gbps);
        let (flows, scheme) = (self.flows, self.scheme);
        let listed = |params: Params| fcts(&run(&nominal, flows, scheme, params));
        let by_marks = matches!(scheme, Scheme::Dcqcn | Scheme::DcqcnAcksObey | Scheme::DcqcnWindow);
        let seeds = if by_marks { self.seeds } else { 0 };
        Findings {
            exact: listed(exact_params()),
            wires: by_marks.then(|| self.on_fast_wires(&nominal)),
            seeds: (1..=seeds).map(|seed| listed(Params { seed, ..exact_params() })).collect(),
            moved: (1..=self.moves).map(|round| self.in_other_order(&nominal, &moved(flows, round))).collect(),
            ties: flows
                .windows(2)
                .any(|pair| pair[0].start == pair[1].start)
                .then(|| self.in_other_order(&nominal, &reversed_ties(flows))),
        }
    }

    /// Links on which a full DCQCN packet takes the reference's time; all else by their nominal rates.
    fn on_fast_wires(&self, nominal: &Fabric) -> Fcts {
        let fast = |gbps: u64| {
            // 1048 B of 8 bits each, at so many bits in a nanosecond: see "serialisation" in docs/design/agreement.md.
            let truncated_ns = (1048 * 8 - 1) / gbps;
            Rate((1048 * 8_000_000_000u64).div_ceil(truncated_ns))
        };
        let mut params = exact_params();
        let (base_rtt, window) = BaseRtts::new(nominal, Bytes(1000)).max();
        (params.rdma.base_rtt, params.rdma.window) = (Some(base_rtt), Some(window));
        let threshold = |gbps: u64| {
            let (kmin, kmax) = (Bytes(4000 * gbps), Bytes(16_000 * gbps));
            EcnThreshold { rate: fast(gbps), kmin, kmax, pmax: 0.2 }
        };
        params.ecn.by_rate = vec![threshold(100), threshold(400)];
        fcts(&run(&(self.fabric)(&fast), self.flows, self.scheme, params))
    }

    /// The reference's arithmetic with flows in another order, given as flows and their places in the list.
    fn in_other_order(&self, fabric: &Arc<Fabric>, (flows, places): &(Vec<Flow>, Vec<usize>)) -> Fcts {
        let found = fcts(&run(fabric, flows, self.scheme, ns3_params()));
        let mut listed = vec![0; found.len()];
        places.iter().zip(found).for_each(|(&place, fct)| listed[place] = fct);
        listed
    }
}

fn fcts(outcome: &Outcome) -> Fcts {
    outcome.flows.iter().map(fct_ps).collect()
}

/// Starts 0 to 63 ns later, less than a packet's time at 100 Gb/s: each flow's own number of each round.
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
