//! Two large cases, with the completion times that the HPCC authors' ns-3 (commit 9f4be2a) gave; see `tests/facts`.

use std::sync::Arc;

use incast_model::fabric::Fabric;
use incast_model::fabric::generators::{HpccFatTree, LeafSpine};
use incast_model::flow::Flow;
use incast_model::units::Rate;

use super::{Scheme, facts, flow};

/// The web-search flows on the authors' 320-server tree.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The flows.
    pub(crate) flows: Vec<Flow>,
    /// That simulator's estimate of each flow's time in an idle fabric, in nanoseconds.
    pub(crate) standalone: Vec<u64>,
    /// Completion times in nanoseconds under each of [`Tree::SCHEMES`].
    pub(crate) fct: [Vec<u64>; 3],
}

impl Tree {
    /// The schemes it was run with.
    pub(crate) const SCHEMES: [Scheme; 3] = [Scheme::DcqcnWindow, Scheme::Hpcc95, Scheme::Hpcc99];

    /// The facts.
    pub(crate) fn read() -> Self {
        let rows = facts::rows(
            include_str!("../facts/hpcc_tree_websearch30.csv"),
            [
                "src",
                "dst",
                "size_bytes",
                "start_ns",
                "sport",
                "fct_dcqcn_window_ns",
                "fct_hpcc95_ns",
                "fct_hpcc99_ns",
                "standalone_ns",
            ],
        );
        Self {
            flows: rows.iter().map(|r| flow(r[0] as u32, r[1] as u32, r[2], r[3], r[4] as u16, 100)).collect(),
            standalone: rows.iter().map(|r| r[8]).collect(),
            fct: [5, 6, 7].map(|column| rows.iter().map(|r| r[column]).collect()),
        }
    }

    /// The fabric, for given rates of hosts' links and of those between switches.
    pub(crate) fn fabric(host_rate: Rate, fabric_rate: Rate) -> Arc<Fabric> {
        Arc::new(HpccFatTree { host_rate, fabric_rate, ..HpccFatTree::default() }.build().expect("a valid tree"))
    }
}

/// Incasts of 60 servers over web-search flows on a leaf-spine fabric, with pauses.
#[derive(Debug)]
pub(crate) struct Incast {
    /// The flows.
    pub(crate) flows: Vec<Flow>,
    /// Completion times in nanoseconds under [`Incast::SCHEME`].
    pub(crate) fct: Vec<u64>,
}

impl Incast {
    /// The scheme it was run with.
    pub(crate) const SCHEME: Scheme = Scheme::DcqcnAcksObey;

    /// The facts.
    pub(crate) fn read() -> Self {
        let rows = facts::rows(
            include_str!("../facts/leaf_spine_incast_pfc.csv"),
            ["src", "dst", "size_bytes", "start_ns", "sport", "dport", "fct_ns"],
        );
        Self {
            flows: rows.iter().map(|r| flow(r[0] as u32, r[1] as u32, r[2], r[3], r[4] as u16, r[5] as u16)).collect(),
            fct: rows.iter().map(|r| r[6]).collect(),
        }
    }

    /// The fabric: 8 leaves, 8 spines, 128 servers, one rate for all links.
    pub(crate) fn fabric(rate: Rate) -> Arc<Fabric> {
        Arc::new(
            LeafSpine { host_rate: rate, uplink_rate: rate, ..LeafSpine::new(8, 8, 16) }
                .build()
                .expect("a valid fabric"),
        )
    }
}
