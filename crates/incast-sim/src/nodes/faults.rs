//! Failures and repairs of links, new routes, and PFC storms: steps of [`crate::network::Faults`] between windows.

use std::sync::Arc;

use incast_model::fabric::{LinkId, NodeId, PortId};
use incast_model::units::Time;

use super::Nodes;
use super::out::{Dropped, Out};
use super::partition::NodeMut;
use super::plan::Plan;
use super::run::ANY;
use crate::balance::{Balancer, State};
use crate::kernel::Kind;
use crate::network::{FaultStep, Faults};
use crate::outcome::{DropReason, LinkChange};
use crate::progress::Limits;

impl Nodes {
    pub(super) fn take_first_steps(&mut self, stall: u64) {
        while self.books.faults.as_ref().is_some_and(|faults| faults.next_step() == Some(0)) {
            self.take_step();
        }
        self.schedule_step(stall);
    }

    fn schedule_step(&mut self, stall: u64) {
        let Some(faults) = &self.books.faults else { return };
        self.actions.step = faults.next_step().unwrap_or(self.books.now.saturating_add(stall));
    }

    /// After the last step, true if flows can no longer finish.
    pub(super) fn step(&mut self, limits: &Limits) -> bool {
        let pending = self.books.faults.as_ref().is_some_and(|faults| faults.pending());
        if pending {
            self.take_step();
        }
        self.schedule_step(limits.stall);
        let still = self.books.now - self.partitions.progress().moved > limits.stall;
        !pending && (self.is_given_up() || still && self.is_stuck())
    }

    /// True if nothing was acknowledged since the last call, and no flow can finish.
    fn is_given_up(&mut self) -> bool {
        let acked = self.partitions.progress().acked;
        let idle = self.books.faults.as_mut().is_some_and(|faults| !faults.has_progressed(acked));
        if !idle || self.partitions.hosts().any(|host| host.flows.has_starts()) {
            return false;
        }
        self.all_cut_off()
    }

    fn take_step(&mut self) {
        let Some(mut faults) = self.books.faults.take() else { return };
        match faults.take_step() {
            FaultStep::Change { begins, ends } => {
                let [down, up] = faults.change(&begins, &ends);
                self.fail(&mut faults, &down);
                self.repair(&faults, &up);
                self.set_losses(&mut faults, &begins, &ends);
            }
            FaultStep::Learn(links) => {
                faults.learn(&links);
                let change = |down| if down { LinkChange::Withdrawn } else { LinkChange::Restored };
                links.iter().for_each(|&(link, down)| self.note_link(link, change(down)));
                self.reroute(&faults);
            }
            FaultStep::Given => self.reroute(&faults),
            FaultStep::Hold(changed) => {
                changed.into_iter().for_each(|(port, priority, holds)| self.hold(port, priority, holds));
            }
        }
        self.partitions.deliver(self.run);
        self.books.faults = Some(faults);
    }

    fn note_link(&mut self, link: LinkId, change: LinkChange) {
        self.books.recorder.link(Time(self.books.now), link, change);
    }

    fn reroute(&mut self, faults: &Faults) {
        let routes = faults.routes(&self.network.fabric, Time(self.books.now));
        self.partitions.release_plan();
        Arc::get_mut(&mut self.network).expect("no thread runs").routing.reroute(routes);
        let routing = &self.network.routing;
        let reroute = |(node, balancer): (NodeId, Option<&mut State>)| {
            if let Some(balancer) = balancer {
                balancer.rerouted(routing.groups_of(node));
            }
        };
        self.partitions.for_each_switch(|switch, _| reroute(switch.balancer()));
        self.partitions.for_each_host(|host, _| reroute(host.balancer()));
    }

    fn fail(&mut self, faults: &mut Faults, links: &[LinkId]) {
        links.iter().for_each(|&link| self.note_link(link, LinkChange::Down));
        let ports = self.network.ends(links);
        for &port in &ports {
            self.cut(faults, port);
        }
        // Now that no dead port is asked to send, drop the packets queued there.
        for port in ports {
            let plan = Plan { layout: &self.layout, network: &self.network };
            let (spot, local) = self.spot_of(port);
            match self.partitions.node_mut(spot) {
                (NodeMut::Switch(switch), out) => switch.empty(plan, out, local),
                (NodeMut::Host(host), out) => host.empty(plan, out, local),
            }
            self.record();
        }
    }

    /// Packets on the wire are lost; pauses end in both directions.
    fn cut(&mut self, faults: &mut Faults, port: PortId) {
        let now = self.books.now;
        let line = self.layout.ports[port].line;
        let far = self.layout.spots[self.network.fabric.neighbour(port)];
        let Out { wires, carried, .. } = &mut self.partitions.at(far).out;
        let lost = wires[line].lose(carried);
        let out = self.partitions.first();
        for (packet, in_port) in lost {
            let own = matches!(packet.kind, Kind::Pfc | Kind::Isolation) || self.network.ports[port].at_host;
            let first = self.network.fabric.ports_of(self.network.fabric.port(port).node).next();
            let ingress = first.filter(|_| !own).map(|first| PortId(first.0 + u32::from(in_port.0)));
            let reason = DropReason::LinkDown;
            out.drop(&self.network, &packet, Dropped { reason, ingress, egress: Some(port), now, event: 0 });
        }
        let (spot, local) = self.spot_of(port);
        let failed = match self.partitions.node_mut(spot) {
            (NodeMut::Switch(switch), _) => switch.fail(&self.network, local, now),
            (NodeMut::Host(host), _) => host.fail(&self.network, local, now),
        };
        self.record();
        faults.free_at[port] = failed.free_at;
        for prio in 0..8 {
            let at = self.network.at(port, prio);
            if failed.paused & 1 << prio != 0 {
                self.books.recorder.resume(at, Time(now));
            }
            self.books.recorder.unresumed[at] += u32::from(failed.pausing >> prio & 1);
        }
    }

    fn repair(&mut self, faults: &Faults, links: &[LinkId]) {
        links.iter().for_each(|&link| self.note_link(link, LinkChange::Up));
        let ports = self.network.ends(links);
        for &port in &ports {
            let now = self.books.now;
            let free_at = faults.free_at[port];
            let (spot, local) = self.spot_of(port);
            match self.partitions.node_mut(spot).0 {
                NodeMut::Switch(switch) => switch.repair(local, free_at, now),
                NodeMut::Host(host) => host.repair(local, free_at, now),
            }
        }
        for &port in &ports {
            let ((spot, local), plan) = (self.spot_of(port), Plan { layout: &self.layout, network: &self.network });
            if let (NodeMut::Host(host), out) = self.partitions.node_mut(spot) {
                host.kick::<ANY>(plan, out, local);
            }
        }
        for &port in &ports {
            let ((spot, local), plan) = (self.spot_of(port), Plan { layout: &self.layout, network: &self.network });
            match self.partitions.node_mut(spot) {
                (NodeMut::Switch(switch), out) => switch.pause_anew(plan, out, local),
                (NodeMut::Host(host), out) => host.pause_anew(plan, out, local),
            }
        }
    }

    fn set_losses(&mut self, faults: &mut Faults, begins: &[usize], ends: &[usize]) {
        for (link, share) in faults.changed_losses(begins, ends) {
            self.note_link(link, if share > 0.0 { LinkChange::Silent } else { LinkChange::Clean });
            for port in self.network.ends(&[link]) {
                let line = self.layout.ports[port].line;
                let far = self.layout.spots[self.network.fabric.neighbour(port)];
                let out = &mut self.partitions.at(far).out;
                out.watched = true;
                out.wires[line].set_loss(share, || faults.stream(port));
            }
        }
    }

    fn hold(&mut self, port: PortId, priority: u8, holds: bool) {
        let plan = Plan { layout: &self.layout, network: &self.network };
        let (now, (spot, local)) = (self.books.now, self.spot_of(port));
        match self.partitions.node_mut(spot) {
            (NodeMut::Switch(switch), out) => switch.hold(plan, out, (local, now), priority, holds),
            (NodeMut::Host(host), out) => host.hold(plan, out, (local, now), priority, holds),
        }
    }
}
