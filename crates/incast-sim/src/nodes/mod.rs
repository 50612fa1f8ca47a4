//! Nodes own their state and run in windows (docs/design/kernel.md).
//!
//! Within a window a node handles its events in order of time, class and number, and writes packets onto its wires. Other nodes
//! read the wires only in later windows, so the order of nodes does not matter.
//!
//! Here times (`u64`) are in ps, with [`u64::MAX`] for none or never; sizes are in bytes, rates in bit/s.

mod actions;
mod batch;
#[cfg(test)]
mod bench;
mod blocking;
mod books;
mod by_rank;
mod calendar;
mod carried;
mod crew;
mod cut;
mod desk;
mod ends;
mod exchange;
mod faults;
mod guards;
mod host;
mod in_order;
mod lane;
mod mail;
mod map;
mod message;
mod movable;
mod ns3;
mod out;
mod outcome;
mod pace;
mod packet;
mod partition;
mod partitions;
mod plan;
mod recorder;
mod run;
mod series;
mod switch;
mod view;
mod windows;
mod wire;

use std::sync::Arc;

use incast_model::fabric::NodeId;

use crate::kernel::{Event, FlowId};
use crate::plan::Network;
use actions::Actions;
use batch::Batches;
use books::Books;
pub use cut::Cut;
use in_order::Queue;
use partitions::Partitions;
use plan::{Layout, Plan};
pub(crate) use plan::{MAX_CROSSING, MAX_NICS, MAX_PORTS};
use run::kind_of;
use series::Series;
use switch::Switch;

#[derive(Debug)]
pub(crate) struct Nodes {
    /// Only new routes change it, between windows.
    network: Arc<Network>,
    layout: Arc<Layout>,
    run: u8,
    partitions: Partitions,
    books: Books,
    series: Series,
    actions: Actions,
    batches: Batches,
    /// First flow not known to complete in this window or before.
    completing: FlowId,
    /// Last flow found to outlast a window, so that the run goes on.
    blocking: FlowId,
    queue: Queue,
}

impl Nodes {
    pub(crate) fn new(network: Network, cut: Cut) -> Self {
        Self::with_windows(network, cut, 1)
    }

    /// With windows shorter by a factor.
    pub(crate) fn with_windows(network: Network, cut: Cut, shorter: u64) -> Self {
        let (mut layout, inward) = Layout::new(&network, cut);
        layout.window /= shorter;
        let partitions = Partitions::new(Plan { layout: &layout, network: &network }, inward);
        let guarded = partitions.switches().any(Switch::is_guarded);
        Self {
            run: kind_of(&network, guarded),
            series: Series::new(&network.measure),
            actions: Actions::new(&network),
            batches: Batches::new(&network, layout.windows_apart()),
            books: Books::new(&network),
            completing: FlowId(0),
            blocking: FlowId::NONE,
            queue: Queue::new(layout.spots.len()),
            network: Arc::new(network),
            layout: Arc::new(layout),
            partitions,
        }
    }

    /// Threads share the partitions: always, or if that is faster.
    pub(crate) fn on_threads(mut self, threads: usize, always: bool) -> Self {
        self.partitions.share(&self.layout, threads, always);
        self
    }

    pub(crate) fn one_by_one(mut self) -> Self {
        Arc::get_mut(&mut self.layout).expect("no thread runs").one_by_one = true;
        self
    }

    fn next_of(&self, node: NodeId) -> Option<Event> {
        self.partitions.next_of(Plan { layout: &self.layout, network: &self.network }, node)
    }

    fn step_node(&mut self, node: NodeId, event: Event) {
        let plan = Plan { layout: &self.layout, network: &self.network };
        self.partitions.step(plan, node, event);
        self.partitions.deliver(self.run);
    }
}
