//! Partitions: nodes that one thread handles in a window, with all that they write.

use incast_model::fabric::{HostId, NodeId, NodeKind, PortId};

use super::guards::Guards;
use super::host::Host;
use super::out::Out;
use super::plan::Plan;
use super::run::{ANY, PLAIN, TELEMETRY, TRANSPORTS};
use super::switch::Switch;
use crate::kernel::{IdVec, Line, Member};

/// Index of a node among its kind, in a partition.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    Switch(u32),
    Host(u32),
}

/// Work of a partition in a window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    /// Kind of run.
    pub(super) run: u8,
    /// Windows to pass over before the one to enter; `None` if entered.
    pub(super) ahead: Option<u64>,
    pub(super) end: u64,
    /// If true, hosts wait for [`super::Nodes::run_hosts_in_order`].
    pub(super) without_hosts: bool,
    /// Nodes are woken for their next events, which are in later windows.
    pub(super) wakes: bool,
}

#[derive(Debug)]
pub(super) struct Partition {
    pub(super) nodes: IdVec<Member, NodeId>,
    pub(super) places: IdVec<Member, Place>,
    pub(super) switches: Vec<Switch<Guards>>,
    pub(super) hosts: Vec<Host>,
    pub(super) out: Out,
    /// With work in the current window.
    pub(super) awake: Vec<Member>,
    /// First member without a link to another partition.
    inner: Member,
}

/// Members of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    /// With a link to another partition.
    Border,
    Inner,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Node<'a> {
    Switch(&'a Switch<Guards>),
    Host(&'a Host),
}

#[derive(Debug)]
pub(super) enum NodeMut<'a> {
    Switch(&'a mut Switch<Guards>),
    Host(&'a mut Host),
}

impl Partition {
    pub(super) fn new(plan: Plan<'_>, (own, inward): (u32, IdVec<Line, PortId>), partitions: usize) -> Self {
        let fabric = &plan.network.fabric;
        let (mut places, mut switches, mut hosts) = (IdVec::new(), Vec::new(), Vec::new());
        let here = plan.layout.spots.numbered().filter(|(_, spot)| spot.partition == own);
        let mut here: Vec<(Member, NodeId)> = here.map(|(node, spot)| (spot.member, node)).collect();
        here.sort_unstable();
        let nodes: IdVec<Member, NodeId> = here.into_iter().map(|(_, node)| node).collect();
        for &node in &nodes {
            if fabric.node(node).kind == NodeKind::Switch {
                places.push(Place::Switch(switches.len() as u32));
                switches.push(Switch::new(plan, node));
            } else {
                places.push(Place::Host(hosts.len() as u32));
                let host = fabric.hosts().binary_search(&node).expect("the node is a host");
                hosts.push(Host::new(plan, HostId(host as u32)));
            }
        }
        let mut out = Out::new(plan, inward, places.len(), partitions);
        for host in hosts.iter().filter(|host| host.flows.has_starts()) {
            out.calendar.wake(plan.layout.spots[host.node()].member, 0);
        }
        let inner = nodes.iter().position(|&node| !plan.layout.is_at_border(fabric, node)).unwrap_or(nodes.len());
        Self { nodes, places, switches, hosts, out, awake: Vec::new(), inner: Member(inner as u32) }
    }

    pub(super) fn node(&self, member: Member) -> Node<'_> {
        match self.places[member] {
            Place::Switch(place) => Node::Switch(&self.switches[place as usize]),
            Place::Host(place) => Node::Host(&self.hosts[place as usize]),
        }
    }

    pub(super) fn node_mut(&mut self, member: Member) -> (NodeMut<'_>, &mut Out) {
        let node = match self.places[member] {
            Place::Switch(place) => NodeMut::Switch(&mut self.switches[place as usize]),
            Place::Host(place) => NodeMut::Host(&mut self.hosts[place as usize]),
        };
        (node, &mut self.out)
    }

    /// Returns the time of the node's next known event.
    #[cfg(test)]
    pub(super) fn run_node(&mut self, plan: Plan<'_>, run: u8, member: Member, end: u64) -> u64 {
        match run {
            PLAIN => self.run_one::<PLAIN>(plan, member, end),
            TELEMETRY => self.run_one::<TELEMETRY>(plan, member, end),
            TRANSPORTS => self.run_one::<TRANSPORTS>(plan, member, end),
            _ => self.run_one::<ANY>(plan, member, end),
        }
    }

    #[inline]
    fn run_one<const RUN: u8>(&mut self, plan: Plan<'_>, member: Member, end: u64) -> u64 {
        match self.places[member] {
            Place::Switch(place) => self.switches[place as usize].run::<RUN>(plan, &mut self.out, member, end),
            Place::Host(place) => self.hosts[place as usize].run::<RUN>(plan, &mut self.out, end),
        }
    }

    pub(super) fn run_window(&mut self, plan: Plan<'_>, task: Task) {
        if let Some(ahead) = task.ahead {
            self.enter(ahead);
        }
        if task.without_hosts {
            return self.run_switches(plan, task);
        }
        self.run_part(plan, task, Part::All);
    }

    /// Runs nodes of the window that was entered.
    pub(super) fn run_part(&mut self, plan: Plan<'_>, task: Task, part: Part) {
        match task.run {
            PLAIN => self.run_awake::<PLAIN>(plan, task, part),
            TELEMETRY => self.run_awake::<TELEMETRY>(plan, task, part),
            TRANSPORTS => self.run_awake::<TRANSPORTS>(plan, task, part),
            _ => self.run_awake::<ANY>(plan, task, part),
        }
    }

    fn run_awake<const RUN: u8>(&mut self, plan: Plan<'_>, Task { end, wakes, .. }: Task, part: Part) {
        let never = if wakes { u64::MAX } else { 0 };
        let awake = std::mem::take(&mut self.awake);
        let inner = if part == Part::All { 0 } else { awake.partition_point(|&member| member < self.inner) };
        let members = if part == Part::Border { &awake[..inner] } else { &awake[inner..] };
        for &member in members {
            let next = self.run_one::<RUN>(plan, member, end);
            if next < never {
                self.out.calendar.wake(member, next);
            }
        }
        self.awake = awake;
    }

    fn run_switches(&mut self, plan: Plan<'_>, Task { end, wakes, .. }: Task) {
        let awake = std::mem::take(&mut self.awake);
        for &member in &awake {
            let Place::Switch(place) = self.places[member] else { continue };
            let next = self.switches[place as usize].run::<ANY>(plan, &mut self.out, member, end);
            if wakes && next != u64::MAX {
                self.out.calendar.wake(member, next);
            }
        }
        self.awake = awake;
    }

    pub(super) fn enter(&mut self, ahead: u64) {
        self.out.calendar.advance(ahead, &mut self.awake);
    }
}
