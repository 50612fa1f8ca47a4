//! Events in global order, where the order between nodes, or between hosts, matters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incast_model::fabric::{NodeId, NodeKind};

use super::Nodes;
use super::partition::NodeMut;
use super::plan::Plan;
use crate::kernel::{Event, IdVec, Target};
use crate::progress::{Halt, Limits};

/// Next events of nodes before a time, in global order. Empty between windows.
#[derive(Debug, Default)]
pub(super) struct Queue {
    end: u64,
    heap: BinaryHeap<Reverse<(Event, NodeId)>>,
    /// By node: its entry that counts.
    of_node: IdVec<NodeId, Option<Event>>,
}

impl Queue {
    pub(super) fn new(nodes: usize) -> Self {
        Self { end: 0, heap: BinaryHeap::new(), of_node: vec![None; nodes].into() }
    }

    fn push(&mut self, event: Option<Event>, node: NodeId) {
        let event = event.filter(|event| event.time < self.end);
        self.of_node[node] = event;
        if let Some(event) = event {
            self.heap.push(Reverse((event, node)));
        }
    }

    fn first(&mut self) -> u64 {
        while let Some(&Reverse((event, node))) = self.heap.peek() {
            if self.of_node[node] == Some(event) {
                return event.time;
            }
            self.heap.pop();
        }
        u64::MAX
    }

    fn pop(&mut self) -> Option<(Event, NodeId)> {
        self.first();
        let Reverse((event, node)) = self.heap.pop()?;
        self.of_node[node] = None;
        Some((event, node))
    }
}

impl Nodes {
    /// Handles events before `end` in global order; `Some` if the run ends. Packets sent here arrive later, so a node's events
    /// depend only on its own.
    pub(super) fn event_by_event(&mut self, limits: &Limits, end: u64) -> Option<Halt> {
        self.settle();
        let mut queue = std::mem::take(&mut self.queue);
        let halt = self.step_in_order(limits, &mut queue, end);
        self.queue = queue;
        halt
    }

    /// Handles events of hosts before `end` in global order. Switches have no part in what hosts know of each other.
    pub(super) fn run_hosts_in_order(&mut self, end: u64, wakes: bool) {
        self.settle();
        let mut queue = std::mem::take(&mut self.queue);
        queue.end = end;
        let mut awake = self.partitions.awake();
        awake.retain(|&node| self.network.fabric.node(node).kind == NodeKind::Host);
        awake.iter().for_each(|&node| queue.push(self.next_of(node), node));
        while let Some((event, node)) = queue.pop() {
            self.step_node(node, event);
            for (other, _) in self.pass_on() {
                if !awake.contains(&other) {
                    awake.push(other);
                    self.partitions.rouse(self.layout.spots[other]);
                }
                if other != node {
                    queue.push(self.next_of(other), other);
                }
            }
            queue.push(self.next_of(node), node);
        }
        for node in awake.into_iter().filter(|_| wakes) {
            if let Some(next) = self.next_of(node) {
                self.wake(node, next.time);
            }
        }
        self.queue = queue;
    }

    /// Passes what hosts know of each other. Returns hosts to wake, and times.
    fn pass_on(&mut self) -> Vec<(NodeId, u64)> {
        let mut woken = self.pass_ends();
        woken.extend(self.give_turns());
        woken
    }

    fn step_in_order(&mut self, limits: &Limits, queue: &mut Queue, end: u64) -> Option<Halt> {
        queue.end = end;
        let mut awake = self.partitions.awake();
        awake.iter().for_each(|&node| queue.push(self.next_of(node), node));
        loop {
            let due = self.next_action();
            if due.time < end && due.cut() <= queue.first() {
                if let Some(halt) = self.act_in_time(due, limits) {
                    return Some(halt);
                }
                if due.action.changes_nodes() {
                    awake = self.layout.spots.ids().collect();
                    awake.iter().for_each(|&node| queue.push(self.next_of(node), node));
                }
                continue;
            }
            let Some((event, node)) = queue.pop() else { break };
            let time = event.time;
            if time > limits.horizon {
                self.books.now = limits.horizon;
                return Some(Halt::Horizon);
            }
            if time >= self.books.detector.next {
                self.look_for_deadlocks(time);
            }
            self.books.now = time;
            self.step_node(node, event);
            self.note_peak();
            for (other, start) in self.pass_on() {
                if start >= end {
                    self.wake(other, start);
                } else if other != node {
                    queue.push(self.next_of(other), other);
                    awake.push(other);
                }
            }
            let progress = self.partitions.progress();
            if self.is_over(&progress) {
                return Some(Halt::Finished);
            }
            queue.push(self.next_of(node), node);
            let still = matches!(event.target(), Target::Timer(_)) && time - progress.moved > limits.stall;
            if still && self.is_stuck() {
                return Some(Halt::Idle);
            }
        }
        for &node in &awake {
            let plan = Plan { layout: &self.layout, network: &self.network };
            if let (NodeMut::Switch(switch), out) = self.partitions.node_mut(self.layout.spots[node]) {
                switch.pass(plan, out, end);
            }
            if let Some(next) = self.next_of(node) {
                self.wake(node, next.time);
            }
        }
        self.record();
        None
    }
}
