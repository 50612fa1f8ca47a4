//! VMs in slots that are named.

use crate::fabric::{Fabric, HostId};
use crate::tenant::TenantError;

/// The slots of these names, none of them `taken`; `field` is the path of the list.
pub(in crate::tenant) fn listed(
    names: &[String],
    fabric: &Fabric,
    taken: impl Fn(HostId) -> Option<String>,
    field: &str,
) -> Result<Vec<HostId>, TenantError> {
    let mut found = Vec::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        let refuse = |allowed: &str| TenantError::field(format!("{field}[{place}]"), name, allowed);
        let host = slot(name, fabric).ok_or_else(|| {
            refuse("the name of a VM slot: a server's, and a number from 0, such as h0.0").near(slots(fabric))
        })?;
        if let Some(who) = taken(host) {
            return Err(refuse(&format!("a free slot: {who} has it")));
        }
        if found.contains(&host) {
            return Err(refuse("a slot that is not in the list yet"));
        }
        found.push(host);
    }
    Ok(found)
}

/// The VM slot of a name.
pub(super) fn slot(name: &str, fabric: &Fabric) -> Option<HostId> {
    slots(fabric).position(|slot| slot == name).map(|slot| HostId(slot as u32))
}

/// The names of all VM slots, by host.
pub(super) fn slots(fabric: &Fabric) -> impl Iterator<Item = &str> {
    fabric.endpoints().iter().map(|&host| fabric.node(host).name.as_str())
}
