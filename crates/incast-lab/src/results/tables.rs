//! Converts records to table columns.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt8Array, UInt16Array, UInt32Array,
};
use arrow_schema::ArrowError;
use incast_model::fabric::{Fabric, HostId, NodeId, PortId};
use incast_model::flow::FlowSet;
use incast_model::tenant::{Tenancy, Tenant, Vm};
use incast_model::units::{Bytes, Time};
use incast_sim::Outcome;
use incast_sim::outcome::{
    DeadlockRecord, DropReason, FlowRecord, FlowStatus, IsolatedBy, LinkChange, LinkRecord, StuckQueue,
};

use super::columns::{
    DEADLOCKS, DROPS, FLOWS, HISTOGRAMS, ISOLATIONS, LIMITS, LINKS, MESSAGES, PAIRS, PAUSES, PORTS, QUEUES, RATES,
    STORMS, THROUGHPUT, TableSpec, VMS, WAITS,
};
use super::throughput::Row;

#[derive(Debug, Clone, Copy)]
pub(super) struct Records<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) flows: &'a FlowSet,
    pub(super) tenancy: Option<&'a Tenancy>,
    /// Names of all schemes, so that batches of a table share a dictionary.
    pub(super) schemes: &'a [String],
    pub(super) scheme: usize,
    pub(super) histogram_bin: Bytes,
    pub(super) outcome: &'a Outcome,
    pub(super) throughput: &'a [Row],
}

/// Tables store times and bytes signed; real values are far below the limit.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn i64s(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values.map(signed)))
}

fn maybe_i64s(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(values.map(|value| value.map(signed)).collect::<Int64Array>())
}

fn u32s(values: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

fn maybe_u32s(values: impl Iterator<Item = Option<u32>>) -> ArrayRef {
    Arc::new(values.collect::<UInt32Array>())
}

fn u16s(values: impl Iterator<Item = u16>) -> ArrayRef {
    Arc::new(UInt16Array::from_iter_values(values))
}

fn u8s(values: impl Iterator<Item = u8>) -> ArrayRef {
    Arc::new(UInt8Array::from_iter_values(values))
}

fn names<'a>(
    dictionary: impl Iterator<Item = &'a str>,
    keys: impl Iterator<Item = usize>,
) -> Result<ArrayRef, ArrowError> {
    let keys = Int32Array::from_iter_values(keys.map(|key| i32::try_from(key).unwrap_or(i32::MAX)));
    let values = StringArray::from_iter_values(dictionary);
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(values))?))
}

impl Records<'_> {
    pub(super) fn batch(&self, table: &TableSpec) -> Result<RecordBatch, ArrowError> {
        let columns = match table.name {
            "flows" => self.flows()?,
            "messages" => self.messages()?,
            "ports" => self.ports()?,
            "pauses" => self.pauses()?,
            "deadlocks" => self.deadlocks()?,
            "storms" => self.storms()?,
            "isolations" => self.isolations()?,
            "waits" => self.waits()?,
            "drops" => self.drops()?,
            "links" => self.links()?,
            "queues" => self.queues()?,
            "rates" => self.rates()?,
            "vms" => self.vms()?,
            "pairs" => self.pairs()?,
            "limits" => self.limits()?,
            "throughput" => self.throughput()?,
            _ => self.histograms()?,
        };
        RecordBatch::try_new(table.schema(), columns)
    }

    fn scheme(&self, rows: usize) -> Result<ArrayRef, ArrowError> {
        names(self.schemes.iter().map(String::as_str), std::iter::repeat_n(self.scheme, rows))
    }

    fn node_names(&self, nodes: impl Iterator<Item = NodeId>) -> Result<ArrayRef, ArrowError> {
        names(self.fabric.nodes().iter().map(|node| node.name.as_str()), nodes.map(NodeId::index))
    }

    fn port_names(&self, ports: impl Iterator<Item = PortId> + Clone) -> Result<[ArrayRef; 3], ArrowError> {
        Ok([
            self.node_names(ports.clone().map(|port| self.fabric.port(port).node))?,
            u32s(ports.clone().map(|port| self.fabric.port(port).local)),
            self.node_names(ports.map(|port| self.fabric.neighbour(port)))?,
        ])
    }

    fn flows(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let records = || self.outcome.flows.iter();
        let flows = || self.flows.flows.iter().take(self.outcome.flows.len());
        let fct = || records().map(FlowRecord::fct);
        let slowdown = |ideal: fn(&FlowRecord) -> Time| -> ArrayRef {
            // Backlogged flows end by the clock, so have no slowdown.
            let sized = flows().zip(fct()).map(|(flow, fct)| fct.filter(|_| flow.until.is_none()));
            let ratios = records().zip(sized).map(|(r, fct)| fct.map(|fct| fct.0 as f64 / ideal(r).0.max(1) as f64));
            Arc::new(ratios.collect::<Float64Array>())
        };
        let mut gates = vec![None; records().len()];
        for (gate, spec) in (0u32..).zip(&self.flows.gates) {
            spec.starts.iter().for_each(|&flow| gates[flow as usize] = Some(gate));
        }
        let host = |host: HostId| self.fabric.hosts()[host.index()];
        let backlogged = || flows().map(|flow| flow.until.is_some());
        debug_assert_eq!(FLOWS.columns.len(), 31);
        Ok(vec![
            self.scheme(records().len())?,
            u32s(0..records().len() as u32),
            u32s((0u32..).zip(self.flows.messages()).flat_map(|(message, flows)| flows.map(move |_| message))),
            names(self.flows.labels.iter().map(String::as_str), flows().map(|f| f.label.into()))?,
            u32s(flows().map(|f| f.src.0)),
            u32s(flows().map(|f| f.dst.0)),
            self.node_names(flows().map(|f| host(f.src)))?,
            self.node_names(flows().map(|f| host(f.dst)))?,
            i64s(flows().zip(records()).map(|(f, r)| if f.until.is_some() { r.acked } else { f.size.0 })),
            u8s(flows().map(|f| f.priority)),
            u16s(flows().map(|f| f.sport)),
            u16s(flows().map(|f| f.dport)),
            maybe_u32s(gates.iter().copied()),
            maybe_i64s(records().map(|r| r.start.map(|t| t.0))),
            maybe_i64s(records().map(|r| r.delivered.map(|t| t.0))),
            maybe_i64s(records().map(|r| r.finish.map(|t| t.0))),
            maybe_i64s(fct().map(|fct| fct.map(|t| t.0))),
            i64s(records().map(|r| r.ideal_hpcc.0)),
            i64s(records().map(|r| r.ideal_exact.0)),
            slowdown(|r| r.ideal_hpcc),
            slowdown(|r| r.ideal_exact),
            i64s(records().map(|r| r.acked)),
            i64s(records().map(|r| r.packets)),
            i64s(records().map(|r| r.retransmitted)),
            i64s(records().map(|r| r.discarded.into())),
            i64s(records().map(|r| r.nacks.into())),
            i64s(records().map(|r| r.timeouts.into())),
            i64s(records().map(|r| r.marks)),
            u8s(records().map(|r| r.hops)),
            names(FlowStatus::ALL.iter().map(|one| one.name()), records().map(|r| r.status() as usize))?,
            Arc::new(backlogged().map(Some).collect::<BooleanArray>()),
        ])
    }

    fn messages(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let split = !self.flows.messages.is_empty();
        let all: Vec<Range<usize>> =
            (self.flows.messages().filter(|_| split)).map(|flows| flows.start as usize..flows.end as usize).collect();
        let first = || all.iter().map(|flows| &self.flows.flows[flows.start]);
        let records = |flows: &Range<usize>| &self.outcome.flows[flows.clone()];
        let start = |flows| records(flows).iter().filter_map(|r| r.start).min();
        // `None` unless all parts ended.
        let last = |flows: &Range<usize>, end: fn(&FlowRecord) -> Option<Time>| {
            records(flows).iter().map(end).try_fold(Time::ZERO, |last, end| Some(last.max(end?)))
        };
        let finish = |flows| last(flows, |r| r.finish);
        let ps = |time: Option<Time>| time.map(|time| time.0);
        debug_assert_eq!(MESSAGES.columns.len(), 12);
        Ok(vec![
            self.scheme(all.len())?,
            u32s(0..all.len() as u32),
            names(self.flows.labels.iter().map(String::as_str), first().map(|f| f.label.into()))?,
            u32s(first().map(|f| f.src.0)),
            u32s(first().map(|f| f.dst.0)),
            u32s(all.iter().map(|flows| flows.start as u32)),
            u32s(all.iter().map(|flows| flows.len() as u32)),
            i64s(all.iter().map(|flows| self.flows.flows[flows.clone()].iter().map(|f| f.size.0).sum())),
            maybe_i64s(all.iter().map(|flows| ps(start(flows)))),
            maybe_i64s(all.iter().map(|flows| ps(last(flows, |r| r.delivered)))),
            maybe_i64s(all.iter().map(|flows| ps(finish(flows)))),
            maybe_i64s(all.iter().map(|flows| Some(finish(flows)?.saturating_sub(start(flows)?).0))),
        ])
    }

    fn ports(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.ports.iter();
        let [node_name, local, peer] = self.port_names(all().map(|r| r.port))?;
        let node = |port: PortId| self.fabric.port(port).node;
        debug_assert_eq!(PORTS.columns.len(), 21);
        Ok(vec![
            self.scheme(all().len())?,
            u32s(all().map(|r| r.port.0)),
            u32s(all().map(|r| node(r.port).0)),
            node_name,
            local,
            peer,
            u8s(all().map(|r| self.fabric.node(node(r.port)).tier)),
            i64s(all().map(|r| self.fabric.rate(r.port).0)),
            u8s(all().map(|r| r.priority)),
            i64s(all().map(|r| r.tx_bytes)),
            i64s(all().map(|r| r.tx_packets)),
            i64s(all().map(|r| r.marks)),
            i64s(all().map(|r| r.drops)),
            i64s(all().map(|r| r.lost)),
            i64s(all().map(|r| r.peak_queue)),
            i64s(all().map(|r| r.peak_ingress)),
            i64s(all().map(|r| r.peak_headroom)),
            i64s(all().map(|r| r.xoff_sent)),
            i64s(all().map(|r| r.xon_sent)),
            i64s(all().map(|r| r.xoff_received)),
            i64s(all().map(|r| r.paused.0)),
        ])
    }

    fn pauses(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.pauses.iter();
        let [node_name, local, peer] = self.port_names(all().map(|r| r.port))?;
        debug_assert_eq!(PAUSES.columns.len(), 11);
        Ok(vec![
            self.scheme(all().len())?,
            u32s(all().map(|r| r.port.0)),
            node_name,
            local,
            peer,
            u8s(all().map(|r| r.priority)),
            i64s(all().map(|r| r.start.0)),
            maybe_i64s(all().map(|r| r.end.map(|end| end.0))),
            i64s(all().map(|r| r.ingress_bytes)),
            u32s(all().map(|r| r.culprit_port.0)),
            self.node_names(all().map(|r| self.fabric.neighbour(r.culprit_port)))?,
        ])
    }

    fn deadlocks(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all: Vec<(u32, &DeadlockRecord, u32, &StuckQueue)> = (0..)
            .zip(&self.outcome.deadlocks)
            .flat_map(|(number, one)| (0..).zip(&one.cycle).map(move |(place, queue)| (number, one, place, queue)))
            .collect();
        let [node_name, local, peer] = self.port_names(all.iter().map(|row| row.3.queue.port))?;
        debug_assert_eq!(DEADLOCKS.columns.len(), 16);
        Ok(vec![
            self.scheme(all.len())?,
            u32s(all.iter().map(|row| row.0)),
            u32s(all.iter().map(|row| row.2)),
            u32s(all.iter().map(|row| row.3.queue.port.0)),
            node_name,
            local,
            peer,
            u8s(all.iter().map(|row| row.3.queue.priority)),
            i64s(all.iter().map(|row| row.3.since.0)),
            i64s(all.iter().map(|row| row.3.bytes)),
            i64s(all.iter().map(|row| row.1.closed.0)),
            i64s(all.iter().map(|row| row.1.seen.0)),
            maybe_i64s(all.iter().map(|row| row.1.ended.map(|ended| ended.0))),
            u32s(all.iter().map(|row| row.1.stuck_queues)),
            i64s(all.iter().map(|row| row.1.stuck_bytes)),
            u32s(all.iter().map(|row| row.1.stuck_hosts)),
        ])
    }

    fn storms(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.storms.iter();
        let [node_name, local, peer] = self.port_names(all().map(|r| r.port))?;
        debug_assert_eq!(STORMS.columns.len(), 8);
        Ok(vec![
            self.scheme(all().len())?,
            u32s(all().map(|r| r.port.0)),
            node_name,
            local,
            peer,
            u8s(all().map(|r| r.priority)),
            i64s(all().map(|r| r.begin.0)),
            maybe_i64s(all().map(|r| r.end.map(|end| end.0))),
        ])
    }

    fn isolations(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.isolations.iter();
        let [node_name, local, peer] = self.port_names(all().map(|r| r.port))?;
        let found = || all().map(|r| r.found);
        let root = || found().map(|one| one.and_then(|one| one.root));
        debug_assert_eq!(ISOLATIONS.columns.len(), 18);
        Ok(vec![
            self.scheme(all().len())?,
            u32s(all().map(|r| r.port.0)),
            node_name,
            local,
            peer,
            u32s(all().map(|r| r.flow)),
            names(IsolatedBy::ALL.map(IsolatedBy::name).into_iter(), all().map(|r| r.by as usize))?,
            i64s(all().map(|r| r.begin.0)),
            maybe_i64s(all().map(|r| r.end.map(|end| end.0))),
            i64s(all().map(|r| r.packets)),
            i64s(all().map(|r| r.bytes)),
            u32s(all().map(|r| r.messages)),
            maybe_i64s(found().map(|one| one.map(|one| one.flow_bytes))),
            maybe_i64s(found().map(|one| one.map(|one| one.queue_bytes))),
            maybe_u32s(found().map(|one| one.map(|one| one.queue_flows))),
            maybe_i64s(found().map(|one| one.and_then(|one| one.pause_ago).map(|ago| ago.0))),
            maybe_u32s(root().map(|root| root.map(|(port, _)| port.0))),
            Arc::new(root().map(|root| root.map(|(_, ahead)| ahead)).collect::<BooleanArray>()),
        ])
    }

    fn waits(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.waits.iter();
        debug_assert_eq!(WAITS.columns.len(), 8);
        let labels = self.flows.flows.iter().take(all().len()).map(|flow| flow.label.into());
        Ok(vec![
            self.scheme(all().len())?,
            u32s(0..all().len() as u32),
            names(self.flows.labels.iter().map(String::as_str), labels)?,
            i64s(all().map(|r| r.waited.0)),
            i64s(all().map(|r| r.blocked.0)),
            i64s(all().map(|r| r.victim.0)),
            i64s(all().map(|r| r.host_blocked.0)),
            i64s(all().map(|r| r.host_victim.0)),
        ])
    }

    fn drops(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.drops.iter();
        debug_assert_eq!(DROPS.columns.len(), 11);
        let reasons = DropReason::ALL.map(DropReason::name).into_iter();
        Ok(vec![
            self.scheme(all().len())?,
            i64s(all().map(|r| r.time.0)),
            names(reasons, all().map(|r| r.reason as usize))?,
            u32s(all().map(|r| r.node.0)),
            self.node_names(all().map(|r| r.node))?,
            maybe_u32s(all().map(|r| r.ingress.map(|port| port.0))),
            maybe_u32s(all().map(|r| r.egress.map(|port| port.0))),
            u8s(all().map(|r| r.priority)),
            maybe_u32s(all().map(|r| r.flow)),
            i64s(all().map(|r| r.bytes.into())),
            Arc::new(all().map(|r| Some(r.lossless)).collect::<BooleanArray>()),
        ])
    }

    fn links(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.links.iter();
        let link = |r: &LinkRecord| self.fabric.link(r.link);
        let node = |port: PortId| self.fabric.port(port).node;
        debug_assert_eq!(LINKS.columns.len(), 8);
        Ok(vec![
            self.scheme(all().len())?,
            i64s(all().map(|r| r.time.0)),
            u32s(all().map(|r| r.link.0)),
            self.node_names(all().map(|r| node(link(r).a)))?,
            self.node_names(all().map(|r| node(link(r).b)))?,
            names(LinkChange::ALL.map(LinkChange::name).into_iter(), all().map(|r| r.change as usize))?,
            u32s(all().map(|r| link(r).a.0)),
            u32s(all().map(|r| link(r).b.0)),
        ])
    }

    fn queues(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.queues.iter();
        let [node_name, local, peer] = self.port_names(all().map(|r| r.port))?;
        debug_assert_eq!(QUEUES.columns.len(), 8);
        Ok(vec![
            self.scheme(all().len())?,
            i64s(all().map(|r| r.time.0)),
            u32s(all().map(|r| r.port.0)),
            node_name,
            local,
            peer,
            i64s(all().map(|r| r.bytes)),
            i64s(all().map(|r| r.tx_bytes)),
        ])
    }

    fn rates(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.rates.iter();
        debug_assert_eq!(RATES.columns.len(), 6);
        Ok(vec![
            self.scheme(all().len())?,
            i64s(all().map(|r| r.time.0)),
            u32s(all().map(|r| r.flow)),
            i64s(all().map(|r| r.rate)),
            maybe_i64s(all().map(|r| Some(r.window).filter(|&window| window != u64::MAX))),
            i64s(all().map(|r| r.acked)),
        ])
    }

    fn vms(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let tenants = self.tenancy.map_or(&[][..], Tenancy::tenants);
        let all: Vec<(usize, &Tenant, u32, Vm)> = (0..)
            .zip(tenants)
            .flat_map(|(number, one)| (0u32..).zip(&one.vms).map(move |(vm, place)| (number, one, vm, *place)))
            .collect();
        let mut groups: Vec<&str> = tenants.iter().map(|one| one.group.as_str()).collect();
        groups.dedup();
        let node = |vm: &Vm| self.fabric.hosts()[vm.host.index()];
        let server =
            |vm: &Vm| self.fabric.ports_of(node(vm)).next().map_or(node(vm), |port| self.fabric.neighbour(port));
        debug_assert_eq!(VMS.columns.len(), 10);
        Ok(vec![
            self.scheme(all.len())?,
            u32s(all.iter().map(|row| row.3.host.0)),
            self.node_names(all.iter().map(|row| node(&row.3)))?,
            self.node_names(all.iter().map(|row| server(&row.3)))?,
            names(tenants.iter().map(|one| one.name.as_str()), all.iter().map(|row| row.0))?,
            names(
                groups.iter().copied(),
                all.iter().map(|row| groups.iter().position(|one| *one == row.1.group).unwrap_or(0)),
            )?,
            u32s(all.iter().map(|row| row.2)),
            Arc::new(all.iter().map(|row| Some(row.3.mapper)).collect::<BooleanArray>()),
            i64s(all.iter().map(|row| row.1.send.0)),
            i64s(all.iter().map(|row| row.1.receive.0)),
        ])
    }

    fn pairs(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.pairs.iter();
        let node = |host: u32| self.fabric.hosts()[host as usize];
        debug_assert_eq!(PAIRS.columns.len(), 11);
        Ok(vec![
            self.scheme(all().len())?,
            u32s(0..all().len() as u32),
            u32s(all().map(|r| r.src)),
            u32s(all().map(|r| r.dst)),
            self.node_names(all().map(|r| node(r.src)))?,
            self.node_names(all().map(|r| node(r.dst)))?,
            i64s(all().map(|r| r.count.sent)),
            i64s(all().map(|r| r.count.received)),
            i64s(all().map(|r| r.count.lost)),
            i64s(all().map(|r| r.count.marked)),
            i64s(all().map(|r| r.count.refused)),
        ])
    }

    fn limits(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.outcome.pair_samples.iter();
        debug_assert_eq!(LIMITS.columns.len(), 8);
        Ok(vec![
            self.scheme(all().len())?,
            i64s(all().map(|r| r.time.0)),
            u32s(all().map(|r| r.pair)),
            i64s(all().map(|r| r.guarantee)),
            maybe_i64s(all().map(|r| r.limit)),
            i64s(all().map(|r| r.sent)),
            i64s(all().map(|r| r.received)),
            u32s(all().map(|r| r.waiting)),
        ])
    }

    fn throughput(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let all = || self.throughput.iter();
        let node = |host: HostId| self.fabric.hosts()[host.index()];
        debug_assert_eq!(THROUGHPUT.columns.len(), 12);
        Ok(vec![
            self.scheme(all().len())?,
            i64s(all().map(|r| r.from)),
            i64s(all().map(|r| r.to)),
            u32s(all().map(|r| r.src.0)),
            u32s(all().map(|r| r.dst.0)),
            self.node_names(all().map(|r| node(r.src)))?,
            self.node_names(all().map(|r| node(r.dst)))?,
            u32s(all().map(|r| r.flows)),
            i64s(all().map(|r| r.payload)),
            i64s(all().map(|r| r.wire)),
            i64s(all().map(|r| r.guaranteed)),
            i64s(all().map(|r| r.optimum)),
        ])
    }

    fn histograms(&self) -> Result<Vec<ArrayRef>, ArrowError> {
        let width = self.histogram_bin.0;
        let rows: Vec<(PortId, u64, u64)> = self
            .outcome
            .histograms
            .iter()
            .flat_map(|one| (0u64..).zip(&one.time_in_bin).map(|(bin, &time)| (one.port, bin, time)))
            .filter(|&(_, _, time)| time > 0)
            .collect();
        let [node_name, local, peer] = self.port_names(rows.iter().map(|row| row.0))?;
        debug_assert_eq!(HISTOGRAMS.columns.len(), 8);
        Ok(vec![
            self.scheme(rows.len())?,
            u32s(rows.iter().map(|row| row.0.0)),
            node_name,
            local,
            peer,
            i64s(rows.iter().map(|row| row.1 * width)),
            i64s(rows.iter().map(|row| (row.1 + 1) * width)),
            i64s(rows.iter().map(|row| row.2)),
        ])
    }
}
