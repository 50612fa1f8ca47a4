//! Up-down paths, with bounces.

use incast_model::fabric::PortId;
use serde::{Deserialize, Serialize};

use super::error::ElpError;
use crate::turns::TurnSet;
use crate::watch;
use crate::wiring::{Ports, Wiring};

/// All ways that go up and then down, from host to host, turning up again at most `bounces` times.
///
/// A *bounce* is what a packet does that comes from a higher tier and leaves for a higher one: a failure below it, and a
/// switch that sends it back up (Hu et al., CoNEXT 2017, section 4). Ways may come by a switch twice, as detours do, but do
/// not leave it by the port that they came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpDown {
    /// Most bounces of a path; default 0.
    #[serde(default)]
    pub bounces: u8,
}

/// Which ports lead up.
#[derive(Debug, Clone)]
pub(crate) struct Tiers {
    up: Vec<bool>,
}

impl Tiers {
    /// By the tiers of a fabric, 0 for hosts.
    pub(crate) fn new(wiring: &Wiring<'_>) -> Result<Self, ElpError> {
        let fabric = wiring.fabric();
        let tier = |port: PortId| fabric.node(wiring.node(port)).tier;
        let ports = || (0..wiring.len() as u32).map(PortId);
        let switches = |port: &PortId| !wiring.is_host(wiring.node(*port)) && wiring.to_switch(*port);
        if let Some(port) = ports().filter(switches).find(|&port| tier(port) == tier(wiring.peer(port))) {
            let name = |port| wiring.name(wiring.node(port)).to_owned();
            return Err(ElpError::SameTier { a: name(port), b: name(wiring.peer(port)), tier: tier(port) });
        }
        Ok(Self { up: ports().map(|port| tier(port) < tier(wiring.peer(port))).collect() })
    }

    /// Whether what leaves by a port goes up, and what arrives by it comes from above.
    pub(crate) fn up(&self, port: PortId) -> bool {
        self.up[port.index()]
    }

    /// Whether a turn is a bounce.
    pub(crate) fn bounce(&self, input: PortId, output: PortId) -> bool {
        self.up(input) && self.up(output)
    }
}

/// Where packets can be: at an ingress port after so many bounces.
pub(crate) type State = (PortId, u8);

impl UpDown {
    /// Where a packet can go from a state: egress ports, and the state after each; hosts have none.
    pub(crate) fn moves<'a>(
        &self,
        ports: &'a Ports,
        tiers: &'a Tiers,
        (input, bounces): State,
    ) -> impl Iterator<Item = (PortId, Option<State>)> + 'a {
        let most = self.bounces;
        let on = move |&output: &PortId| output != input && ports.is_up(output);
        ports.of(ports.node(input)).filter(on).filter_map(move |output| {
            let bounces = bounces + u8::from(tiers.bounce(input, output));
            let next = ports.to_switch(output).then(|| (ports.peer(output), bounces));
            (bounces <= most).then_some((output, next))
        })
    }

    /// The states that a host can still be reached from, by port and bounces.
    pub(crate) fn useful(&self, ports: &Ports, tiers: &Tiers) -> Vec<Vec<bool>> {
        let states = usize::from(self.bounces) + 1;
        let mut useful = vec![vec![false; states]; ports.len()];
        let inputs = || (0..ports.len() as u32).map(PortId).filter(|&port| !ports.is_host(ports.node(port)));
        // A pass for each hop of the longest way.
        loop {
            let mut found = false;
            for input in inputs() {
                watch::check();
                for bounces in 0..states {
                    let leads = |next: Option<State>| next.is_none_or(|(port, b)| useful[port.index()][usize::from(b)]);
                    if !useful[input.index()][bounces]
                        && self.moves(ports, tiers, (input, bounces as u8)).any(|(_, next)| leads(next))
                    {
                        useful[input.index()][bounces] = true;
                        found = true;
                    }
                }
            }
            if !found {
                return useful;
            }
        }
    }

    /// The turns at each hop, the first at the switches that packets enter by.
    pub(crate) fn hops(&self, wiring: &Wiring<'_>) -> Result<Vec<TurnSet>, ElpError> {
        let tiers = Tiers::new(wiring)?;
        let useful = self.useful(wiring, &tiers);
        let mut layers = Vec::new();
        let mut states: Vec<State> = entries(wiring).map(|port| (port, 0)).collect();
        while !states.is_empty() {
            let mut turns = TurnSet::new(wiring);
            let mut next = Vec::new();
            for &(input, bounces) in &states {
                watch::check();
                for (output, state) in self.moves(wiring, &tiers, (input, bounces)) {
                    if state.is_none_or(|(port, b)| useful[port.index()][usize::from(b)]) {
                        turns.insert(input, output);
                        next.extend(state);
                    }
                }
            }
            next.sort_unstable();
            next.dedup();
            states = next;
            layers.push(turns);
        }
        Ok(layers)
    }
}

/// The ingress ports of switches that hosts send to.
pub(crate) fn entries(ports: &Ports) -> impl Iterator<Item = PortId> + '_ {
    let all = (0..ports.len() as u32).map(PortId);
    all.filter(|&port| !ports.is_host(ports.node(port)) && ports.is_host(ports.far(port)))
}
