use std::collections::{BTreeMap, HashSet};

use crate::echo::word;
use crate::entry::EntryError;
use crate::flow::Gate;
use crate::gates::{cycle, spelled};
use crate::units::Time;

#[derive(Debug, Clone, Default)]
pub(super) struct Named<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) after: Vec<&'a str>,
    pub(super) delay: Time,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Spot {
    Name,
    /// Place of a name in `after`.
    After(usize),
}

/// Gates, over places in `flows`; `refuse` makes an error of a flow's place, the wrong part, its value and the allowed ones.
pub(super) fn gates(
    flows: &[Named<'_>],
    refuse: impl Fn(usize, Spot, &str, String) -> EntryError,
) -> Result<Vec<Gate>, EntryError> {
    let mut places: BTreeMap<&str, u32> = BTreeMap::new();
    for (place, flow) in flows.iter().enumerate() {
        if let Some(name) = flow.name
            && places.insert(name, place as u32).is_some()
        {
            return Err(refuse(place, Spot::Name, name, "a name of its own: another flow has this one".into()));
        }
    }
    let mut gates = Vec::new();
    for (place, flow) in flows.iter().enumerate().filter(|(_, flow)| !flow.after.is_empty()) {
        let mut waits_for = Vec::with_capacity(flow.after.len());
        let mut seen = HashSet::with_capacity(flow.after.len());
        for (nth, name) in flow.after.iter().enumerate() {
            let refuse = |allowed: &str| refuse(place, Spot::After(nth), name, allowed.into());
            match places.get(name) {
                None => return Err(refuse("the name of another flow here").near(places.keys().copied())),
                Some(other) if !seen.insert(*other) => return Err(refuse("named once")),
                Some(&other) => waits_for.push(other),
            }
        }
        gates.push(Gate { waits_for, delay: flow.delay, starts: vec![place as u32], round: None });
    }
    if let Some(found) = cycle(flows.len(), &gates) {
        let names = spelled(&found, " after ", |flow| word(flows[flow as usize].name.unwrap_or_default()));
        let allowed = "dependencies without a cycle, in which no flow would ever start".into();
        return Err(refuse(found[0] as usize, Spot::After(0), &names, allowed));
    }
    Ok(gates)
}
