//! Web-search traffic on the 320-server tree matches the HPCC authors' ns-3: times to the nanosecond, and counters.

use crate::support::large::Tree;
use crate::support::statistics::{percentile, size_bins};
use crate::support::{Scheme, different, ns3_params, run, whole_fcts};
use incast_model::units::{Rate, Time};

/// Once per link crossed; ACKs are as many.
const DATA_PACKET_HOPS: u64 = 11_140_372;

fn check(scheme: Scheme, marks: u64) {
    let (tree, fabric) = (Tree::read(), Tree::fabric(Rate::gbps(100), Rate::gbps(400)));
    let number = Tree::SCHEMES.iter().position(|&of| of == scheme).expect("a scheme with facts");
    let outcome = run(&fabric, &tree.flows, scheme, ns3_params());
    let (ours, theirs) = (whole_fcts(&outcome), &tree.fct[number]);
    let different = different(&outcome, theirs);
    assert!(different.is_empty(), "{} flows differ: {:?}", different.len(), &different[..different.len().min(10)]);

    let counts = &outcome.counts;
    assert_eq!((counts.data_hops, counts.ack_hops, counts.pfc_hops), (DATA_PACKET_HOPS, DATA_PACKET_HOPS, 0));
    assert_eq!((counts.marks, counts.drops, counts.pauses), (marks, 0, 0));
    for (flow, &standalone) in outcome.flows.iter().zip(&tree.standalone) {
        assert_eq!(flow.ideal_hpcc, Time::ns(standalone));
    }

    // The percentiles that the paper shows.
    let sizes: Vec<u64> = tree.flows.iter().map(|flow| flow.size.0).collect();
    for bin in size_bins(&sizes, 20) {
        let [ours, theirs] = [&ours, theirs].map(|fct| bin.iter().map(|&flow| fct[flow]).collect::<Vec<_>>());
        for fraction in [0.5, 0.95, 0.99] {
            assert_eq!(percentile(&ours, fraction), percentile(&theirs, fraction));
        }
    }
}

#[test]
fn dcqcn_with_a_window() {
    check(Scheme::DcqcnWindow, 26);
}

#[test]
fn hpcc_with_eta_95() {
    check(Scheme::Hpcc95, 0);
}

#[test]
fn hpcc_with_eta_99() {
    check(Scheme::Hpcc99, 0);
}

#[test]
fn hpcc_pint_with_eta_95() {
    check(Scheme::Pint95, 0);
}

#[test]
fn timely_with_a_window() {
    check(Scheme::TimelyWindow, 58);
}

#[test]
fn dctcp() {
    check(Scheme::Dctcp, 6157);
}
