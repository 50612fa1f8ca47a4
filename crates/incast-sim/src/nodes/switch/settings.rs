use super::Hooks;
use crate::plan::{Config, Network};
use crate::switch::{Rule, Storage};

/// From guards and [`Config`].
#[derive(Debug)]
#[repr(C)]
pub(in crate::nodes) struct Settings {
    /// Packets pass guards; these change tags on the wire; these watch queues.
    pub(super) guarded: bool,
    pub(super) late_tags: bool,
    pub(super) watches_queues: bool,
    /// As [`Hooks::markable`].
    pub(super) markable: u8,
    pub(in crate::nodes) lossless: u8,
    pub(super) mark_at_enqueue: bool,
    pub(in crate::nodes) ttl: u8,
    pub(super) stamps: bool,
    pub(super) storage: Storage,
    pub(super) port_rank: u64,
    pub(super) rule: Rule,
    pub(super) pfc_size: u16,
}

impl Settings {
    pub(super) fn new(network: &Network, guards: &impl Hooks, telemetry: bool, serves_vms: bool) -> Self {
        let Config { queues, switch, packets, .. } = &network.config;
        let late_tags = guards.rewrites_on_the_wire();
        Self {
            guarded: !guards.is_empty(),
            late_tags,
            watches_queues: guards.watches_queues(),
            markable: guards.markable(),
            lossless: queues.lossless,
            mark_at_enqueue: switch.mark_at_enqueue,
            ttl: switch.ttl,
            stamps: telemetry || late_tags,
            storage: if serves_vms { Storage::Own(queues.server) } else { queues.storage },
            port_rank: queues.port_rank,
            rule: network.switches.rule,
            pfc_size: packets.pfc.0 as u16,
        }
    }
}
