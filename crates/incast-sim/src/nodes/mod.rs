//! Nodes own their state and run in windows (docs/design/kernel.md).
//!
//! Within a window a node handles its events in order of time, class and number, and writes packets onto its wires. Other nodes
//! read the wires only in later windows, so the order of nodes does not matter.
//!
//! Here times (`u64`) are in ps, with [`u64::MAX`] for none or never; sizes are in bytes, rates in bit/s.

mod actions;
#[cfg(test)]
mod bench;
mod blocking;
mod books;
mod by_rank;
mod calendar;
mod ends;
mod faults;
mod guards;
mod host;
mod lane;
mod local;
mod map;
mod ns3;
mod out;
mod outcome;
mod packet;
mod plan;
mod recorder;
mod run;
mod series;
mod switch;
mod view;
mod windows;
mod wire;

use incast_model::fabric::{HostId, NodeId, NodeKind};

use crate::kernel::{Event, FlowId, IdVec};
use crate::plan::Network;
use actions::Actions;
use books::Books;
use guards::Guards;
use host::Host;
use out::Out;
use plan::{Layout, Plan};
pub(crate) use plan::{MAX_NICS, MAX_PORTS, MAX_TIME};
use run::{ANY, PLAIN, TELEMETRY, TRANSPORTS, kind_of};
use series::Series;
use switch::Switch;

/// Index of a node among its kind.
#[derive(Debug, Clone, Copy)]
enum Place {
    Switch(u32),
    Host(u32),
}

#[derive(Debug)]
pub(crate) struct Nodes {
    /// Only new routes change it, between windows.
    network: Network,
    layout: Layout,
    run: u8,
    places: IdVec<NodeId, Place>,
    switches: Vec<Switch<Guards>>,
    hosts: Vec<Host>,
    out: Out,
    books: Books,
    series: Series,
    actions: Actions,
    /// First flow not known to complete in this window or before.
    completing: FlowId,
}

impl Nodes {
    pub(crate) fn new(network: Network) -> Self {
        let layout = Layout::new(&network);
        let plan = Plan { layout: &layout, network: &network };
        let fabric = &network.fabric;
        let mut places = IdVec::from(vec![Place::Switch(0); fabric.nodes().len()]);
        let mut switches = Vec::new();
        for node in places.ids() {
            if fabric.node(node).kind == NodeKind::Switch {
                places[node] = Place::Switch(switches.len() as u32);
                switches.push(Switch::new(plan, node));
            }
        }
        let hosts: Vec<Host> = (0..fabric.hosts().len() as u32).map(|host| Host::new(plan, HostId(host))).collect();
        for (place, host) in (0u32..).zip(&hosts) {
            places[host.node()] = Place::Host(place);
        }
        let mut out = Out::new(plan);
        for host in hosts.iter().filter(|host| host.flows.has_starts()) {
            out.calendar.wake(host.node(), 0);
        }
        Self {
            run: kind_of(&network, switches.iter().any(Switch::is_guarded)),
            series: Series::new(&network.measure),
            actions: Actions::new(&network),
            books: Books::new(&network),
            completing: FlowId(0),
            network,
            layout,
            places,
            switches,
            hosts,
            out,
        }
    }

    pub(crate) fn one_by_one(mut self) -> Self {
        self.layout.one_by_one = true;
        self
    }

    /// Returns the time of the node's next known event.
    #[inline]
    fn run_node(&mut self, node: NodeId, end: u64) -> u64 {
        let plan = Plan { layout: &self.layout, network: &self.network };
        match self.places[node] {
            Place::Switch(place) => {
                let switch = &mut self.switches[place as usize];
                match self.run {
                    PLAIN => switch.run::<PLAIN>(plan, &mut self.out, end),
                    TELEMETRY => switch.run::<TELEMETRY>(plan, &mut self.out, end),
                    TRANSPORTS => switch.run::<TRANSPORTS>(plan, &mut self.out, end),
                    _ => switch.run::<ANY>(plan, &mut self.out, end),
                }
            }
            Place::Host(place) => {
                let host = &mut self.hosts[place as usize];
                match self.run {
                    PLAIN => host.run::<PLAIN>(plan, &mut self.out, end),
                    TELEMETRY => host.run::<TELEMETRY>(plan, &mut self.out, end),
                    TRANSPORTS => host.run::<TRANSPORTS>(plan, &mut self.out, end),
                    _ => host.run::<ANY>(plan, &mut self.out, end),
                }
            }
        }
    }

    fn next_of(&self, node: NodeId) -> Option<Event> {
        let plan = Plan { layout: &self.layout, network: &self.network };
        match self.places[node] {
            Place::Switch(place) => self.switches[place as usize].next(plan, &self.out),
            Place::Host(place) => self.hosts[place as usize].next(&self.out),
        }
    }

    fn step_node(&mut self, node: NodeId, event: Event) {
        let plan = Plan { layout: &self.layout, network: &self.network };
        match self.places[node] {
            Place::Switch(place) => self.switches[place as usize].step(plan, &mut self.out, event),
            Place::Host(place) => self.hosts[place as usize].step(plan, &mut self.out, event),
        }
    }
}
