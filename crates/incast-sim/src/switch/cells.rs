//! Buffer cells: a packet occupies whole ones.

use incast_model::range::{least, most};
use incast_model::units::{Bytes, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::host::PacketParams;

/// Smallest Ethernet frame, in bytes; all frames of SONiC's worst case have this size.
const SMALLEST_FRAME: f64 = 64.0;

/// Pause quanta of 512 bit times in which a port of a rate in Gb/s obeys XOFF (IEEE 802.3 annex 31B.3.7; SONiC
/// `buffer_headroom_mellanox.lua` at commit 18913fa).
const PAUSE_QUANTA: [(u64, u64); 9] =
    [(800, 905), (400, 905), (200, 453), (100, 394), (50, 147), (40, 118), (25, 80), (10, 67), (1, 2)];

/// Peer response at a rate that the table lacks (SONiC `asic_table.j2`: 3.8 KiB).
const PEER_RESPONSE: u64 = 3891;

/// Headroom as SONiC's `buffer_headroom_mellanox.lua` computes `xoff`: (`port_mtu` + 2·rate·delay + 2·rate·`gearbox` +
/// `mac_phy` + peer response) · occupancy + `lossless_mtu`, rounded up. Occupancy: bytes of cells per byte of packets,
/// if `small_packets` percent have 64 B. SONiC's `xon`, the pipeline's bytes, is `switch.reserve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SonicHeadroom {
    /// Largest packet of the port. Default 9216B (reproduces SONiC's Spectrum tables).
    #[schemars(transform = most("65535B"))]
    pub port_mtu: Bytes,
    /// Largest lossless packet. Default 1024B (SONiC `LOSSLESS_TRAFFIC_PATTERN`).
    #[schemars(transform = most("65535B"))]
    pub lossless_mtu: Bytes,
    /// Percentage of packets of 64 B, 0 to 100. Default 100 (the worst case; SONiC's tables; `buffers_config.j2` has 50).
    #[schemars(transform = least(0).most(100))]
    pub small_packets: u8,
    /// Bytes in MAC and PHY when XOFF is sent. Default 819B (SONiC `asic_table.j2`: 0.8 KiB).
    #[schemars(transform = most("16MiB"))]
    pub mac_phy: Bytes,
    /// Delay of a gearbox between port and cable, each way. Default 0s; 400ns at SN3800 (SONiC `peripheral_table.j2`).
    #[schemars(transform = most("1ms"))]
    pub gearbox: Time,
    /// Bytes that the peer sends before it obeys. Default by rate: pause quanta of IEEE 802.3 annex 31B.3.7, 25216B at
    /// 100 Gb/s. SONiC's tables have 3891B (3.8 KiB).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = most("16MiB"))]
    pub peer_response: Option<Bytes>,
    /// Multiple to which headroom is rounded up, 1 B to 64 KiB. Default 1024B (SONiC).
    #[schemars(transform = least("1B").most("64KiB"))]
    pub round_to: Bytes,
}

impl Default for SonicHeadroom {
    fn default() -> Self {
        Self {
            port_mtu: Bytes(9216),
            lossless_mtu: Bytes(1024),
            small_packets: 100,
            mac_phy: Bytes(819),
            gearbox: Time::ZERO,
            peer_response: None,
            round_to: Bytes(1024),
        }
    }
}

impl SonicHeadroom {
    /// In bytes.
    pub(crate) fn bytes(&self, cell: Option<Bytes>, rate: Rate, delay: Time) -> u64 {
        let in_flight = |time: Time| rate.0 as f64 * time.0 as f64 / 8e12;
        let fixed = self.port_mtu.0 + self.mac_phy.0 + self.peer_response(rate);
        let arriving = fixed as f64 + 2.0 * (in_flight(delay) + in_flight(self.gearbox));
        let small = f64::from(self.small_packets) / 100.0;
        let occupancy = 1.0 + small * (worst(cell) - 1.0);
        let unit = self.round_to.0.max(1);
        let bytes = self.lossless_mtu.0 as f64 + arriving * occupancy;
        (bytes / unit as f64).ceil() as u64 * unit
    }

    fn peer_response(&self, rate: Rate) -> u64 {
        let quanta = PAUSE_QUANTA.iter().find(|(gbps, _)| Rate::gbps(*gbps) == rate);
        let by_rate = quanta.map_or(PEER_RESPONSE, |(_, quanta)| quanta * 512 / 8);
        self.peer_response.map_or(by_rate, |bytes| bytes.0)
    }
}

/// Cell bytes per byte of the worst packets: 64 B, or one byte more than a cell where that occupies more.
fn worst(cell: Option<Bytes>) -> f64 {
    let Some(cell) = cell else { return 1.0 };
    let cell = cell.0 as f64;
    if cell > 2.0 * SMALLEST_FRAME { cell / SMALLEST_FRAME } else { 2.0 * cell / (1.0 + cell) }
}

/// Most cell bytes that `wire` bytes on a link occupy, whatever packets they are.
pub(crate) fn most_occupied(cell: Option<Bytes>, packets: &PacketParams, wire: u64) -> u64 {
    let Some(Bytes(cell)) = cell else { return wire };
    let smallest = packets.smallest();
    // Packets of one cell: the smallest; of more: one byte over.
    let over = smallest.next_multiple_of(cell) + 1;
    let of = |size: u64| {
        let taken = u128::from(size.next_multiple_of(cell)) * u128::from(wire);
        taken.div_ceil(u128::from(size + packets.gap.0)).max(u128::from(wire))
    };
    u64::try_from(of(smallest).max(of(over))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gb/s, m, and `xoff` in bytes.
    type Row = (u64, u64, u64);

    /// SONiC `device/mellanox/x86_64-mlnx_msn2700-r0/ACS-MSN2700/pg_profile_lookup.ini` (Spectrum, cells of 96 B).
    const MSN2700: [Row; 15] = [
        (10, 5, 29_696),
        (25, 5, 29_696),
        (40, 5, 29_696),
        (50, 5, 29_696),
        (100, 5, 30_720),
        (10, 40, 29_696),
        (25, 40, 31_744),
        (40, 40, 32_768),
        (50, 40, 33_792),
        (100, 40, 38_912),
        (10, 300, 36_864),
        (25, 300, 48_128),
        (40, 300, 59_392),
        (50, 300, 66_560),
        (100, 300, 104_448),
    ];

    /// Same file of ACS-MSN4700 (Spectrum-3, cells of 144 B).
    const MSN4700: [Row; 21] = [
        (10, 5, 32_768),
        (25, 5, 32_768),
        (40, 5, 33_792),
        (50, 5, 33_792),
        (100, 5, 33_792),
        (200, 5, 35_840),
        (400, 5, 38_912),
        (10, 40, 33_792),
        (25, 40, 35_840),
        (40, 40, 37_888),
        (50, 40, 38_912),
        (100, 40, 44_032),
        (200, 40, 55_296),
        (400, 40, 77_824),
        (10, 300, 40_960),
        (25, 300, 54_272),
        (40, 300, 66_560),
        (50, 300, 75_776),
        (100, 300, 117_760),
        (200, 300, 203_776),
        (400, 300, 373_760),
    ];

    /// Same file of Arista-7060CX-32S (cells of 208 B), at 100 Gb/s.
    const A7060: [Row; 3] = [(100, 5, 165_568), (100, 40, 177_632), (100, 300, 268_736)];

    /// `m_per_s`: speed in the cable.
    fn check(params: SonicHeadroom, cell: u64, m_per_s: f64, rows: &[Row]) {
        for &(gbps, metres, xoff) in rows {
            let delay = Time((metres as f64 / m_per_s * 1e12).round() as u64);
            let found = params.bytes(Some(Bytes(cell)), Rate::gbps(gbps), delay);
            assert_eq!(found, xoff, "{gbps} Gb/s, {metres} m");
        }
    }

    #[test]
    fn sonic_tables_follow_from_their_inputs() {
        let spectrum = SonicHeadroom { peer_response: Some(Bytes(3891)), ..SonicHeadroom::default() };
        check(spectrum, 96, 198e6, &MSN2700);
        check(spectrum, 144, 198e6, &MSN4700);
    }

    #[test]
    fn a_table_without_published_inputs_needs_a_fitted_constant() {
        // The slope over the length fixes 80 % at 5 ns/m; `mac_phy` is fitted and explains nothing.
        let (small_packets, mac_phy, round_to) = (80, Bytes(23_640), Bytes(208));
        let fitted = SonicHeadroom { small_packets, mac_phy, round_to, ..SonicHeadroom::default() };
        check(fitted, 208, 200e6, &A7060);
    }

    #[test]
    fn each_input_of_the_formula_counts() {
        let at = |params: SonicHeadroom, cell| params.bytes(cell, Rate::gbps(100), Time::us(1));
        let unit = SonicHeadroom { round_to: Bytes(1), ..SonicHeadroom::default() };
        // 9216 + 25000 on the cable + 819 + 394 quanta of 64 B, and 1024.
        assert_eq!(at(unit, None), 9216 + 25_000 + 819 + 25_216 + 1024);
        // 400 ns at 100 Gb/s are 5000 B, each way.
        assert_eq!(at(SonicHeadroom { gearbox: Time::ns(400), ..unit }, None), at(unit, None) + 10_000);
        // Cells of 256 B: four times as much.
        assert_eq!(at(unit, Some(Bytes(256))), 4 * 60_251 + 1024);
        assert_eq!(at(SonicHeadroom { small_packets: 0, ..unit }, Some(Bytes(256))), at(unit, None));
    }

    #[test]
    fn the_worst_packets_are_the_smallest_or_one_byte_over_a_cell() {
        let packets = PacketParams { control: Bytes(64), data_header: Bytes(63), gap: Bytes(20), ..sized() };
        // Packets of 64 B with a gap of 20 B: a cell of 208 B per 84 B.
        assert_eq!(most_occupied(Some(Bytes(208)), &packets, 8400), 20_800);
        // Cells of 64 B: 65 B in two, 128 B per 85 B.
        assert_eq!(most_occupied(Some(Bytes(64)), &packets, 8500), 12_800);
        assert_eq!(most_occupied(None, &packets, 8400), 8400);
    }

    /// No packet below 64 B.
    fn sized() -> PacketParams {
        PacketParams { min_ack: Bytes(64), segment_header: Bytes(63), ..PacketParams::default() }
    }
}
