//! Which flows are isolated at which port.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use incast_model::fabric::PortId;
use incast_model::rng::mix;
use incast_model::units::Time;

use crate::outcome::{IsolatedBy, IsolationRecord};

/// A flow that is isolated at an egress port.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) port: u32,
    pub(super) flow: u32,
    /// Its packets in other queues of the port, which have to leave before those in the isolated one.
    pub(super) ahead: u32,
    /// Its packets in the isolated queue.
    pub(super) held: u32,
    /// When the last of these left, or the last packet came that was isolated before it came.
    pub(super) quiet_since: u64,
    /// When the next switch last said that it is to be isolated; `None` if it never did, or has taken it back.
    pub(super) asked: Option<u64>,
    /// Ports whose far ends have been told, and when last.
    pub(super) told: Vec<(u32, u64)>,
    record: u32,
}

/// Numbers are spread by one multiplication-based mix, which is what the lookup for every packet can afford.
#[derive(Debug, Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0 ^ number);
    }
}

/// A map that is never walked in its own order.
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mixed>>;

/// The flow tables of all ports.
#[derive(Debug)]
pub(super) struct Table {
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// By port and flow.
    index: Map<u64, u32>,
    /// By port: its entries, oldest first.
    at_port: Vec<Vec<u32>>,
    /// By port: entries whose packets in other queues have not all left.
    unsettled: Vec<u32>,
    /// In order of their begin.
    pub(super) records: Vec<IsolationRecord>,
}

const fn key(port: u32, flow: u32) -> u64 {
    (port as u64) << 32 | flow as u64
}

impl Table {
    pub(super) fn new(ports: usize) -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            index: Map::default(),
            at_port: vec![Vec::new(); ports],
            unsettled: vec![0; ports],
            records: Vec::new(),
        }
    }

    /// Whether no flow is isolated at a port.
    #[inline]
    pub(super) fn is_empty_at(&self, port: u32) -> bool {
        self.at_port[port as usize].is_empty()
    }

    /// The entry of a flow at a port.
    #[inline]
    pub(super) fn find(&self, port: u32, flow: u32) -> Option<u32> {
        if self.is_empty_at(port) {
            return None;
        }
        self.index.get(&key(port, flow)).copied()
    }

    /// Whether packets of an isolated flow must wait at a port for others of it in another queue.
    #[inline]
    pub(super) fn is_unsettled(&self, port: u32) -> bool {
        self.unsettled[port as usize] > 0
    }

    /// Whether no flow is isolated anywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// All entries.
    pub(super) fn slots(&self) -> Vec<u32> {
        self.at_port.iter().flatten().copied().collect()
    }

    /// Entries of a port that take a place in its flow table: not those of flows that were isolated before they came.
    pub(super) fn places(&self, port: u32) -> impl Iterator<Item = u32> + '_ {
        self.at_port[port as usize].iter().copied().filter(|&slot| self.record(slot).by != IsolatedBy::Class)
    }

    /// A flow is isolated at a port that has it not yet, with `ahead` packets in other queues.
    pub(super) fn insert(&mut self, port: u32, flow: u32, by: IsolatedBy, ahead: u32, now: u64) -> u32 {
        let record = self.records.len() as u32;
        self.records.push(IsolationRecord {
            port: PortId(port),
            flow,
            by,
            begin: Time(now),
            end: None,
            packets: 0,
            bytes: 0,
            messages: 0,
        });
        let entry = Entry { port, flow, ahead, held: 0, quiet_since: now, asked: None, told: Vec::new(), record };
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
        self.at_port[port as usize].push(slot);
        self.unsettled[port as usize] += u32::from(ahead > 0);
        slot
    }

    /// A flow is let go; whom it had told.
    pub(super) fn remove(&mut self, slot: u32, now: u64) -> Vec<(u32, u64)> {
        let entry = &mut self.entries[slot as usize];
        let (port, flow, told) = (entry.port, entry.flow, std::mem::take(&mut entry.told));
        debug_assert!(entry.ahead == 0 && entry.held == 0, "a flow is let go when none of its packets waits");
        self.records[entry.record as usize].end = Some(Time(now));
        self.index.remove(&key(port, flow));
        self.at_port[port as usize].retain(|&one| one != slot);
        self.free.push(slot);
        told
    }

    /// A packet of an isolated flow has come into (true) or left another queue of the port.
    pub(super) fn count_ahead(&mut self, slot: u32, came: bool) {
        let entry = &mut self.entries[slot as usize];
        let had = entry.ahead > 0;
        entry.ahead = if came { entry.ahead + 1 } else { entry.ahead - 1 };
        let has = entry.ahead > 0;
        let unsettled = &mut self.unsettled[entry.port as usize];
        *unsettled = *unsettled + u32::from(has && !had) - u32::from(had && !has);
    }

    pub(super) fn record(&self, slot: u32) -> &IsolationRecord {
        &self.records[self.entries[slot as usize].record as usize]
    }

    pub(super) fn record_mut(&mut self, slot: u32) -> &mut IsolationRecord {
        &mut self.records[self.entries[slot as usize].record as usize]
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
