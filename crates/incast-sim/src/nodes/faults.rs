//! Failures and repairs of links, new routes, and PFC storms: steps of [`crate::network::Faults`] between windows.

use incast_model::fabric::{LinkId, PortId};
use incast_model::units::Time;

use super::out::Dropped;
use super::plan::Plan;
use super::run::ANY;
use super::{Nodes, Place};
use crate::balance::Balancer;
use crate::kernel::Kind;
use crate::network::{FaultStep, Faults, Limits, Network};
use crate::outcome::{DropReason, LinkChange};

impl Nodes {
    /// Takes the steps of time 0, and schedules the next.
    pub(super) fn take_first_steps(&mut self, network: &mut Network, stall: u64) {
        while network.faults.as_ref().is_some_and(|faults| faults.next_step() == Some(0)) {
            self.take_step(network);
        }
        self.schedule_step(network, stall);
    }

    fn schedule_step(&mut self, network: &Network, stall: u64) {
        let Some(faults) = &network.faults else { return };
        self.actions.step = faults.next_step().unwrap_or(network.now.saturating_add(stall));
    }

    /// Takes the next step; after the last one, returns true if flows can no longer finish.
    pub(super) fn step(&mut self, network: &mut Network, limits: &Limits) -> bool {
        let pending = network.faults.as_ref().is_some_and(|faults| faults.pending());
        if pending {
            self.take_step(network);
        }
        self.schedule_step(network, limits.stall);
        let still = network.now - self.out.moved > limits.stall;
        !pending && (self.is_given_up(network) || still && self.is_stuck(network))
    }

    /// As [`Network::is_given_up`].
    fn is_given_up(&mut self, network: &mut Network) -> bool {
        let acked = self.out.acked;
        let idle = network.faults.as_mut().is_some_and(|faults| !faults.has_progressed(acked));
        if !idle || self.hosts.iter().any(|host| host.has_starts()) {
            return false;
        }
        self.export(network);
        network.all_cut_off()
    }

    fn take_step(&mut self, network: &mut Network) {
        let Some(mut faults) = network.faults.take() else { return };
        match faults.take_step() {
            FaultStep::Change { begins, ends } => {
                let [down, up] = faults.change(&begins, &ends);
                self.fail(network, &mut faults, &down);
                self.repair(network, &faults, &up);
                self.set_losses(network, &mut faults, &begins, &ends);
            }
            FaultStep::Learn(links) => {
                network.learn(&mut faults, &links);
                self.reroute(network, &faults);
            }
            FaultStep::Given => self.reroute(network, &faults),
            FaultStep::Hold(changed) => {
                changed.into_iter().for_each(|(port, priority, holds)| self.hold(network, port.0, priority, holds));
            }
        }
        network.faults = Some(faults);
    }

    fn reroute(&mut self, network: &mut Network, faults: &Faults) {
        network.routing.reroute(faults.routes(&network.fabric, Time(network.now)));
        let switches = self.switches.iter_mut().map(|switch| switch.balancer());
        let hosts = self.hosts.iter_mut().map(|host| host.balancer());
        for (node, balancer) in switches.chain(hosts) {
            if let Some(balancer) = balancer {
                balancer.rerouted(network.routing.groups_of(node));
            }
        }
    }

    /// Place of a port's node, and the port's number there.
    fn place_of(&self, network: &Network, port: u32) -> (Place, usize) {
        let port = network.fabric.port(PortId(port));
        (self.places[port.node.index()], port.local as usize)
    }

    fn fail(&mut self, network: &mut Network, faults: &mut Faults, links: &[LinkId]) {
        links.iter().for_each(|&link| network.note_link(link, LinkChange::Down));
        let ports = network.ends(links);
        for &port in &ports {
            self.cut(network, faults, port);
        }
        // Now that no dead port is asked to send, drop the packets queued there.
        for port in ports {
            let plan = Plan { layout: &self.layout, network };
            match self.place_of(network, port) {
                (Place::Switch(place), local) => self.switches[place as usize].empty(plan, &mut self.out, local),
                (Place::Host(place), local) => self.hosts[place as usize].empty(plan, &mut self.out, local),
            }
        }
        self.record(network);
    }

    /// Takes down one end of a link: packets on its wire are lost, pauses end in both directions.
    fn cut(&mut self, network: &mut Network, faults: &mut Faults, port: u32) {
        let now = network.now;
        let (place, local) = self.place_of(network, port);
        let line = self.layout.ports[port as usize].line as usize;
        for (packet, in_port) in self.out.wires[line].lose() {
            let own = matches!(packet.kind, Kind::Pfc | Kind::Isolation) || network.ports[port as usize].at_host;
            let first = network.fabric.ports_of(network.fabric.port(PortId(port)).node).next();
            let ingress = first.filter(|_| !own).map(|first| first.0 + u32::from(in_port));
            let reason = DropReason::LinkDown;
            self.out.drop(network, &packet, Dropped { reason, ingress, egress: Some(port), now, event: 0 });
        }
        let failed = match place {
            Place::Switch(place) => self.switches[place as usize].fail(network, local, now),
            Place::Host(place) => self.hosts[place as usize].fail(network, local, now),
        };
        self.record(network);
        faults.free_at[port as usize] = failed.free_at;
        network.ports[port as usize].down = true;
        for prio in 0..8 {
            let at = network.at(port, prio);
            if failed.paused & 1 << prio != 0 {
                network.recorder.resume(at, Time(now));
            }
            network.recorder.unresumed[at] += u32::from(failed.pausing >> prio & 1);
        }
    }

    fn repair(&mut self, network: &mut Network, faults: &Faults, links: &[LinkId]) {
        links.iter().for_each(|&link| network.note_link(link, LinkChange::Up));
        let ports = network.ends(links);
        for &port in &ports {
            network.ports[port as usize].down = false;
            let now = network.now;
            let free_at = faults.free_at[port as usize];
            match self.place_of(network, port) {
                (Place::Switch(place), local) => self.switches[place as usize].repair(local, free_at, now),
                (Place::Host(place), local) => self.hosts[place as usize].repair(local, free_at, now),
            }
        }
        let plan = Plan { layout: &self.layout, network };
        for &port in &ports {
            if let (Place::Host(place), local) = self.place_of(network, port) {
                self.hosts[place as usize].kick::<ANY>(plan, &mut self.out, local);
            }
        }
        for &port in &ports {
            match self.place_of(network, port) {
                (Place::Switch(place), local) => self.switches[place as usize].pause_anew(plan, &mut self.out, local),
                (Place::Host(place), local) => self.hosts[place as usize].pause_anew(plan, &mut self.out, local),
            }
        }
    }

    fn set_losses(&mut self, network: &mut Network, faults: &mut Faults, begins: &[usize], ends: &[usize]) {
        for (link, share) in faults.changed_losses(begins, ends) {
            network.note_link(link, if share > 0.0 { LinkChange::Silent } else { LinkChange::Clean });
            for port in network.ends(&[link]) {
                let line = self.layout.ports[port as usize].line as usize;
                self.out.watched = true;
                self.out.wires[line].set_loss(share, || faults.stream(port));
            }
        }
    }

    fn hold(&mut self, network: &Network, port: u32, priority: u8, holds: bool) {
        let plan = Plan { layout: &self.layout, network };
        let now = network.now;
        match self.place_of(network, port) {
            (Place::Switch(place), local) => {
                self.switches[place as usize].hold(plan, &mut self.out, (local, now), priority, holds);
            }
            (Place::Host(place), local) => {
                self.hosts[place as usize].hold(plan, &mut self.out, (local, now), priority, holds);
            }
        }
    }
}
