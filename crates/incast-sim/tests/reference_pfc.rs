//! An incast through a leaf-spine fabric gives the pauses of the HPCC authors' ns-3 (commit 9f4be2a), frame by frame.
//!
//! 2932 flows, 16 incasts of 60 servers among them, under DCQCN without a window, 32 MiB of buffer per switch, ACKs
//! obeying pauses: 22,648 pause and resume frames and 1,079,859 ECN marks.

mod support;

use incast_model::fabric::Fabric;
use incast_model::units::{Rate, Time};
use incast_sim::outcome::PauseRecord;
use support::large::Incast;
use support::{assert_hosts_first, links, ns3_params, run, whole_fcts};

/// One frame where it is received: time in ns, node, port of the node from 1; then 1 for a pause, 0 for a resume.
type Frame = [u64; 4];

/// The first frames, in order of time.
#[rustfmt::skip]
const FIRST_FRAMES: [Frame; 40] = [
    [2_000_166_389, 137, 1, 1], [2_000_166_418, 141, 1, 1], [2_000_166_422, 140, 1, 1], [2_000_166_463, 138, 1, 1],
    [2_000_167_812, 139, 1, 1], [2_000_169_869, 142, 1, 1], [2_000_195_015, 136, 2, 1], [2_000_196_405, 141, 2, 1],
    [2_000_202_894, 138, 2, 1], [2_000_203_806, 140, 2, 1], [2_000_204_385, 142, 2, 1], [2_000_205_216, 143, 2, 1],
    [2_000_209_608, 139, 2, 1], [2_000_221_667, 138, 3, 1], [2_000_221_676, 137, 3, 1], [2_000_222_752, 139, 3, 1],
    [2_000_223_589, 136, 3, 1], [2_000_223_919, 140, 3, 1], [2_000_227_378, 141, 3, 1], [2_000_234_839, 143, 3, 1],
    [2_000_238_400, 137, 2, 1], [2_000_257_375, 141, 4, 1], [2_000_257_442, 138, 4, 1], [2_000_259_634, 142, 3, 1],
    [2_000_264_634, 137, 4, 1], [2_000_266_188, 139, 4, 1], [2_000_266_729, 46, 1, 1], [2_000_268_777, 136, 4, 1],
    [2_000_272_287, 15, 1, 1], [2_000_274_901, 143, 4, 1], [2_000_276_616, 15, 1, 0], [2_000_277_461, 40, 1, 1],
    [2_000_278_145, 35, 1, 1], [2_000_280_139, 20, 1, 1], [2_000_281_275, 15, 1, 1], [2_000_281_479, 29, 1, 1],
    [2_000_281_839, 136, 1, 1], [2_000_281_943, 41, 1, 1], [2_000_283_820, 43, 1, 1], [2_000_283_996, 141, 5, 1],
];

/// Frames that the run receives.
const FRAMES: usize = 22_648;

/// FNV-1a (64 bit) over the lines "time node port kind\n" of all frames in decimal, sorted by these four numbers.
/// Computed from that simulator's own log by a separate program.
const DIGEST: u64 = 0x26b1_406d_36d3_98a6;

fn digest(frames: &[Frame]) -> u64 {
    let text = frames.iter().map(|[time, node, port, kind]| format!("{time} {node} {port} {kind}\n"));
    text.flat_map(String::into_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn frames(fabric: &Fabric, pauses: &[PauseRecord]) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for pause in pauses {
        let port = fabric.port(pause.port);
        let frame = |time: Time, kind| {
            assert_eq!(time.0 % 1000, 0);
            [time.0 / 1000, port.node.0.into(), (port.local + 1).into(), kind]
        };
        assert_eq!(pause.priority, 3);
        frames.push(frame(pause.start, 1));
        frames.extend(pause.end.map(|end| frame(end, 0)));
    }
    frames.sort_unstable();
    frames
}

#[test]
fn every_pause_is_the_same() {
    let (case, fabric) = (Incast::read(), Incast::fabric(Rate::gbps(100)));
    let outcome = run(&fabric, &case.flows, Incast::SCHEME, ns3_params());
    assert!(whole_fcts(&outcome) == case.fct, "completion times differ");

    let counts = &outcome.counts;
    assert_eq!((counts.data_hops, counts.ack_hops, counts.pfc_hops), (2_674_636, 2_674_636, 22_648));
    assert_eq!((counts.marks, counts.drops, counts.pauses), (1_079_859, 0, 11_324));

    let frames = frames(&fabric, &outcome.pauses);
    assert_eq!(frames[..40], FIRST_FRAMES);
    assert_eq!((frames.len(), digest(&frames)), (FRAMES, DIGEST));
}

#[test]
fn the_fabric_is_numbered_alike() {
    let fabric = Incast::fabric(Rate::gbps(100));
    assert_hosts_first(&fabric, 128);
    let hosts = (0..128).map(|host| (host, 128 + host / 16));
    let trunks = (128..136).flat_map(|leaf| (136..144).map(move |spine| (leaf, spine)));
    let expected: Vec<_> = hosts.chain(trunks).map(|(a, b)| (a, b, Rate::gbps(100), Time::us(1))).collect();
    assert_eq!(links(&fabric), expected);
}
