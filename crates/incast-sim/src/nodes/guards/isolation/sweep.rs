//! Sweeps of all tables: flows that send nothing would stay in them.

use super::Table;
use crate::nodes::Nodes;
use crate::nodes::guards::Guards;
use crate::nodes::out::Out;
use crate::nodes::plan::Plan;
use crate::nodes::switch::Switch;
use crate::outcome::IsolationRecord;

impl Nodes {
    /// After the first isolation, between windows.
    pub(in crate::nodes) fn sweep_later(&mut self) {
        if !self.partitions.ask() {
            return;
        }
        let isolated = |out: &mut Out| std::mem::replace(&mut out.shared.isolated, u64::MAX);
        let first = self.partitions.outs().map(isolated).min().unwrap_or(u64::MAX);
        if let Some(isolation) =
            self.network.switches.isolation.as_ref().filter(|_| self.actions.sweep == u64::MAX && first != u64::MAX)
        {
            self.actions.sweep = first.saturating_add(isolation.params.hold.0.max(1));
        }
    }

    pub(in crate::nodes) fn sweep_isolated(&mut self) {
        let plan = Plan { layout: &self.layout, network: &self.network };
        let now = self.books.now;
        self.partitions.for_each_switch(|switch, out| {
            switch.begin_action(now);
            for slot in switch.isolated() {
                if switch.can_release(slot) {
                    switch.end_isolation(plan, out, slot);
                }
            }
        });
        self.partitions.for_each_host(|host, out| host.sweep_isolated(plan, out, now));
        self.partitions.deliver(self.run);
        self.actions.sweep = u64::MAX;
        let any = self.partitions.switches().any(|switch| !switch.isolated().is_empty())
            || self.partitions.hosts().any(|host| host.has_isolated());
        self.partitions.outs().for_each(|out| out.shared.isolated = u64::MAX);
        self.partitions.first().shared.isolated = if any { now } else { u64::MAX };
        self.sweep_later();
    }
}

impl Switch<Guards> {
    fn isolated(&self) -> Vec<u32> {
        self.guards.isolation.as_ref().map_or_else(Vec::new, |isolation| isolation.table.slots())
    }

    pub(in crate::nodes) fn isolation_table(&self) -> Option<&Table> {
        self.guards.isolation.as_ref().map(|isolation| &isolation.table)
    }
}

/// In the order of events.
pub(in crate::nodes) fn records_in_order<'a>(tables: impl Iterator<Item = &'a Table>) -> Vec<IsolationRecord> {
    let mut all: Vec<((u64, u32), IsolationRecord)> = tables.flat_map(Table::records).collect();
    all.sort_by_key(|(order, _)| *order);
    all.into_iter().map(|(_, record)| record).collect()
}
