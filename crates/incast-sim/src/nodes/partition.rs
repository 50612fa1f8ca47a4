//! Partitions: nodes that one thread handles in a window, with all that they write.

use incast_model::fabric::{HostId, NodeId, NodeKind, PortId};
use rayon::prelude::*;

use super::guards::Guards;
use super::host::{Host, Hosts};
use super::mail::Bag;
use super::out::{Out, RunProgress};
use super::plan::{Layout, Plan, Spot};
use super::run::{ANY, PLAIN, TELEMETRY, TRANSPORTS};
use super::switch::Switch;
use super::wire::Wire;
use crate::kernel::{Event, IdVec, Line, Member};
use crate::measure::Fingerprint;
use crate::outcome::Counts;

/// Index of a node among its kind, in a partition.
#[derive(Debug, Clone, Copy)]
enum Place {
    Switch(u32),
    Host(u32),
}

#[derive(Debug)]
pub(super) struct Partition {
    nodes: IdVec<Member, NodeId>,
    places: IdVec<Member, Place>,
    pub(super) switches: Vec<Switch<Guards>>,
    pub(super) hosts: Vec<Host>,
    pub(super) out: Out,
    /// With work in the current window.
    pub(super) awake: Vec<Member>,
    /// Packets from other partitions; later their empty bags.
    mail: Vec<(u32, Bag)>,
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
    fn new(plan: Plan<'_>, (own, inward): (u32, IdVec<Line, PortId>), partitions: usize) -> Self {
        let fabric = &plan.network.fabric;
        let (mut places, mut switches, mut hosts) = (IdVec::new(), Vec::new(), Vec::new());
        let here = plan.layout.spots.numbered().filter(|(_, spot)| spot.partition == own);
        let nodes: IdVec<Member, NodeId> = here.map(|(node, _)| node).collect();
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
        Self { nodes, places, switches, hosts, out, awake: Vec::new(), mail: Vec::new() }
    }

    fn node(&self, member: Member) -> Node<'_> {
        match self.places[member] {
            Place::Switch(place) => Node::Switch(&self.switches[place as usize]),
            Place::Host(place) => Node::Host(&self.hosts[place as usize]),
        }
    }

    fn node_mut(&mut self, member: Member) -> (NodeMut<'_>, &mut Out) {
        let node = match self.places[member] {
            Place::Switch(place) => NodeMut::Switch(&mut self.switches[place as usize]),
            Place::Host(place) => NodeMut::Host(&mut self.hosts[place as usize]),
        };
        (node, &mut self.out)
    }

    /// Returns the time of the node's next known event.
    #[inline]
    pub(super) fn run_node(&mut self, plan: Plan<'_>, run: u8, member: Member, end: u64) -> u64 {
        match self.places[member] {
            Place::Switch(place) => {
                let switch = &mut self.switches[place as usize];
                match run {
                    PLAIN => switch.run::<PLAIN>(plan, &mut self.out, end),
                    TELEMETRY => switch.run::<TELEMETRY>(plan, &mut self.out, end),
                    TRANSPORTS => switch.run::<TRANSPORTS>(plan, &mut self.out, end),
                    _ => switch.run::<ANY>(plan, &mut self.out, end),
                }
            }
            Place::Host(place) => {
                let host = &mut self.hosts[place as usize];
                match run {
                    PLAIN => host.run::<PLAIN>(plan, &mut self.out, end),
                    TELEMETRY => host.run::<TELEMETRY>(plan, &mut self.out, end),
                    TRANSPORTS => host.run::<TRANSPORTS>(plan, &mut self.out, end),
                    _ => host.run::<ANY>(plan, &mut self.out, end),
                }
            }
        }
    }

    /// `wakes`: nodes are woken for their next events, which are in later windows.
    fn run_awake(&mut self, plan: Plan<'_>, run: u8, end: u64, wakes: bool) {
        let awake = std::mem::take(&mut self.awake);
        for &member in &awake {
            let next = self.run_node(plan, run, member, end);
            if wakes && next != u64::MAX {
                self.out.calendar.wake(member, next);
            }
        }
        self.awake = awake;
    }

    fn open_mail(&mut self, layout: &Layout, run: u8) {
        let Self { places, out, mail, .. } = self;
        for (_, bag) in mail {
            let is_switch = |member| matches!(places[member], Place::Switch(_));
            match run {
                PLAIN => out.receive::<PLAIN>(layout, bag, is_switch),
                TELEMETRY => out.receive::<TELEMETRY>(layout, bag, is_switch),
                TRANSPORTS => out.receive::<TRANSPORTS>(layout, bag, is_switch),
                _ => out.receive::<ANY>(layout, bag, is_switch),
            }
        }
    }
}

/// All partitions of a run. Outside [`Partitions::run_awake`] no packet is between two of them.
#[derive(Debug)]
pub(super) struct Partitions {
    all: Vec<Partition>,
    /// Partition and index there, in order of nodes and of hosts.
    switches: Vec<(u32, u32)>,
    hosts: IdVec<HostId, (u32, u32)>,
    /// Fewest nodes awake for which threads of the current pool run the partitions.
    pub(super) least_awake: usize,
}

impl Partitions {
    pub(super) fn new(plan: Plan<'_>, inward: Vec<IdVec<Line, PortId>>) -> Self {
        let count = inward.len();
        let all: Vec<Partition> = (0u32..).zip(inward).map(|wires| Partition::new(plan, wires, count)).collect();
        let (mut switches, mut hosts) = (Vec::new(), Vec::new());
        for spot in &plan.layout.spots {
            match all[spot.partition as usize].places[spot.member] {
                Place::Switch(place) => switches.push((spot.partition, place)),
                Place::Host(place) => hosts.push((spot.partition, place)),
            }
        }
        Self { all, switches, hosts: hosts.into(), least_awake: usize::MAX }
    }

    /// The partition of a run that is not cut.
    #[inline]
    pub(super) fn whole(&mut self) -> &mut Partition {
        debug_assert_eq!(self.all.len(), 1, "the run is not cut");
        &mut self.all[0]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Partition> {
        self.all.iter()
    }

    pub(super) fn outs(&mut self) -> impl Iterator<Item = &mut Out> {
        self.all.iter_mut().map(|partition| &mut partition.out)
    }

    /// For events of no node.
    pub(super) fn first(&mut self) -> &mut Out {
        &mut self.all[0].out
    }

    pub(super) fn awake(&self) -> Vec<NodeId> {
        self.all.iter().flat_map(|one| one.awake.iter().map(|&member| one.nodes[member])).collect()
    }

    pub(super) fn at(&mut self, spot: Spot) -> &mut Partition {
        &mut self.all[spot.partition as usize]
    }

    pub(super) fn node(&self, spot: Spot) -> Node<'_> {
        self.all[spot.partition as usize].node(spot.member)
    }

    pub(super) fn node_mut(&mut self, spot: Spot) -> (NodeMut<'_>, &mut Out) {
        self.all[spot.partition as usize].node_mut(spot.member)
    }

    pub(super) fn switches(&self) -> impl Iterator<Item = &Switch<Guards>> {
        self.switches.iter().map(|&(partition, place)| &self.all[partition as usize].switches[place as usize])
    }

    pub(super) fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts.iter().map(|&(partition, place)| &self.all[partition as usize].hosts[place as usize])
    }

    pub(super) fn host_and_out(&self, host: HostId) -> (&Host, &Out) {
        let (partition, place) = self.hosts[host];
        let Partition { hosts, out, .. } = &self.all[partition as usize];
        (&hosts[place as usize], out)
    }

    pub(super) fn for_each_switch(&mut self, mut act: impl FnMut(&mut Switch<Guards>, &mut Out)) {
        for &(partition, place) in &self.switches {
            let Partition { switches, out, .. } = &mut self.all[partition as usize];
            act(&mut switches[place as usize], out);
        }
    }

    pub(super) fn for_each_host(&mut self, mut act: impl FnMut(&mut Host, &mut Out)) {
        for &(partition, place) in &self.hosts {
            let Partition { hosts, out, .. } = &mut self.all[partition as usize];
            act(&mut hosts[place as usize], out);
        }
    }

    /// Next window with work: begin and end. Wakes its nodes.
    pub(super) fn advance(&mut self) -> Option<(u64, u64)> {
        let ahead = self.all.iter().filter_map(|partition| partition.out.calendar.ahead()).min()?;
        let mut window = (0, 0);
        for Partition { out, awake, .. } in &mut self.all {
            window = out.calendar.advance(ahead, awake);
        }
        Some(window)
    }

    pub(super) fn wake_all(&mut self) {
        for Partition { places, awake, .. } in &mut self.all {
            *awake = places.ids().collect();
        }
    }

    /// Runs all nodes awake up to `end`, the partitions side by side.
    pub(super) fn run_awake(&mut self, plan: Plan<'_>, run: u8, end: u64, wakes: bool) {
        let awake: usize = self.all.iter().map(|partition| partition.awake.len()).sum();
        let side_by_side = awake >= self.least_awake;
        self.for_each(side_by_side, |partition| partition.run_awake(plan, run, end, wakes));
        if self.hand_over() {
            self.for_each(side_by_side, |partition| partition.open_mail(plan.layout, run));
        }
    }

    fn for_each(&mut self, side_by_side: bool, act: impl Fn(&mut Partition) + Sync + Send) {
        if side_by_side {
            self.all.par_iter_mut().with_max_len(1).for_each(act);
        } else {
            self.all.iter_mut().for_each(act);
        }
    }

    /// Passes packets between partitions, after steps of single nodes.
    pub(super) fn deliver(&mut self, layout: &Layout, run: u8) {
        if self.hand_over() {
            self.for_each(false, |partition| partition.open_mail(layout, run));
        }
    }

    /// Returns true if there is mail.
    fn hand_over(&mut self) -> bool {
        if self.all.len() == 1 {
            return false;
        }
        for to in 0..self.all.len() {
            if self.all[to].mail.is_empty() {
                continue;
            }
            for (from, bag) in std::mem::take(&mut self.all[to].mail) {
                self.all[from as usize].out.post.spare.push(bag);
            }
        }
        let mut any = false;
        for from in 0..self.all.len() {
            if self.all[from].out.post.is_empty() {
                continue;
            }
            let mut post = std::mem::take(&mut self.all[from].out.post);
            for (to, bag) in post.take() {
                self.all[to as usize].mail.push((from as u32, bag));
                any = true;
            }
            self.all[from].out.post = post;
        }
        any
    }

    /// Removes all nodes but a host, or but the switches.
    #[cfg(test)]
    pub(super) fn keep(&mut self, host: Option<(HostId, Member)>) {
        let Partition { places, hosts, switches, .. } = &mut self.all[0];
        match host {
            None => (*hosts, self.hosts) = (Vec::new(), IdVec::new()),
            Some((host, member)) => {
                *hosts = vec![hosts.swap_remove(host.0 as usize)];
                places[member] = Place::Host(0);
                (*switches, self.switches) = (Vec::new(), Vec::new());
                self.hosts = vec![(0, 0)].into();
            }
        }
    }

    #[cfg(test)]
    pub(super) fn run_node(&mut self, plan: Plan<'_>, run: u8, node: NodeId, end: u64) -> u64 {
        let spot = plan.layout.spots[node];
        self.at(spot).run_node(plan, run, spot.member, end)
    }

    pub(super) fn next_of(&self, plan: Plan<'_>, node: NodeId) -> Option<Event> {
        let spot = plan.layout.spots[node];
        let out = &self.all[spot.partition as usize].out;
        match self.node(spot) {
            Node::Switch(switch) => switch.next(plan, out),
            Node::Host(host) => host.next(out),
        }
    }

    pub(super) fn step(&mut self, plan: Plan<'_>, node: NodeId, event: Event) {
        match self.node_mut(plan.layout.spots[node]) {
            (NodeMut::Switch(switch), out) => switch.step(plan, out, event),
            (NodeMut::Host(host), out) => host.step(plan, out, event),
        }
    }

    /// `None` if not measured.
    pub(super) fn fingerprint(&self) -> Option<Fingerprint> {
        let mut prints = self.all.iter().filter_map(|partition| partition.out.prints.as_deref());
        let mut sum = prints.next()?.clone();
        prints.for_each(|others| sum.add(others));
        Some(sum.digest())
    }

    pub(super) fn into_switches(self) -> impl Iterator<Item = Switch<Guards>> {
        self.all.into_iter().flat_map(|partition| partition.switches)
    }

    /// Wires of the partition where those of a port end.
    pub(super) fn wires_to(&self, Plan { layout, network }: Plan<'_>, port: PortId) -> &IdVec<Line, Wire> {
        &self.all[layout.spots[network.fabric.neighbour(port)].partition as usize].out.wires
    }

    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.all.iter().for_each(|partition| counts += partition.out.counts);
        counts
    }

    pub(super) fn events(&self) -> u64 {
        self.all.iter().map(|partition| partition.out.counts.events).sum()
    }

    pub(super) fn progress(&self) -> RunProgress {
        let add = |sum: RunProgress, one: &RunProgress| RunProgress {
            live: sum.live + one.live,
            done: sum.done + one.done,
            acked: sum.acked + one.acked,
            moved: sum.moved.max(one.moved),
        };
        self.all.iter().fold(RunProgress::default(), |sum, partition| add(sum, &partition.out.progress))
    }
}

impl Hosts for Partitions {
    fn host(&self, host: HostId) -> &Host {
        let (partition, place) = self.hosts[host];
        &self.all[partition as usize].hosts[place as usize]
    }

    fn host_mut(&mut self, host: HostId) -> &mut Host {
        let (partition, place) = self.hosts[host];
        &mut self.all[partition as usize].hosts[place as usize]
    }
}
