//! Fixed limits, optimal for a known workload: max-min shares under VMs' hoses.

use incast_model::maxmin::{Demand, max_min};

use super::{Hypervisor, Hypervisors};
use crate::kernel::FlowId;

impl Hypervisors {
    /// Answers are unlimited. `most`: rate in bit/s above which a flow never sends.
    pub(crate) fn reserve(&mut self, most: impl Fn(FlowId) -> f64) {
        if !matches!(self.rules.params, Hypervisor::Reservation(_)) {
            return;
        }
        // Hoses to send and to receive; no guarantee: unlimited.
        let hose = |rate: f64| if rate > 0.0 { rate } else { f64::INFINITY };
        let hoses: Vec<f64> = self.vms.iter().flat_map(|vm| [hose(vm.send), hose(vm.receive)]).collect();
        let reserved: Vec<u32> =
            (0u32..).zip(&self.pairs).filter(|(_, pair)| pair.carries_data).map(|(number, _)| number).collect();
        let mut sends = vec![0.0; self.pairs.len()];
        for flow in self.pairs_of.ids() {
            sends[self.pairs_of[flow][0] as usize] += most(flow);
        }
        let demand = |&number: &u32| {
            let pair = &self.pairs[number as usize];
            let hoses = [2 * pair.src as usize, 2 * pair.dst as usize + 1];
            Demand { most: sends[number as usize], ..Demand::greedy(hoses) }
        };
        let demands: Vec<Demand> = reserved.iter().map(demand).collect();
        for (number, rate) in reserved.into_iter().zip(max_min(&hoses, &demands)) {
            let pair = &mut self.pairs[number as usize];
            pair.send.reserve(&self.rules, self.vms[pair.src as usize].at_most(rate));
        }
    }
}
