//! Telemetry of a switch: INT or PINT records in passing packets.

use incast_model::rng::Stream;
use incast_model::units::Time;

use super::port::Port;
use crate::congestion::{IntFormat, IntRecord, int_record};
use crate::kernel::LocalPort;
use crate::kernel::flag;
use crate::nodes::packet::{Carried, Packet};
use crate::ns3::Rand;
use crate::plan::Network;
use crate::switch::Pint;

#[derive(Debug)]
pub(super) struct Telemetry {
    format: IntFormat,
    pint: Option<Pint>,
    /// In bit/s, each once.
    rates: Vec<u64>,
}

impl Telemetry {
    /// `None` if no control of the run needs telemetry from switches.
    pub(super) fn new(network: &Network, ports: usize) -> Option<Box<Self>> {
        network.config.telemetry.then(|| {
            let pint = network.pint.as_ref().map(|pint| pint.of_ports(ports));
            Box::new(Self { format: network.config.int, pint, rates: network.rates.clone() })
        })
    }

    /// Exchanges PINT's random numbers with those of the run, which all switches share in `ns3` arithmetic.
    pub(super) fn exchange(&mut self, rand: &mut Option<Rand>) {
        if let Some(pint) = &mut self.pint {
            std::mem::swap(&mut pint.reference, rand);
        }
    }

    /// Record for a packet that a port sends, and the packet's number of records with it.
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
            return self.with_pint(number, port, packet, now, carried, rng);
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
        let before = if packet.records == 0 { 0 } else { carried.records[0].pint() };
        let carried = (packet.flags & flag::PINT != 0).then_some(before);
        let load = (now, port.queued, self.rates[usize::from(port.rate)]);
        let power = self.pint.as_mut()?.pass(number, load, packet.size, carried, rng);
        power.map(|power| (IntRecord::of_pint(power), 1)).or_else(|| self.int(port, packet, now))
    }
}
