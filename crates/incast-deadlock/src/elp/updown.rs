use incast_model::fabric::PortId;
use serde::{Deserialize, Serialize};

use super::error::ElpError;
use crate::turns::TurnSet;
use crate::watch;
use crate::wiring::{Ports, Wiring};

/// All paths between hosts that go up, then down, with at most `bounces` more turns up.
///
/// A *bounce* is a turn from a higher tier to a higher tier, because of a failure below (Hu et al., CoNEXT 2017, section 4).
/// Paths may repeat a switch, as detours do, but never leave by the port of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpDown {
    /// Most bounces of a path; default 0.
    #[serde(default)]
    pub bounces: u8,
}

/// Hosts have tier 0.
#[derive(Debug, Clone)]
pub(crate) struct Tiers {
    up: Vec<bool>,
}

impl Tiers {
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

    pub(crate) fn up(&self, port: PortId) -> bool {
        self.up[port.index()]
    }

    pub(crate) fn bounce(&self, input: PortId, output: PortId) -> bool {
        self.up(input) && self.up(output)
    }
}

pub(crate) type State = (PortId, u8);

impl UpDown {
    /// No next state if a host follows.
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

    pub(crate) fn useful(&self, ports: &Ports, tiers: &Tiers) -> Vec<Vec<bool>> {
        let states = usize::from(self.bounces) + 1;
        let mut useful = vec![vec![false; states]; ports.len()];
        let inputs = || (0..ports.len() as u32).map(PortId).filter(|&port| !ports.is_host(ports.node(port)));
        // One pass per hop of the longest path.
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

pub(crate) fn entries(ports: &Ports) -> impl Iterator<Item = PortId> + '_ {
    let all = (0..ports.len() as u32).map(PortId);
    all.filter(|&port| !ports.is_host(ports.node(port)) && ports.is_host(ports.far(port)))
}
