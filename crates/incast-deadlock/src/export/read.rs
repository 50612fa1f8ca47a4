use std::collections::HashMap;

use incast_model::fabric::NodeId;
use incast_model::nearest::nearest;

use super::RulesError;
use crate::rules::{Entry, RuleTable};
use crate::wiring::Wiring;

pub(super) struct Reader<'w, 'f> {
    wiring: &'w Wiring<'f>,
    switches: HashMap<&'f str, NodeId>,
    entries: HashMap<NodeId, Vec<Entry>>,
    tags: u8,
}

pub(super) fn error(place: &str, what: impl Into<String>) -> RulesError {
    RulesError { place: place.into(), what: what.into(), nearest: None }
}

impl<'w, 'f> Reader<'w, 'f> {
    pub(super) fn new(wiring: &'w Wiring<'f>) -> Self {
        let switches = wiring.switches().map(|switch| (wiring.name(switch), switch)).collect();
        Self { wiring, switches, entries: HashMap::new(), tags: 0 }
    }

    pub(super) fn switch(&self, place: &str, name: &str) -> Result<NodeId, RulesError> {
        self.switches.get(name).copied().ok_or_else(|| RulesError {
            nearest: nearest(name, self.wiring.switches().map(|switch| self.wiring.name(switch))).map(str::to_owned),
            ..error(place, format!("there is no switch `{name}`"))
        })
    }

    pub(super) fn add(
        &mut self,
        switch: NodeId,
        mut entry: Entry,
        place: impl Fn(&'static str) -> String,
    ) -> Result<(), RulesError> {
        let degree = self.wiring.degree(switch) as u32;
        for (field, ports) in [("in", &mut entry.inputs), ("out", &mut entry.outputs)] {
            if let Some(port) = ports.iter().find(|&&port| port >= degree) {
                let name = self.wiring.name(switch);
                return Err(error(&place(field), format!("{name} has no port {port}; allowed: 0 to {}", degree - 1)));
            }
            if ports.is_empty() {
                return Err(error(&place(field), "no port; at least one is needed"));
            }
            ports.sort_unstable();
            ports.dedup();
        }
        for (field, tag) in [("tag", entry.tag), ("new_tag", entry.new_tag)] {
            if tag.0 == 0 {
                return Err(error(&place(field), "tag 0; allowed: 1 to 255 (packets without an entry are lossy)"));
            }
        }
        self.tags = self.tags.max(entry.tag.0).max(entry.new_tag.0);
        self.entries.entry(switch).or_default().push(entry);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<RuleTable, RulesError> {
        let entries = self.wiring.switches().map(|switch| (switch, self.entries.remove(&switch).unwrap_or_default()));
        let table = RuleTable::new(self.tags, entries.collect());
        match table.expand(self.wiring) {
            Ok(_) => Ok(table),
            Err((switch, input, output, exists)) => {
                let [input, output] = [input, output].map(|port| self.wiring.local(port));
                let what = format!("two entries for packets from port {input} to port {output}: {exists}");
                Err(error(self.wiring.name(switch), what))
            }
        }
    }
}
