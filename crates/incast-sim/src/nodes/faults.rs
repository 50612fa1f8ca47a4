//! Failures and repairs of links, new routes, and PFC storms: steps of [`crate::network::Faults`] between windows.

use incast_model::fabric::{LinkId, PortId};
use incast_model::units::Time;

use super::out::Dropped;
use super::plan::Plan;
use super::run::ANY;
use super::{Nodes, Place};
use crate::balance::Balancer;
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
        let still = self.books.now - self.out.progress.moved > limits.stall;
        !pending && (self.is_given_up() || still && self.is_stuck())
    }

    /// True if nothing was acknowledged since the last call, and no flow can finish.
    fn is_given_up(&mut self) -> bool {
        let acked = self.out.progress.acked;
        let idle = self.books.faults.as_mut().is_some_and(|faults| !faults.has_progressed(acked));
        if !idle || self.hosts.iter().any(|host| host.flows.has_starts()) {
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
        self.books.faults = Some(faults);
    }

    fn note_link(&mut self, link: LinkId, change: LinkChange) {
        self.books.recorder.link(Time(self.books.now), link, change);
    }

    fn reroute(&mut self, faults: &Faults) {
        self.network.routing.reroute(faults.routes(&self.network.fabric, Time(self.books.now)));
        let switches = self.switches.iter_mut().map(|switch| switch.balancer());
        let hosts = self.hosts.iter_mut().map(|host| host.balancer());
        for (node, balancer) in switches.chain(hosts) {
            if let Some(balancer) = balancer {
                balancer.rerouted(self.network.routing.groups_of(node));
            }
        }
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
            match self.place_of(port) {
                (Place::Switch(place), local) => self.switches[place as usize].empty(plan, &mut self.out, local),
                (Place::Host(place), local) => self.hosts[place as usize].empty(plan, &mut self.out, local),
            }
        }
        self.record();
    }

    /// Packets on the wire are lost; pauses end in both directions.
    fn cut(&mut self, faults: &mut Faults, port: PortId) {
        let now = self.books.now;
        let (place, local) = self.place_of(port);
        let line = self.layout.ports[port].line;
        for (packet, in_port) in self.out.wires[line].lose() {
            let own = matches!(packet.kind, Kind::Pfc | Kind::Isolation) || self.network.ports[port].at_host;
            let first = self.network.fabric.ports_of(self.network.fabric.port(port).node).next();
            let ingress = first.filter(|_| !own).map(|first| PortId(first.0 + u32::from(in_port.0)));
            let reason = DropReason::LinkDown;
            self.out.drop(&self.network, &packet, Dropped { reason, ingress, egress: Some(port), now, event: 0 });
        }
        let failed = match place {
            Place::Switch(place) => self.switches[place as usize].fail(&self.network, local, now),
            Place::Host(place) => self.hosts[place as usize].fail(&self.network, local, now),
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
            match self.place_of(port) {
                (Place::Switch(place), local) => self.switches[place as usize].repair(local, free_at, now),
                (Place::Host(place), local) => self.hosts[place as usize].repair(local, free_at, now),
            }
        }
        let plan = Plan { layout: &self.layout, network: &self.network };
        for &port in &ports {
            if let (Place::Host(place), local) = self.place_of(port) {
                self.hosts[place as usize].kick::<ANY>(plan, &mut self.out, local);
            }
        }
        for &port in &ports {
            match self.place_of(port) {
                (Place::Switch(place), local) => self.switches[place as usize].pause_anew(plan, &mut self.out, local),
                (Place::Host(place), local) => self.hosts[place as usize].pause_anew(plan, &mut self.out, local),
            }
        }
    }

    fn set_losses(&mut self, faults: &mut Faults, begins: &[usize], ends: &[usize]) {
        for (link, share) in faults.changed_losses(begins, ends) {
            self.note_link(link, if share > 0.0 { LinkChange::Silent } else { LinkChange::Clean });
            for port in self.network.ends(&[link]) {
                let line = self.layout.ports[port].line;
                self.out.watched = true;
                self.out.wires[line].set_loss(share, || faults.stream(port));
            }
        }
    }

    fn hold(&mut self, port: PortId, priority: u8, holds: bool) {
        let plan = Plan { layout: &self.layout, network: &self.network };
        let now = self.books.now;
        match self.place_of(port) {
            (Place::Switch(place), local) => {
                self.switches[place as usize].hold(plan, &mut self.out, (local, now), priority, holds);
            }
            (Place::Host(place), local) => {
                self.hosts[place as usize].hold(plan, &mut self.out, (local, now), priority, holds);
            }
        }
    }
}
