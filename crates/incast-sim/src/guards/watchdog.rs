//! PFC watchdog: releases a queue paused for too long, at the price of lost packets (as SONiC's `pfcwd`).

use incast_model::range::above;
use incast_model::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GuardParams;

/// PFC watchdog of switches, which polls every queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WatchdogParams {
    /// If true, switches have a watchdog. Default false (the HPCC evaluation).
    pub enabled: bool,
    /// Duration of an uninterrupted pause of a lossless queue that counts as a storm. Default 200ms (SONiC `pfcwd
    /// start_default`).
    #[schemars(transform = above("0s"))]
    pub detection: Time,
    /// Time without a pause that ends a storm. Default 200ms (SONiC `pfcwd start_default`).
    #[schemars(transform = above("0s"))]
    pub restoration: Time,
    /// Polling interval. Default 200ms (SONiC `pfcwd start_default`).
    #[schemars(transform = above("0s"))]
    pub poll: Time,
    /// Action during a storm. Default drop (SONiC `pfcwd start_default`).
    pub action: WatchdogAction,
}

impl Default for WatchdogParams {
    fn default() -> Self {
        let [detection, restoration, poll] = [Time::ms(200); 3];
        Self { enabled: false, detection, restoration, poll, action: WatchdogAction::default() }
    }
}

impl GuardParams for WatchdogParams {
    fn enabled(&self) -> bool {
        self.enabled
    }

    fn needs_pfc(&self) -> bool {
        true
    }

    fn summary(&self) -> Option<String> {
        let action = match self.action {
            WatchdogAction::Drop => "drop",
            WatchdogAction::Forward => "forward",
            WatchdogAction::Alert => "alert",
        };
        Some(format!(
            "PFC watchdog: {action}, detection {:#}, restoration {:#}, poll {:#}",
            self.detection, self.restoration, self.poll
        ))
    }
}

/// Action of the watchdog during a storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WatchdogAction {
    /// Drops the queue, packets for it, and packets that arrive by its port and priority.
    #[default]
    Drop,
    /// Ignores the pauses and sends, with or without buffer space at the next switch.
    Forward,
    /// Only records the storm: pauses stay in force, no packet is dropped (SONiC `pfcwd` action `alert`).
    Alert,
}
