//! PFC storms: pauses sent regardless of buffers.
//!
//! A port that *holds* a priority has sent an XOFF, and sends no XON whatever leaves.

use std::collections::BTreeSet;

use incast_model::fabric::{Fabric, NodeKind, PortId};
use incast_model::field::FieldError;
use incast_model::units::Time;

use super::changes::{Hold, Step};
use super::params::PauseParams;
use super::places::{joining, neighbours, node};

pub(super) fn resolve(pause: &PauseParams, field: &str, fabric: &Fabric) -> Result<Hold, FieldError> {
    let at = node(fabric, &format!("{field}.at"), &pause.at)?;
    let field_peer = format!("{field}.peer");
    let peers = || format!("neighbours of {}: {}", pause.at, neighbours(fabric, at));
    let ports: Vec<PortId> = match &pause.peer {
        Some(name) => {
            let ports = joining(fabric, at, node(fabric, &field_peer, name)?);
            if ports.is_empty() {
                return Err(FieldError::new(field_peer, format!("`{name}` is no neighbour")).allowed(peers()));
            }
            ports
        }
        None if fabric.node(at).kind == NodeKind::Switch => {
            let message = format!("{} is a switch: name the neighbour that it pauses", pause.at);
            return Err(FieldError::new(field_peer, message).allowed(peers()));
        }
        None => fabric.ports_of(at).collect(),
    };
    if let Some(until) = pause.until {
        FieldError::unless(
            until > pause.from,
            &format!("{field}.until"),
            until,
            &format!("after `from`, {}", pause.from),
        )?;
    }
    Ok(Hold { ports, priority: pause.priority, from: pause.from, until: pause.until })
}

/// Merges holds of one port and priority that overlap or touch.
pub(super) fn steps(holds: &[Hold]) -> Vec<(u64, Step)> {
    let times: BTreeSet<Time> = holds.iter().flat_map(|one| [Some(one.from), one.until]).flatten().collect();
    let mut was = BTreeSet::new();
    let mut found = Vec::new();
    for time in times {
        let in_force = holds.iter().filter(|one| one.from <= time && one.until.is_none_or(|end| end > time));
        let is: BTreeSet<(PortId, u8)> =
            in_force.flat_map(|one| one.ports.iter().map(|&port| (port, one.priority))).collect();
        let begin = is.difference(&was).map(|&(port, priority)| (port, priority, true));
        let end = was.difference(&is).map(|&(port, priority)| (port, priority, false));
        let changed: Vec<(PortId, u8, bool)> = begin.chain(end).collect();
        if !changed.is_empty() {
            found.push((time.0, Step::Hold(changed)));
        }
        was = is;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(port: u32, from: u64, until: Option<u64>) -> Hold {
        Hold { ports: vec![PortId(port)], priority: 3, from: Time(from), until: until.map(Time) }
    }

    #[test]
    fn pauses_that_overlap_are_one() {
        let holds = [hold(1, 0, Some(50)), hold(1, 20, Some(60)), hold(1, 60, Some(70)), hold(2, 50, None)];
        let step = |time, port, begins| (time, Step::Hold(vec![(PortId(port), 3, begins)]));
        assert_eq!(steps(&holds), [step(0, 1, true), step(50, 2, true), step(70, 1, false)]);
    }
}
