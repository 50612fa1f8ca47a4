//! Congestion control of an ns-3 configuration.

use incast_model::ns3::{CcMode, Ns3Config};
use incast_model::units::{Rate, Time};

use crate::ns3_import::{real, text_of};

/// Scheme in the scenario's terms.
pub(crate) struct ImportedControl {
    pub(crate) scheme: &'static str,
    pub(crate) control: &'static str,
    /// As TOML.
    pub(crate) parameters: Vec<(&'static str, String)>,
}

/// Keys that this control needs, without a sensible default in ns-3; true if set.
pub(crate) fn needed(config: &Ns3Config) -> Vec<(&'static str, bool)> {
    let ai = ("RATE_AI", config.rate_ai.is_some());
    let hai = ("RATE_HAI", config.rate_hai.is_some());
    let gain = ("EWMA_GAIN", config.ewma_gain.is_some_and(|g| g > 0.0));
    match config.cc_mode.unwrap_or(CcMode::Dcqcn) {
        CcMode::Dcqcn => vec![gain, ("RP_TIMER", config.increase_interval.is_some()), ai, hai],
        CcMode::Hpcc | CcMode::HpccPint => vec![ai],
        CcMode::Timely => vec![ai, hai],
        CcMode::Dctcp => vec![gain],
    }
}

/// Missing keys have ns-3's defaults.
pub(crate) fn control(config: &Ns3Config, window: &str) -> ImportedControl {
    let min_rate = ("min_rate", text_of(config.min_rate.unwrap_or(Rate::mbps(100))));
    let ai = ("ai", text_of(config.rate_ai.unwrap_or_default()));
    let hai = ("hai", text_of(config.rate_hai.unwrap_or_default()));
    let gain = ("g", real(config.ewma_gain.unwrap_or_default()));
    let eta = ("eta", real(config.target_utilisation.unwrap_or(0.95)));
    let max_stage = ("max_stage", config.max_stage.unwrap_or(5).to_string());
    let named = |plain, windowed| if window == "off" { plain } else { windowed };
    match config.cc_mode.unwrap_or(CcMode::Dcqcn) {
        CcMode::Hpcc => ImportedControl {
            scheme: if window == "rate" { "HPCC" } else { "HPCC (other window)" },
            control: "hpcc",
            parameters: vec![
                eta,
                max_stage,
                ai,
                min_rate,
                ("fast_react", config.fast_react.unwrap_or(true).to_string()),
                ("sample_feedback", config.sample_feedback.unwrap_or(false).to_string()),
            ],
        },
        CcMode::HpccPint => ImportedControl {
            scheme: "HPCC-PINT",
            control: "hpcc_pint",
            parameters: vec![
                eta,
                max_stage,
                ai,
                min_rate,
                ("log_base", real(config.pint_log_base.unwrap_or(1.01))),
                ("probability", real(config.pint_probability.unwrap_or(1.0))),
            ],
        },
        // No key sets TIMELY's other parameters (`rdma-hw.cc`): incast's defaults.
        CcMode::Timely => ImportedControl {
            scheme: named("TIMELY", "TIMELY+w"),
            control: "timely",
            parameters: vec![ai, hai, min_rate],
        },
        CcMode::Dctcp => ImportedControl {
            scheme: "DCTCP",
            control: "dctcp",
            parameters: vec![gain, ("ai", text_of(config.dctcp_rate_ai.unwrap_or(Rate::mbps(1000)))), min_rate],
        },
        CcMode::Dcqcn => ImportedControl {
            scheme: named("DCQCN", "DCQCN+w"),
            control: "dcqcn",
            parameters: vec![
                ("variant", "\"vendor\"".to_owned()),
                gain,
                ("alpha_interval", text_of(config.alpha_interval.unwrap_or(Time::us(55)))),
                ("decrease_interval", text_of(config.decrease_interval.unwrap_or(Time::us(4)))),
                ("increase_interval", text_of(config.increase_interval.unwrap_or_default())),
                ("fast_recovery", config.fast_recovery_times.unwrap_or(5).to_string()),
                ai,
                hai,
                min_rate,
                ("clamp_target", config.clamp_target_rate.unwrap_or(false).to_string()),
            ],
        },
    }
}
