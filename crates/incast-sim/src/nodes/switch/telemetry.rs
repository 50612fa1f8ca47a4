//! Telemetry of a switch: INT or PINT records in passing packets.

use incast_model::rng::Stream;
use incast_model::units::Time;

use super::port::Port;
use crate::congestion::{IntFormat, IntRecord, int_record};
use crate::kernel::{LocalPort, flag};
use crate::nodes::carried::Carried;
use crate::nodes::packet::Packet;
use crate::ns3::Rand;
use crate::plan::Network;
use crate::switch::Pint;

#[derive(Debug)]
pub(super) struct Telemetry {
    format: IntFormat,
    pint: Option<Pint>,
    /// Distinct, in bit/s.
    rates: Vec<u64>,
}

impl Telemetry {
    /// `None` if no control needs telemetry.
    pub(super) fn new(network: &Network, ports: usize) -> Option<Box<Self>> {
        network.config.switch.telemetry.then(|| {
            let pint = network.switches.pint.as_ref().map(|pint| pint.of_ports(ports));
            Box::new(Self { format: network.config.switch.int, pint, rates: network.rates.clone() })
        })
    }

    /// In `ns3` arithmetic, all switches share PINT's random numbers.
    pub(super) fn exchange(&mut self, rand: &mut Option<Rand>) {
        if let Some(pint) = &mut self.pint {
            std::mem::swap(&mut pint.reference, rand);
        }
    }

    /// With the packet's number of records.
    #[inline]
    pub(super) fn record(
        &mut self,
        number: LocalPort,
        port: &Port,
        packet: &Packet,
        now: u64,
        carried: &Carried,
        rng: &mut Stream,
    ) -> Option<(IntRecord, u8)> {
        if self.pint.is_some() {
            let (record, count) = self.with_pint(number, port, packet, now, carried, rng)?;
            return Some((record.by_field(), count));
        }
        self.int(port, packet, now)
    }

    #[inline]
    fn int(&self, port: &Port, packet: &Packet, now: u64) -> Option<(IntRecord, u8)> {
        let record = || int_record(Time(now), port.rate, port.tx_bytes, port.queued.into(), self.format);
        (packet.flags & flag::INT != 0).then(|| (record(), packet.records + 1))
    }

    #[inline(never)]
    fn with_pint(
        &mut self,
        number: LocalPort,
        port: &Port,
        packet: &Packet,
        now: u64,
        carried: &Carried,
        rng: &mut Stream,
    ) -> Option<(IntRecord, u8)> {
        // Packets of other transports may carry ranges instead.
        let before = || carried.records(packet.records).first().map_or(0, IntRecord::pint);
        let carried = (packet.flags & flag::PINT != 0).then(before);
        let load = (now, port.queued, self.rates[usize::from(port.rate)]);
        let power = self.pint.as_mut()?.pass(number, load, packet.size, carried, rng);
        power.map(|power| (IntRecord::of_pint(power), 1)).or_else(|| self.int(port, packet, now))
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::IntRecord;
    use crate::nodes::bench::Frame::Data;
    use crate::nodes::bench::{Bench, control, flow, star};
    use crate::setup::Setup;

    /// h2 has 25 Gb/s: 400 ns for a packet.
    fn hpcc(setup: &mut Setup) {
        (setup.fabric, setup.controls) = (star(&[100, 100, 25]), vec![control("hpcc", "ns3")]);
    }

    #[test]
    fn a_record_has_the_port_as_the_packet_finds_it_when_it_leaves() {
        let mut bench = Bench::switch(&[flow(0, 2, 3), flow(2, 1, 1)], hpcc);
        bench.put(0, &[0, 100, 200].map(|time| (1000 + time, Data(0, time / 100))));
        bench.put(2, &[(5000, Data(1, 0))]);
        bench.run(9000);
        // Begin in ps, rate (25 Gb/s is the first in the order of rates), bytes sent before, bytes left behind.
        let records: Vec<_> = bench.packets(2).into_iter().flat_map(|sent| sent.records).collect();
        let expected = [(1000, 0, 0), (1400, 1250, 1250), (1800, 2500, 0)];
        assert_eq!(records, expected.map(|(begin, sent, queued)| IntRecord::new(1000 * begin, 0, sent, queued)));
        // The port of h1 has its own counter.
        assert_eq!(bench.packets(1)[0].records, [IntRecord::new(5_000_000, 1, 0, 0)]);
    }

    #[test]
    fn packets_without_an_int_header_have_no_records() {
        let mut bench = Bench::switch(&[flow(0, 2, 1)], |_| {});
        bench.put(0, &[(0, Data(0, 0))]);
        bench.run(1000);
        assert!(bench.packets(2)[0].records.is_empty());
    }

    #[test]
    fn records_follow_those_of_other_switches() {
        let mut bench = Bench::switch(&[flow(0, 2, 1)], hpcc);
        let before = [IntRecord::new(7, 1, 8, 9), IntRecord::new(10, 1, 11, 12)];
        bench.put_with_records(0, 1000, Data(0, 0), &before);
        bench.run(9000);
        let [first, second] = before;
        assert_eq!(bench.packets(2)[0].records, [first, second, IntRecord::new(1_000_000, 0, 0, 0)]);
    }
}
