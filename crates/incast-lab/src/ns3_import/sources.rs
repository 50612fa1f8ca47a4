//! Errors of the scenario that an import makes, at the files that its values come from.

use std::path::Path;

use incast_model::ns3::Ns3Config;

use super::{at, scheme_names};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Files of an import.
pub(super) struct Sources<'a> {
    /// Not written if there are errors.
    pub(super) out: &'a str,
    pub(super) topology: &'a Path,
    pub(super) flows: &'a Path,
}

impl Sources<'_> {
    /// Blames the file that a value of the scenario comes from.
    pub(super) fn blamed(&self, errors: Diagnostics, configs: &[Ns3Config]) -> Diagnostics {
        let blamed = |error: Diagnostic| match &error.place {
            Some(place) if place.file == self.out => self.of_file(&error, configs),
            _ => error,
        };
        errors.map(|errors| errors.into_iter().map(blamed).collect())
    }

    fn of_file(&self, error: &Diagnostic, configs: &[Ns3Config]) -> Diagnostic {
        let allowed = error.allowed.as_ref().map(|allowed| format!("; allowed: {allowed}")).unwrap_or_default();
        let text = format!("{}{allowed}", error.message);
        let own = scheme_names(configs).iter().position(|name| error.path.starts_with(&format!("scheme.{name}.")));
        let of_scheme = |(number, _): &(usize, &Ns3Config)| own.is_none_or(|own| own == *number);
        let mut configs = configs.iter().enumerate().filter(of_scheme).peekable();
        let usual = configs.peek().map(|(_, config)| *config);
        if let Some(key) = key(&error.path) {
            let set = configs.find_map(|(_, config)| Some((config, config.line(key)?)));
            if let Some((config, line)) = set {
                return at(config, line, &format!("{key}: {text}"));
            }
        }
        match (error.path.split('.').next(), usual) {
            (Some(first), _) if first.starts_with("workload") => at_file(self.flows, &text),
            (Some("fabric"), _) | (_, None) => at_file(self.topology, &text),
            (_, Some(config)) => at(config, 0, &text),
        }
    }
}

fn at_file(file: &Path, text: &str) -> Diagnostic {
    Diagnostic::new("", format!("{}: {text}", file.display()))
}

/// Key that sets a parameter.
fn key(path: &str) -> Option<&'static str> {
    let names: Vec<&str> = path.split('.').map(|part| part.split('[').next().unwrap_or_default()).collect();
    let path = format!(".{}.", names.join("."));
    KEYS.iter().find(|(parameter, _)| path.contains(&format!(".{parameter}."))).map(|&(_, key)| key)
}

/// Parameters that configurations set, and their keys.
const KEYS: &[(&str, &str)] = &[
    ("dctcp.ai", "DCTCP_RATE_AI"),
    ("ai", "RATE_AI"),
    ("alpha_interval", "ALPHA_RESUME_INTERVAL"),
    ("buffer", "BUFFER_SIZE"),
    ("decrease_interval", "RATE_DECREASE_INTERVAL"),
    ("eta", "U_TARGET"),
    ("failure", "LINK_DOWN"),
    ("fast_recovery", "FAST_RECOVERY_TIMES"),
    ("g", "EWMA_GAIN"),
    ("hai", "RATE_HAI"),
    ("horizon", "SIMULATOR_STOP_TIME"),
    ("increase_interval", "RP_TIMER"),
    ("int_multiplier", "INT_MULTI"),
    ("kmax", "KMAX_MAP"),
    ("kmin", "KMIN_MAP"),
    ("log_base", "PINT_LOG_BASE"),
    ("max_stage", "MI_THRESH"),
    ("min_rate", "MIN_RATE"),
    ("payload", "PACKET_PAYLOAD_SIZE"),
    ("pmax", "PMAX_MAP"),
    ("probability", "PINT_PROB"),
];
