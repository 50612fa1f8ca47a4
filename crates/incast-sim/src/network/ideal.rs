//! Ideal completion times: what a flow would take alone.

use incast_model::units::Time;

use super::Network;
use crate::setup::Params;
use crate::simulation::SetupError;

impl Network {
    /// Fills in paths' lengths and ideal times of all flows; an error if INT has no room for a path.
    pub(super) fn find_ideals(&mut self, params: &Params) -> Result<(), SetupError> {
        for flow in 0..self.flows.flows.len() as u32 {
            let [out, back] = self.walk(flow);
            let spec = &self.flows.flows[flow as usize];
            let int = self.controls[self.control_of_tag[usize::from(spec.tag)]].needs_int;
            let switches = out.len() - 1;
            if int && switches > usize::from(params.packets.int_records) {
                return Err(SetupError {
                    field: "packets.int_records".into(),
                    message: format!(
                        "{} records do not cover the {switches} switches on the path of flow {flow}; at least {switches} are \
                         needed (at most {} are possible)",
                        params.packets.int_records,
                        crate::congestion::MAX_INT_RECORDS
                    ),
                });
            }
            let (size, reference) = (spec.size.0, self.reference_ideal(&out, spec.size.0));
            let record = &mut self.flow_records[flow as usize];
            record.hops = out.len().min(255) as u8;
            record.ideal_reference = reference;
            self.flow_records[flow as usize].ideal_exact = self.exact_ideal(&out, &back, size, int);
        }
        Ok(())
    }

    /// `third.cc`: base RTT (both ways' propagation, one payload serialised per link one way) plus the flow with basic
    /// headers at the slowest link. Whole nanoseconds in `ns3` arithmetic.
    fn reference_ideal(&self, out: &[u32], size: u64) -> Time {
        let packets = &self.config.packets;
        let unit = if self.config.ns3 { 1000 } else { 1 };
        let cut = |ps: u128| ps as u64 / unit * unit;
        let rate = |port: u32| self.rates[usize::from(self.ports[port as usize].rate)];
        let time = |bytes: u64, rate: u64| cut(u128::from(bytes) * 8_000_000_000_000 / u128::from(rate));
        let propagation: u64 = out.iter().map(|&port| 2 * self.ports[port as usize].delay).sum();
        let serialised: u64 = out.iter().map(|&port| time(packets.payload.0, rate(port))).sum();
        let slowest = out.iter().map(|&port| rate(port)).min().expect("a path has links");
        let wire = size + packets.data_header.0 * size.div_ceil(packets.payload.0);
        Time(propagation + serialised + time(wire, slowest))
    }

    /// The flow alone: packets back to back at line rate, stored and forwarded, until the ACK of the last is back. (An ACK
    /// that would wait for the one before it, behind a short last packet, is taken as not waiting: it is a lower bound.)
    fn exact_ideal(&self, out: &[u32], back: &[u32], size: u64, int: bool) -> Time {
        let packets = &self.config.packets;
        let int = if int { packets.int_header() } else { 0 };
        let count = size.div_ceil(packets.payload.0);
        let full = packets.data_header.0 + packets.payload.0 + int;
        let last = packets.data_header.0 + int + (size - (count - 1) * packets.payload.0);
        // End of the last full packet on each link, and arrival of the last packet at its far end.
        let (mut first, mut slowest, mut arrived) = (0, 0, 0);
        for &port in out {
            let delay = self.ports[port as usize].delay;
            let each = self.busy_time(port, full);
            slowest = each.max(slowest);
            let link_free = if count > 1 { first + each + (count - 2) * slowest } else { 0 };
            first += self.wire_time(port, full) + delay;
            arrived = arrived.max(link_free) + self.wire_time(port, last) + delay;
        }
        let ack = (packets.ack.0 + int).max(packets.min_ack.0);
        let returned: u64 = back.iter().map(|&port| self.wire_time(port, ack) + self.ports[port as usize].delay).sum();
        Time(arrived + returned)
    }
}
