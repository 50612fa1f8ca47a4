//! A lone flow, to the picosecond.

use incast_model::units::{Bytes, Rate, Time};
use incast_sim::host::PacketParams;
use proptest::prelude::*;

use crate::common::{Bench, Cable, chain, exact, fct};

fn packets(wire: u64, header: u64, ack: u64) -> PacketParams {
    PacketParams {
        payload: Bytes(wire - header),
        data_header: Bytes(header),
        ack: Bytes(ack),
        min_ack: Bytes(ack),
        ..PacketParams::default()
    }
}

fn hops(cables: &[Cable], bytes: u64) -> u64 {
    cables.iter().map(|Cable(rate, delay)| rate.time_for(bytes).0 + delay.0).sum()
}

/// Last arrival of `sizes`, and of ACKs: `end[k][i] = max(end[k][i-1] + d, end[k-1][i]) + 8 L/C`.
fn recursion(cables: &[Cable], sizes: &[u64], ack: u64) -> (u64, u64) {
    let mut free = vec![0; 2 * cables.len()];
    let mut last = (0, 0);
    for &bytes in sizes {
        let mut at = 0;
        let links = cables.iter().map(|cable| (cable, bytes)).chain(cables.iter().rev().map(|cable| (cable, ack)));
        for (hop, ((Cable(rate, delay), bytes), free)) in links.zip(&mut free).enumerate() {
            *free = at.max(*free) + rate.time_for(bytes).0;
            at = *free + delay.0;
            if hop + 1 == cables.len() {
                last.0 = at;
            }
        }
        last.1 = at;
    }
    last
}

/// Without and with the last ACK.
fn alone(cables: &[Cable], packets: PacketParams, payload: u64) -> (u64, u64) {
    let outcome = Bench::new(chain(cables)).with(|p| p.packets = packets).flow(0, 1, payload, Time::us(3)).run();
    let fct = fct(&outcome, 0).0;
    let ideal = outcome.flows[0].ideal_exact.0;
    // Without the last ACK's wait for its predecessor.
    let ack = cables.iter().map(|Cable(rate, _)| rate.time_for(packets.ack.0).0).max().unwrap();
    assert!(fct >= ideal && fct - ideal < ack, "a flow alone takes {fct}, its ideal is {ideal}");
    (fct - hops(cables, packets.ack.0), fct)
}

const RACK: [Cable; 2] = [Cable::new(40, 200); 2];
const ACROSS: [Cable; 4] = [Cable::new(40, 200), Cable::new(160, 200), Cable::new(160, 200), Cable::new(40, 200)];

/// `sum_i (8L/C_i + d_i)`.
#[test]
fn a1_single_packet() {
    let full = packets(1500, 48, 60);
    exact("A1", "1500 B over 2 links of 40G, ps", 1_000_000, alone(&RACK, full, 1452).0);
    exact("A1", "1500 B over 40/160/160/40G, ps", 1_550_000, alone(&ACROSS, full, 1452).0);
}

/// `(n-1)P + h(P + d)`.
#[test]
fn a2_pipeline_of_equal_rates() {
    exact("A2", "3 x 1500 B over 2 links of 40G, ps", 1_600_000, alone(&RACK, packets(1500, 48, 60), 3 * 1452).0);
}

/// `(n-1) Pmax + sum_i (P_i + d_i)`.
#[test]
fn a3_unequal_rates() {
    let packets = packets(1500, 48, 60);
    for rates in [[10, 40, 40, 10], [40, 10, 40, 40], [100, 40, 25, 100]] {
        let cables = rates.map(|gbps| Cable::new(gbps, 500));
        let slowest = Rate::gbps(*rates.iter().min().unwrap()).time_for(1500).0;
        let expected = 99 * slowest + hops(&cables, 1500);
        exact("A3", &format!("100 x 1500 B over {rates:?} G, ps"), expected, alone(&cables, packets, 100 * 1452).0);
    }
}

#[test]
fn a4_short_last_packet() {
    let packets = packets(1500, 40, 40);
    let (rack, across) = (alone(&RACK, packets, 4096), alone(&ACROSS, packets, 4096));
    exact("A4 V1", "4096 B in the rack, delivered, ps", 1_543_200, rack.0);
    exact("A4", "4096 B in the rack, ACK back, ps", 1_959_200, rack.1);
    exact("A4 V2", "4096 B across, delivered, ps", 2_093_200, across.0);
    exact("A4", "4096 B across, ACK back, ps", 2_913_200, across.1);
}

#[test]
fn a4_gap_between_frames() {
    let packets = PacketParams { gap: Bytes(20), ..packets(1500, 40, 40) };
    let outcome = Bench::new(chain(&RACK)).with(|p| p.packets = packets).flow(0, 1, 3 * 1460, Time::ZERO).run();
    let expected = 2 * Rate::gbps(40).time_for(1520).0 + hops(&RACK, 1500) + hops(&RACK, 40);
    exact("A4", "3 x 1500 B and 20 B gaps, ACK back, ps", expected, fct(&outcome, 0).0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a4_any_flow_alone(
        cables in prop::collection::vec((1u64..=400, 0u64..5_000), 1..6),
        payload in 100u64..9000,
        size in 1u64..60_000,
    ) {
        let cables: Vec<Cable> = cables.into_iter().map(|(gbps, ns)| Cable::new(gbps, ns)).collect();
        let packets = packets(payload + 48, 48, 60);
        let mut sizes = vec![payload + 48; (size / payload) as usize];
        if size % payload > 0 {
            sizes.push(size % payload + 48);
        }
        let (delivered, fct) = alone(&cables, packets, size);
        let expected = recursion(&cables, &sizes, 60);
        prop_assert_eq!(fct, expected.1);
        prop_assert!(delivered >= expected.0);
    }
}
