//! All partitions of a run.

use std::sync::Arc;
use std::time::Duration;

use incast_model::fabric::{HostId, NodeId, PortId};

use super::crew::{Batch, Crew, run_all};
use super::guards::Guards;
use super::host::{Host, Hosts};
use super::movable::{Movable, ahead, hand_over};
use super::out::{Out, RunProgress};
use super::partition::{Node, NodeMut, Partition, Place, Task};
use super::plan::{Layout, Plan, Spot};
use super::switch::Switch;
use super::wire::Wire;
#[cfg(test)]
use crate::kernel::Member;
use crate::kernel::{Event, IdVec, Line};
use crate::measure::Fingerprint;
use crate::outcome::Counts;
use crate::plan::Network;

/// Between windows, mail of the last one may be unopened, and the next one not entered: see [`Partitions::settle`].
#[derive(Debug)]
pub(super) struct Partitions {
    all: Vec<Movable>,
    /// Partition and index there, in order of nodes and of hosts.
    switches: Vec<(u32, u32)>,
    hosts: IdVec<HostId, (u32, u32)>,
    /// Windows to pass over before the next one, if it is not entered.
    ahead: Option<u64>,
    /// `None`: one thread runs all partitions.
    crew: Option<Crew>,
    /// If the fabric is cut by hand.
    tally: Option<Tally>,
    /// Ends of windows, and changes in the number of packets: to find the peak of a batch.
    changes: Vec<(u64, i64)>,
}

/// Simulates, on one thread, how threads wait for each other if each partition has one, and each event takes the same time.
#[derive(Debug, Default)]
struct Tally {
    /// By partition: end of its last window, and of the part of it that others wait for, in events.
    ends: Vec<u64>,
    posts: Vec<u64>,
}

impl Tally {
    /// `events`: of nodes at the border, and of all, by partition; `follows`: the window begins when the last one ends.
    fn note(&mut self, events: &[(u64, u64)], follows: bool) {
        let (end, post) = (self.longest(), self.posts.iter().copied().max().unwrap_or(0));
        self.ends.resize(events.len(), 0);
        let begins = self.ends.iter().map(|&own| if follows { own.max(post) } else { end });
        let windows: Vec<_> = begins.zip(events).map(|(begin, (border, all))| (begin + border, begin + all)).collect();
        (self.posts, self.ends) = windows.into_iter().unzip();
    }

    fn longest(&self) -> u64 {
        self.ends.iter().copied().max().unwrap_or(0)
    }
}

impl Partitions {
    pub(super) fn new(plan: Plan<'_>, inward: Vec<IdVec<Line, PortId>>) -> Self {
        let count = inward.len();
        let all = (0u32..).zip(inward).map(|wires| Movable::new(Partition::new(plan, wires, count)));
        let all: Vec<_> = all.collect();
        let (mut switches, mut hosts) = (Vec::new(), Vec::new());
        for spot in &plan.layout.spots {
            match all[spot.partition as usize].places[spot.member] {
                Place::Switch(place) => switches.push((spot.partition, place)),
                Place::Host(place) => hosts.push((spot.partition, place)),
            }
        }
        Self { all, switches, hosts: hosts.into(), ahead: None, crew: None, tally: None, changes: Vec::new() }
    }

    /// The partition of a run that is not cut.
    #[inline]
    pub(super) fn whole(&mut self) -> &mut Partition {
        debug_assert_eq!(self.all.len(), 1, "the run is not cut");
        &mut self.all[0]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Partition> {
        self.all.iter().map(|partition| &**partition)
    }

    /// False if nothing is to do between windows but for failures, samples and searches.
    pub(super) fn ask(&self) -> bool {
        self.all.iter().any(Movable::asks)
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

    /// A sleeping node takes part in the window.
    pub(super) fn rouse(&mut self, spot: Spot) {
        self.at(spot).awake.push(spot.member);
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
        let Partition { hosts, out, .. } = &*self.all[partition as usize];
        (&hosts[place as usize], out)
    }

    pub(super) fn for_each_switch(&mut self, mut act: impl FnMut(&mut Switch<Guards>, &mut Out)) {
        for &(partition, place) in &self.switches {
            let Partition { switches, out, .. } = &mut *self.all[partition as usize];
            act(&mut switches[place as usize], out);
        }
    }

    pub(super) fn for_each_host(&mut self, mut act: impl FnMut(&mut Host, &mut Out)) {
        for &(partition, place) in &self.hosts {
            let Partition { hosts, out, .. } = &mut *self.all[partition as usize];
            act(&mut hosts[place as usize], out);
        }
    }

    /// Shares the partitions among threads: always, or if that is faster.
    pub(super) fn share(&mut self, layout: &Layout, threads: usize, always: bool) {
        let partitions = (self.all.len(), layout.windows_apart());
        self.crew = (threads > 1 && self.all.len() > 1).then(|| Crew::new(threads, partitions, always));
        self.tally = (always && self.crew.is_none()).then(Tally::default);
    }

    /// See [`crate::outcome::Threads::sequential`].
    pub(super) fn sequential(&self) -> u64 {
        self.tally.as_ref().map_or(0, Tally::longest)
    }

    /// Before the plan changes.
    pub(super) fn release_plan(&mut self) {
        if let Some(crew) = &mut self.crew {
            crew.release_plan();
        }
    }

    /// Ends the threads. Returns their number with that of the caller, and their CPU time without it.
    pub(super) fn end_threads(&mut self) -> (usize, Duration) {
        self.crew.take().map_or((1, Duration::ZERO), Crew::end)
    }

    /// Next window with work: begin and end.
    pub(super) fn advance(&mut self) -> Option<(u64, u64)> {
        self.ahead = Some(ahead(&self.all)?);
        Some(self.all[0].out.calendar.window(self.ahead?))
    }

    /// Opens all mail and enters the next window, for what looks at nodes and wires between windows.
    pub(super) fn settle(&mut self, run: u8) {
        let ahead = self.ahead.take();
        for partition in &mut self.all {
            partition.open_mail(run);
            if let Some(ahead) = ahead {
                partition.enter(ahead);
            }
        }
    }

    /// Opens the mail for a host.
    pub(super) fn open_mail_for(&mut self, host: HostId, run: u8) {
        self.all[self.hosts[host].0 as usize].open_mail(run);
    }

    pub(super) fn wake_all(&mut self) {
        for partition in &mut self.all {
            partition.awake = partition.places.ids().collect();
        }
    }

    /// Runs the nodes of the window up to `end`.
    pub(super) fn run(&mut self, layout: &Arc<Layout>, network: &Arc<Network>, task: Task) {
        let task = Task { ahead: self.ahead.take(), ..task };
        match &mut self.crew {
            Some(crew) => crew.run(&mut self.all, layout, network, Batch { task, windows: 1 }),
            None => match &mut self.tally {
                Some(tally) if !task.without_hosts => {
                    let plan = Plan { layout, network };
                    let events: Vec<_> = self.all.iter_mut().map(|partition| partition.run_parts(plan, task)).collect();
                    tally.note(&events, task.ahead == Some(0));
                }
                _ => run_all(&mut self.all, Plan { layout, network }, Batch { task, windows: 1 }),
            },
        }
        hand_over(&mut self.all);
    }

    /// Windows that may run in a batch now.
    pub(super) fn windows_together(&self) -> u32 {
        let whole = if self.tally.is_none() { u32::MAX } else { 1 };
        self.crew.as_ref().map_or(whole, Crew::windows_together)
    }

    /// Runs windows, the first up to `task.end`. Returns the largest number of packets after one of them.
    pub(super) fn run_batch(&mut self, layout: &Arc<Layout>, network: &Arc<Network>, task: Task, windows: u32) -> u64 {
        let task = Task { ahead: self.ahead.take(), ..task };
        let batch = Batch { task, windows };
        match &mut self.crew {
            Some(crew) => crew.run(&mut self.all, layout, network, batch),
            None => run_all(&mut self.all, Plan { layout, network }, batch),
        }
        hand_over(&mut self.all);
        self.peak()
    }

    /// Largest number of packets after a window of the last batch.
    fn peak(&mut self) -> u64 {
        if let [whole] = &self.all[..] {
            return whole.live.iter().map(|&(_, live)| live).max().unwrap_or(0) as u64;
        }
        self.changes.clear();
        for partition in &self.all {
            let before = std::iter::once(0).chain(partition.live.iter().map(|&(_, live)| live));
            self.changes.extend(partition.live.iter().zip(before).map(|(&(end, live), before)| (end, live - before)));
        }
        self.changes.sort_unstable();
        let ends = self.changes.chunk_by(|one, next| one.0 == next.0);
        let sums = ends.scan(0, |live, changes| {
            *live += changes.iter().map(|&(_, change)| change).sum::<i64>();
            Some(*live)
        });
        sums.max().unwrap_or(0) as u64
    }

    /// Passes packets between partitions, after steps of single nodes.
    pub(super) fn deliver(&mut self, run: u8) {
        if self.all.len() > 1 {
            self.all.iter_mut().for_each(Movable::post);
            hand_over(&mut self.all);
            self.all.iter_mut().for_each(|partition| partition.open_mail(run));
        }
    }

    /// Removes all nodes but a host, or but the switches.
    #[cfg(test)]
    pub(super) fn keep(&mut self, host: Option<(HostId, Member)>) {
        let Partition { places, hosts, switches, .. } = &mut *self.all[0];
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
        self.all.into_iter().flat_map(|partition| partition.into_inner().switches)
    }

    /// Wires of the partition where those of a port end.
    pub(super) fn wires_to(&self, Plan { layout, network }: Plan<'_>, port: PortId) -> &IdVec<Line, Wire> {
        &self.all[layout.spots[network.fabric.neighbour(port)].partition as usize].out.wires
    }

    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.all.iter().for_each(|partition| counts += partition.out.counts());
        counts
    }

    pub(super) fn events(&self) -> u64 {
        self.all.iter().map(Movable::events).sum()
    }

    pub(super) fn progress(&self) -> RunProgress {
        let add = |sum: RunProgress, one: RunProgress| RunProgress {
            live: sum.live + one.live,
            done: sum.done + one.done,
            acked: sum.acked + one.acked,
            moved: sum.moved.max(one.moved),
        };
        self.all.iter().map(Movable::progress).fold(RunProgress::default(), add)
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
