use std::collections::HashMap;

use crate::entry::EntryError;
use crate::fabric::{Fabric, HostId};

pub(in crate::tenant) fn listed(
    names: &[String],
    fabric: &Fabric,
    taken: impl Fn(HostId) -> Option<String>,
    field: &str,
) -> Result<Vec<HostId>, EntryError> {
    let (known, mut found) = (slots(fabric), Vec::with_capacity(names.len()));
    for (place, name) in names.iter().enumerate() {
        let refuse = |allowed: &str| EntryError::field(format!("{field}[{place}]"), name, allowed);
        let host = *known.get(name.as_str()).ok_or_else(|| refuse(RULE).near(in_order(fabric)))?;
        if let Some(who) = taken(host) {
            return Err(refuse(&format!("a free slot: {who} uses it")));
        }
        if found.contains(&host) {
            return Err(refuse("a slot that is not in the list yet"));
        }
        found.push(host);
    }
    Ok(found)
}

pub(super) const RULE: &str = "the name of a VM slot: a server's, and a number from 0, such as h0.0";

pub(super) fn slots(fabric: &Fabric) -> HashMap<&str, HostId> {
    in_order(fabric).zip((0..).map(HostId)).collect()
}

pub(super) fn in_order(fabric: &Fabric) -> impl Iterator<Item = &str> {
    fabric.endpoints().iter().map(|&host| fabric.node(host).name.as_str())
}
