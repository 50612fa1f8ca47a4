//! The shared-buffer, output-queued, store-and-forward switch.

mod params;

pub use params::{
    Alpha, EcnParams, EcnThreshold, Headroom, MarkAt, PfcMode, SchedulerParams, SwitchParams,
};
