//! Incasts through a leaf-spine fabric match the HPCC authors' ns-3: completion times to the nanosecond, counters, pause
//! frames, drops.
//!
//! 2932 flows with 16 incasts of 60 servers; links of 1 us with 32 MiB of buffer per switch, or of 200 ns with 4 MiB, for which
//! ns-3's headroom is too small. Only NACKs cause retransmissions: some flows never complete.

use crate::support::large::Incast;
use crate::support::{Scheme, assert_hosts_first, different, facts, links, ns3_params, run_to_end, whole_ns};
use incast_model::fabric::Fabric;
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::outcome::{DropRecord, PauseRecord, Stop};
use incast_sim::switch::SwitchParams;
use incast_sim::{Outcome, Params};

/// PFC frame at its receiver: time in ns, node, port from 1, kind (1 pause, 0 resume).
type Frame = [u64; 4];

struct Reference {
    scheme: Scheme,
    /// Data and ACKs, per link crossed.
    hops: [u64; 2],
    marks: u64,
    drops: u64,
    frames: usize,
    frames_digest: u64,
    /// As many as ns-3's log holds.
    last_drops: (usize, u64),
}

impl Reference {
    const fn lossless(scheme: Scheme, marks: u64, frames: usize, frames_digest: u64) -> Self {
        Self { scheme, hops: [PACKET_HOPS; 2], marks, drops: 0, frames, frames_digest, last_drops: (0, EMPTY) }
    }
}

const PACKET_HOPS: u64 = 2_674_636;

/// FNV-1a offset basis.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a (64 bit) over decimal numbers. A separate program digested ns-3's log.
fn digest<const N: usize>(entries: &[[u64; N]]) -> u64 {
    let line = |entry: &[u64; N]| entry.map(|number| number.to_string()).join(" ") + "\n";
    let bytes = entries.iter().map(line).flat_map(String::into_bytes);
    bytes.fold(EMPTY, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn frames(fabric: &Fabric, pauses: &[PauseRecord]) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for pause in pauses {
        assert_eq!(pause.priority, 3);
        let port = fabric.port(pause.port);
        let frame = |time: Time, kind| [whole_ns(time), port.node.0.into(), (port.local + 1).into(), kind];
        frames.push(frame(pause.start, 1));
        frames.extend(pause.end.map(|end| frame(end, 0)));
    }
    frames.sort_unstable();
    frames
}

/// Time, node and ingress port.
fn drops(fabric: &Fabric, drops: &[DropRecord]) -> Vec<[u64; 3]> {
    let place = |drop: &DropRecord| {
        assert!(drop.lossless && drop.priority == 3);
        [
            whole_ns(drop.time),
            drop.node.0.into(),
            (fabric.port(drop.ingress.expect("a switch drops it on arrival")).local + 1).into(),
        ]
    };
    let mut drops: Vec<_> = drops.iter().map(place).collect();
    drops.sort_unstable();
    drops
}

fn written_out(links: &str, scheme: &str) -> (Vec<Frame>, Vec<[u64; 3]>) {
    let mut lines = include_str!("facts/leaf_spine_incast_frames.csv").lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.next(), Some("links,scheme,time_ns,node,port,kind"));
    let of_run = lines.filter_map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[..2] == [links, scheme]).then(|| facts::numbers::<4>(&fields[2..]))
    });
    let (drops, frames): (Vec<Frame>, Vec<Frame>) = of_run.partition(|entry| entry[3] == 2);
    (frames, drops.into_iter().map(|[time, node, port, _]| [time, node, port]).collect())
}

fn simulate(case: &Incast, scheme: Scheme) -> Outcome {
    let params = Params {
        switch: SwitchParams { buffer: case.buffer, ..ns3_params().switch },
        // ns-3's end.
        horizon: Some(Time::ms(2020)),
        ..ns3_params()
    };
    run_to_end(&case.fabric(Rate::gbps(100)), &case.flows, scheme, params)
}

fn check(case: &Incast, given: &Reference) -> Outcome {
    let (scheme, theirs) = (given.scheme, case.fct(given.scheme));
    let outcome = simulate(case, scheme);
    let different = different(&outcome, theirs);
    assert!(different.is_empty(), "{} flows differ: {:?}", different.len(), &different[..different.len().min(10)]);
    assert_eq!(outcome.stop == Stop::Finished, theirs.iter().all(|&fct| fct > 0));

    let counts = &outcome.counts;
    assert_eq!(
        [counts.data_hops, counts.ack_hops, counts.pfc_hops],
        [given.hops[0], given.hops[1], given.frames as u64]
    );
    assert_eq!((counts.marks, counts.drops), (given.marks, given.drops));

    let fabric = case.fabric(Rate::gbps(100));
    let (frames, drops) = (frames(&fabric, &outcome.pauses), drops(&fabric, &outcome.drops));
    let (first_frames, last_drops) = written_out(case.name, scheme.name());
    assert_eq!(frames[..first_frames.len()], first_frames);
    assert_eq!((frames.len(), digest(&frames)), (given.frames, given.frames_digest));
    assert_eq!(drops[drops.len() - last_drops.len()..], last_drops);
    let logged = &drops[drops.len() - given.last_drops.0..];
    assert_eq!((logged.len(), digest(logged)), given.last_drops);
    outcome
}

mod links_of_1us {
    use super::*;

    /// The peak headroom is also ns-3's.
    #[test]
    fn dcqcn_whose_acks_obey_pauses() {
        let scheme = Scheme::DcqcnAcksObey;
        let outcome = check(&Incast::long(), &Reference::lossless(scheme, 1_079_859, 22_648, 0x26b1_406d_36d3_98a6));
        assert_eq!(outcome.ports.iter().map(|port| port.peak_headroom).max(), Some(31_020));
    }

    #[test]
    fn dcqcn() {
        check(
            &Incast::long(),
            &Reference {
                scheme: Scheme::Dcqcn,
                hops: [PACKET_HOPS, 2_632_100],
                marks: 1_066_533,
                drops: 14_612,
                frames: 22_456,
                frames_digest: 0x4c76_797f_8bf2_bbcb,
                last_drops: (722, 0xb4fc_2246_6fac_34c7),
            },
        );
    }

    #[test]
    fn dcqcn_with_a_window() {
        check(&Incast::long(), &Reference::lossless(Scheme::DcqcnWindow, 144_431, 0, EMPTY));
    }

    #[test]
    fn hpcc_with_eta_95() {
        check(&Incast::long(), &Reference::lossless(Scheme::Hpcc95, 80_829, 0, EMPTY));
    }

    #[test]
    fn timely() {
        check(
            &Incast::long(),
            &Reference {
                scheme: Scheme::Timely,
                hops: [PACKET_HOPS, 2_636_448],
                marks: 1_122_377,
                drops: 14_738,
                frames: 25_748,
                frames_digest: 0x1cbb_99ac_dc43_922f,
                last_drops: (563, 0x0c0a_9cb4_db48_c009),
            },
        );
    }
}

mod links_of_200ns {
    use super::*;

    #[test]
    fn dcqcn() {
        check(
            &Incast::short(),
            &Reference {
                scheme: Scheme::Dcqcn,
                hops: [2_682_170, 2_488_009],
                marks: 59_431,
                drops: 65_802,
                frames: 101_836,
                frames_digest: 0xb0f9_67b3_5c42_6d8c,
                last_drops: (783, 0x3e5a_4d64_75aa_f5b5),
            },
        );
    }

    #[test]
    fn dcqcn_with_a_window() {
        check(&Incast::short(), &Reference::lossless(Scheme::DcqcnWindow, 19_715, 156, 0x15ac_8eae_6820_5b49));
    }

    #[test]
    fn hpcc_with_eta_95() {
        check(&Incast::short(), &Reference::lossless(Scheme::Hpcc95, 1440, 0, EMPTY));
    }

    #[test]
    fn hpcc_pint_with_eta_95() {
        check(&Incast::short(), &Reference::lossless(Scheme::Pint95, 1369, 0, EMPTY));
    }

    #[test]
    fn timely() {
        check(
            &Incast::short(),
            &Reference {
                scheme: Scheme::Timely,
                hops: [2_677_596, 2_496_519],
                marks: 87_464,
                drops: 62_004,
                frames: 61_508,
                frames_digest: 0x86b7_8e25_1dac_2951,
                last_drops: (783, 0x828d_36d8_157a_f00f),
            },
        );
    }

    #[test]
    fn timely_with_a_window() {
        check(&Incast::short(), &Reference::lossless(Scheme::TimelyWindow, 7783, 28, 0x8d4d_cf7a_80e6_f674));
    }

    #[test]
    fn dctcp() {
        check(&Incast::short(), &Reference::lossless(Scheme::Dctcp, 72_540, 8, 0x6ccb_d0c2_d35e_4f14));
    }

    #[test]
    fn headroom_is_too_little() {
        let outcome = simulate(&Incast { buffer: Bytes(32 << 20), ..Incast::short() }, Scheme::DcqcnAcksObey);
        assert_eq!((outcome.stop, outcome.counts.drops), (Stop::Finished, 38));
    }
}

#[test]
fn the_fabric_is_numbered_alike() {
    let fabric = Incast::long().fabric(Rate::gbps(100));
    assert_hosts_first(&fabric, 128);
    let hosts = (0..128).map(|host| (host, 128 + host / 16));
    let trunks = (128..136).flat_map(|leaf| (136..144).map(move |spine| (leaf, spine)));
    let expected: Vec<_> = hosts.chain(trunks).map(|(a, b)| (a, b, Rate::gbps(100), Time::us(1))).collect();
    assert_eq!(links(&fabric), expected);
}
