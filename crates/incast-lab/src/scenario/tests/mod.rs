mod errors;
mod network;
mod values;

use std::path::Path;

use incast_model::routing::{EcmpHash, NextHopOrder};
use incast_model::units::{Bytes, Time};
use incast_sim::Carrier;
use incast_sim::balance::{Balance, SprayOrder};
use incast_sim::congestion::{Control, WindowMode};
use incast_sim::host::RdmaParams;
use incast_sim::switch::{Alpha, Headroom, PfcMode, SwitchParams};
use incast_sim::transport::Transport;
use proptest::prelude::*;

use super::*;
use crate::diagnostic::Diagnostics;

const SMALL: &str = r#"
title = "four to one"
[fabric.star]
hosts = 5
[[workload]]
label = "burst"
incast = { fan_in = 4, size = "10kB", receiver = 0 }
[scheme.HPCC]
control.hpcc = { profile = "key-results", ai = "40Mbps" }
[scheme."DCQCN+w"]
control = "dcqcn"
window = "rate"
"#;

fn load(text: &str) -> Result<Loaded, Diagnostics> {
    Loaded::from_text("s.toml", text, Path::new("."), &[])
}

fn scenario(text: &str) -> Scenario {
    load(text).unwrap_or_else(|found| panic!("{found}")).scenario().clone()
}

fn with(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    SMALL.replacen(from, to, 1)
}

fn refused(text: &str) -> String {
    let found = match load(text) {
        Ok(loaded) => loaded.prepare().expect_err("accepted"),
        Err(found) => found,
    };
    assert_eq!(found.iter().count(), 1, "{found}");
    without_names(&found.iter().next().unwrap().summary())
}

/// Without the growing list of controls.
fn without_names(message: &str) -> String {
    message.replace(&Control::NAMES.join(", "), "<controls>").replace(&Transport::NAMES.join(", "), "<transports>")
}
