use incast_model::fabric::PortId;
use incast_model::units::Time;

use crate::kernel::{FlowId, IdVec, LocalPort};
use crate::nodes::map::Map;
use crate::outcome::{FoundIn, IsolatedBy, IsolationRecord};

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) port: LocalPort,
    pub(crate) flow: FlowId,
    /// Packets in other queues, which must leave first.
    pub(crate) ahead: u32,
    pub(crate) held: u32,
    /// Time of the last packet that left the isolated queue or arrived isolated.
    pub(crate) quiet_since: u64,
    /// Last request of the next switch; `None` without one, or if withdrawn.
    pub(crate) asked: Option<u64>,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// With times of the last messages.
    pub(crate) notified: Vec<(LocalPort, u64)>,
    record: u32,
}

#[derive(Debug)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    free: Vec<u32>,
    index: Map<u64, u32>,
    /// Oldest first.
    at_port: IdVec<LocalPort, Vec<u32>>,
    /// Entries with `ahead` above 0.
    unsettled: IdVec<LocalPort, u32>,
    /// In order of begin and an order among equal times; open entries hold their counts.
    records: Vec<((u64, u32), IsolationRecord)>,
}

const fn key(port: LocalPort, flow: FlowId) -> u64 {
    (port.0 as u64) << 32 | flow.0 as u64
}

impl Table {
    pub(crate) fn new(ports: usize) -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            index: Map::default(),
            at_port: vec![Vec::new(); ports].into(),
            unsettled: vec![0; ports].into(),
            records: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn is_empty_at(&self, port: LocalPort) -> bool {
        self.at_port[port].is_empty()
    }

    #[inline]
    pub(crate) fn find(&self, port: LocalPort, flow: FlowId) -> Option<u32> {
        self.index.get(&key(port, flow)).copied()
    }

    /// Entry noted in a packet, unless it is another's.
    #[inline]
    pub(crate) fn noted(&self, port: LocalPort, flow: FlowId, note: u64) -> Option<u32> {
        let entry = self.entries.get(usize::try_from(note).ok()?)?;
        (entry.port == port && entry.flow == flow).then_some(note as u32)
    }

    #[inline]
    pub(crate) fn is_unsettled(&self, port: LocalPort) -> bool {
        self.unsettled[port] > 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    pub(crate) fn slots(&self) -> Vec<u32> {
        self.at_port.iter().flatten().copied().collect()
    }

    /// Entries that count towards the limit: not those of flows that arrived isolated.
    pub(crate) fn places(&self, port: LocalPort) -> impl Iterator<Item = u32> + '_ {
        self.at_port[port].iter().copied().filter(|&slot| self.record(slot).by != IsolatedBy::Class)
    }

    pub(crate) fn insert(
        &mut self,
        (port, number, flow): (LocalPort, PortId, FlowId),
        (by, found): (IsolatedBy, Option<FoundIn>),
        (now, order): (u64, u32),
    ) -> u32 {
        let place = self.records.len() as u32;
        let (begin, end) = (Time(now), None);
        let record =
            IsolationRecord { port: number, flow: flow.0, by, begin, end, packets: 0, bytes: 0, messages: 0, found };
        self.records.push(((now, order), record));
        let entry = Entry {
            port,
            flow,
            ahead: 0,
            held: 0,
            quiet_since: now,
            asked: None,
            packets: 0,
            bytes: 0,
            notified: Vec::new(),
            record: place,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.entries[slot as usize] = entry;
                slot
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.index.insert(key(port, flow), slot);
        self.at_port[port].push(slot);
        slot
    }

    pub(crate) fn set_ahead(&mut self, slot: u32, ahead: u32) {
        let entry = &mut self.entries[slot as usize];
        entry.ahead = ahead;
        self.unsettled[entry.port] += u32::from(ahead > 0);
    }

    /// Returns the notified ports.
    pub(crate) fn remove(&mut self, slot: u32, now: u64) -> Vec<(LocalPort, u64)> {
        let entry = &mut self.entries[slot as usize];
        let (port, flow, notified) = (entry.port, entry.flow, std::mem::take(&mut entry.notified));
        debug_assert!(entry.ahead == 0 && entry.held == 0, "a flow is released when none of its packets waits");
        let record = &mut self.records[entry.record as usize].1;
        (record.end, record.packets, record.bytes) = (Some(Time(now)), entry.packets, entry.bytes);
        (entry.port, entry.flow) = (LocalPort::NONE, FlowId::NONE);
        self.index.remove(&key(port, flow));
        self.at_port[port].retain(|&one| one != slot);
        self.free.push(slot);
        notified
    }

    pub(crate) fn count_ahead(&mut self, slot: u32, came: bool) {
        let entry = &mut self.entries[slot as usize];
        let had = entry.ahead > 0;
        entry.ahead = if came { entry.ahead + 1 } else { entry.ahead - 1 };
        let has = entry.ahead > 0;
        let unsettled = &mut self.unsettled[entry.port];
        *unsettled = *unsettled + u32::from(has && !had) - u32::from(had && !has);
    }

    pub(crate) fn records(&self) -> Vec<((u64, u32), IsolationRecord)> {
        let mut records = self.records.clone();
        for entry in self.at_port.iter().flatten().map(|&slot| &self.entries[slot as usize]) {
            let (_, record) = &mut records[entry.record as usize];
            (record.packets, record.bytes) = (entry.packets, entry.bytes);
        }
        records
    }

    pub(crate) fn record(&self, slot: u32) -> &IsolationRecord {
        &self.records[self.entries[slot as usize].record as usize].1
    }

    pub(crate) fn record_mut(&mut self, slot: u32) -> &mut IsolationRecord {
        &mut self.records[self.entries[slot as usize].record as usize].1
    }
}

impl std::ops::Index<u32> for Table {
    type Output = Entry;
    #[inline]
    fn index(&self, slot: u32) -> &Entry {
        &self.entries[slot as usize]
    }
}

impl std::ops::IndexMut<u32> for Table {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Entry {
        &mut self.entries[slot as usize]
    }
}
