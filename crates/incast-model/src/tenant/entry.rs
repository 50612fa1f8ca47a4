use super::spec::{Placement, TenantSpec, VmCount, VmRange};
use crate::entry::{EntryError, LABEL_RULE, is_label};

pub(super) struct Entry<'a> {
    pub(super) spec: &'a TenantSpec,
    pub(super) path: String,
}

impl Entry<'_> {
    pub(super) fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    pub(super) fn refuse(&self, name: &str, value: impl std::fmt::Display, allowed: impl Into<String>) -> EntryError {
        EntryError::field(self.field(name), value, allowed)
    }

    pub(super) fn check(&self) -> Result<(), EntryError> {
        const LEAST: &str = "at least 2 VMs: one alone has no destination";
        let spec = self.spec;
        if !is_label(&spec.name) {
            return Err(self.refuse("name", format!("\"{}\"", spec.name), LABEL_RULE));
        }
        match spec.vms {
            VmCount::Fixed(count) if count < 2 => return Err(self.refuse("vms", count, LEAST)),
            VmCount::Uniform(VmRange { from, .. }) if from < 2 => return Err(self.refuse("vms.from", from, LEAST)),
            VmCount::Uniform(VmRange { from, to }) if to < from => {
                return Err(self.refuse("vms.to", to, format!("at least from, {from}")));
            }
            _ => {}
        }
        if let (Some(_), Some(fill)) = (spec.count, spec.fill) {
            return Err(self.refuse("fill", fill, "omitted with `count`: give one of the two"));
        }
        if spec.count == Some(0) {
            return Err(self.refuse("count", 0, "at least 1"));
        }
        if let Some(fill) = spec.fill.filter(|fill| !(*fill > 0.0 && *fill <= 1.0)) {
            return Err(self.refuse("fill", fill, "a share of the free VM slots, more than 0 and at most 1"));
        }
        if let Some(share) = spec.mappers.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            return Err(self.refuse("mappers", share, "a share of its VMs, more than 0 and less than 1"));
        }
        self.check_placement()
    }

    fn check_placement(&self) -> Result<(), EntryError> {
        let spec = self.spec;
        match &spec.placement {
            Placement::Unbalanced if spec.mappers.is_none() => {
                Err(self.refuse("placement", "unbalanced", "another placement for a tenant without `mappers`"))
            }
            Placement::Slots(_) if spec.count.is_some_and(|count| count > 1) || spec.fill.is_some() => {
                Err(self.refuse("placement", "slots", "another one for several tenants: slots are those of one"))
            }
            Placement::Slots(names) => match spec.vms {
                VmCount::Fixed(count) if names.len() == count as usize => Ok(()),
                _ => Err(self.refuse(
                    "placement.slots",
                    format!("{} slots", names.len()),
                    format!("one for each of its {} VMs", spec.vms),
                )),
            },
            Placement::File(_) if spec.fill.is_some() => {
                Err(self.refuse("placement", "file", "another placement with `fill`: a file lists the tenants"))
            }
            _ => Ok(()),
        }
    }

    pub(super) const fn allows(&self, vms: usize) -> bool {
        match self.spec.vms {
            VmCount::Fixed(count) => vms == count as usize,
            VmCount::Uniform(VmRange { from, to }) => from as usize <= vms && vms <= to as usize,
        }
    }

    pub(super) const fn least(&self) -> usize {
        match self.spec.vms {
            VmCount::Fixed(count) | VmCount::Uniform(VmRange { from: count, .. }) => count as usize,
        }
    }

    pub(super) fn mappers(&self, vms: usize) -> Vec<bool> {
        // Shares such as 0.1 are no binary fractions: errors must not round up.
        let count = self.spec.mappers.map_or(0, |share| (share * vms as f64 - 1e-9).ceil() as usize);
        (0..vms).map(|vm| vm < count.min(vms - 1)).collect()
    }
}
