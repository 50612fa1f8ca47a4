use std::sync::Arc;

use incast_model::fabric::Fabric;
use incast_model::fabric::generators::{HpccFatTree, LeafSpine};
use incast_model::flow::Flow;
use incast_model::units::{Bytes, Rate, Time};

use super::{Scheme, facts, flow};

/// Web-search flows on the 320-server tree.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) flows: Vec<Flow>,
    /// In an idle fabric, in ns.
    pub(crate) standalone: Vec<u64>,
    /// In ns, by [`Tree::SCHEMES`].
    pub(crate) fct: [Vec<u64>; 6],
}

impl Tree {
    pub(crate) const SCHEMES: [Scheme; 6] =
        [Scheme::DcqcnWindow, Scheme::Hpcc95, Scheme::Hpcc99, Scheme::Pint95, Scheme::TimelyWindow, Scheme::Dctcp];

    pub(crate) fn read() -> Self {
        let rows = facts::rows(
            include_str!("../facts/hpcc_tree_websearch30.csv"),
            [
                "src",
                "dst",
                "size_bytes",
                "start_ns",
                "sport",
                "standalone_ns",
                "fct_dcqcn_window_ns",
                "fct_hpcc95_ns",
                "fct_hpcc99_ns",
                "fct_pint95_ns",
                "fct_timely_window_ns",
                "fct_dctcp_ns",
            ],
        );
        Self {
            flows: rows.iter().map(|r| flow(r[0] as u32, r[1] as u32, r[2], r[3], r[4] as u16, 100)).collect(),
            standalone: rows.iter().map(|r| r[5]).collect(),
            fct: [6, 7, 8, 9, 10, 11].map(|column| rows.iter().map(|r| r[column]).collect()),
        }
    }

    pub(crate) fn fabric(host_rate: Rate, fabric_rate: Rate) -> Arc<Fabric> {
        Arc::new(HpccFatTree { host_rate, fabric_rate, ..HpccFatTree::default() }.build().expect("a valid tree"))
    }
}

/// 60 servers each, over FB Hadoop flows.
#[derive(Debug)]
pub(crate) struct Incast {
    pub(crate) name: &'static str,
    pub(crate) delay: Time,
    pub(crate) buffer: Bytes,
    pub(crate) flows: Vec<Flow>,
    /// Completion times in ns; 0: never completed.
    pub(crate) fct: Vec<(Scheme, Vec<u64>)>,
}

impl Incast {
    pub(crate) fn long() -> Self {
        let schemes = [Scheme::DcqcnAcksObey, Scheme::Dcqcn, Scheme::DcqcnWindow, Scheme::Hpcc95, Scheme::Timely];
        let rows = long_rows();
        let fct = |(column, scheme)| (scheme, rows.iter().map(|row| row[6 + column]).collect());
        Self {
            name: "1us",
            delay: Time::us(1),
            buffer: Bytes(32 << 20),
            flows: flows(&rows),
            fct: schemes.into_iter().enumerate().map(fct).collect(),
        }
    }

    /// ns-3's headroom is too small here.
    pub(crate) fn short() -> Self {
        let schemes = [
            Scheme::Dcqcn,
            Scheme::DcqcnWindow,
            Scheme::Hpcc95,
            Scheme::Pint95,
            Scheme::Timely,
            Scheme::TimelyWindow,
            Scheme::Dctcp,
        ];
        let rows = facts::rows(
            include_str!("../facts/leaf_spine_incast_200ns.csv"),
            [
                "fct_dcqcn_ns",
                "fct_dcqcn_window_ns",
                "fct_hpcc95_ns",
                "fct_pint95_ns",
                "fct_timely_ns",
                "fct_timely_window_ns",
                "fct_dctcp_ns",
            ],
        );
        let fct = |(column, scheme)| (scheme, rows.iter().map(|row| row[column]).collect());
        Self {
            name: "200ns",
            delay: Time::ns(200),
            buffer: Bytes(4 << 20),
            flows: flows(&long_rows()),
            fct: schemes.into_iter().enumerate().map(fct).collect(),
        }
    }

    pub(crate) fn fct(&self, scheme: Scheme) -> &[u64] {
        &self.fct.iter().find(|(of, _)| *of == scheme).expect("a scheme with facts").1
    }

    pub(crate) fn fabric(&self, rate: Rate) -> Arc<Fabric> {
        let shape = LeafSpine { host_rate: rate, uplink_rate: rate, delay: self.delay, ..LeafSpine::new(8, 8, 16) };
        Arc::new(shape.build().expect("a valid fabric"))
    }
}

fn long_rows() -> Vec<[u64; 11]> {
    facts::rows(
        include_str!("../facts/leaf_spine_incast_1us.csv"),
        [
            "src",
            "dst",
            "size_bytes",
            "start_ns",
            "sport",
            "dport",
            "fct_dcqcn_acks_obey_ns",
            "fct_dcqcn_ns",
            "fct_dcqcn_window_ns",
            "fct_hpcc95_ns",
            "fct_timely_ns",
        ],
    )
}

fn flows(rows: &[[u64; 11]]) -> Vec<Flow> {
    rows.iter().map(|r| flow(r[0] as u32, r[1] as u32, r[2], r[3], r[4] as u16, r[5] as u16)).collect()
}
