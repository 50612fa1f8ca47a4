use incast_model::ns3::{CcMode, Ns3Config, whole_microseconds};
use incast_model::units::{Rate, Time};
use toml::Value;

pub(crate) struct ImportedControl {
    pub(crate) scheme: &'static str,
    pub(crate) control: &'static str,
    pub(crate) parameters: Vec<(&'static str, Value)>,
}

/// Without a sensible ns-3 default; true if set.
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

/// Missing keys: ns-3's defaults.
pub(crate) fn control(config: &Ns3Config, window: &str) -> ImportedControl {
    let min_rate = ("min_rate", text(config.min_rate.unwrap_or(Rate::mbps(100))));
    let ai = ("ai", text(config.rate_ai.unwrap_or_default()));
    let hai = ("hai", text(config.rate_hai.unwrap_or_default()));
    let gain = ("g", Value::from(config.ewma_gain.unwrap_or_default()));
    let eta = ("eta", Value::from(config.target_utilisation.unwrap_or(0.95)));
    let max_stage = ("max_stage", Value::from(config.max_stage.unwrap_or(5)));
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
                ("fast_react", Value::from(config.fast_react.unwrap_or(true))),
                ("sample_feedback", Value::from(config.sample_feedback.unwrap_or(false))),
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
                ("log_base", Value::from(config.pint_log_base.unwrap_or(1.01))),
                ("probability", Value::from(config.pint_probability.unwrap_or(1.0))),
            ],
        },
        // No key sets TIMELY's other parameters (`rdma-hw.cc`).
        CcMode::Timely => ImportedControl {
            scheme: named("TIMELY", "TIMELY+w"),
            control: "timely",
            parameters: vec![ai, hai, min_rate],
        },
        CcMode::Dctcp => ImportedControl {
            scheme: "DCTCP",
            control: "dctcp",
            parameters: vec![gain, ("ai", text(config.dctcp_rate_ai.unwrap_or(Rate::mbps(1000)))), min_rate],
        },
        CcMode::Dcqcn => ImportedControl {
            scheme: named("DCQCN", "DCQCN+w"),
            control: "dcqcn",
            parameters: vec![
                ("variant", Value::from("vendor")),
                gain,
                ("alpha_interval", text(whole_microseconds(config.alpha_interval.unwrap_or(Time::us(55))))),
                ("decrease_interval", text(whole_microseconds(config.decrease_interval.unwrap_or(Time::us(4))))),
                ("increase_interval", text(whole_microseconds(config.increase_interval.unwrap_or_default()))),
                ("fast_recovery", Value::from(config.fast_recovery_times.unwrap_or(5))),
                ai,
                hai,
                min_rate,
                ("clamp_target", Value::from(config.clamp_target_rate.unwrap_or(false))),
            ],
        },
    }
}

fn text(quantity: impl std::fmt::Display) -> Value {
    Value::String(quantity.to_string())
}
