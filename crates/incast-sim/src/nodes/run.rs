//! Kinds of runs: the code of nodes exists once for each, by a constant of the compiler, so that a run without a feature has no
//! trace of it.

use crate::plan::{Network, WHOLE_PACKETS};
use crate::switch::Storage;

/// Any run.
pub(super) const ANY: u8 = 0;
/// RDMA whose packets meet routes, queues, the shared buffer, PFC, ECN and telemetry on plain links.
pub(super) const TELEMETRY: u8 = 1;
/// Same without telemetry.
pub(super) const PLAIN: u8 = 2;
/// `ns3` arithmetic, in the order of one queue of all events.
pub(super) const NS3: u8 = 3;

/// Returns true for kinds of runs in which nothing but the usual is measured or guarded.
pub(super) const fn is_bare(run: u8) -> bool {
    matches!(run, TELEMETRY | PLAIN)
}

/// Kind of a run. [`ANY`] if switches have guards (`guarded`), and with failures, fingerprints, histograms, deficit round robin,
/// cut-through, gaps, buffers per port, servers of VMs, selective repeat, demotion by bytes sent, or transports other than RDMA.
pub(super) fn kind_of(network: &Network, guarded: bool) -> u8 {
    let config = &network.config;
    let measured = &network.measure;
    let plain = !guarded
        && config.plain_wires
        && config.storage == Storage::Shared
        && network.faults.is_none()
        && !network.config.selective
        && config.demotion == u64::MAX
        && !measured.fingerprint
        && !measured.queue_histogram
        && !network.rule.is_drr()
        && network.transports.endpoints.is_empty()
        && network.ports.iter().all(|port| port.cut == WHOLE_PACKETS && !port.at_server);
    match (plain, config.telemetry) {
        _ if config.ns3 => NS3,
        (false, _) => ANY,
        (true, true) => TELEMETRY,
        (true, false) => PLAIN,
    }
}
