use std::borrow::Cow;

use incast_model::fabric::HostId;
use incast_model::tenant::{Tenancy, Tenant, Vm};
use incast_model::units::Time;
use incast_sim::tenant::{PairRecord, PairSample};

use super::super::columns::{ColumnOf, bps, bytes, count, flag, maybe_bps, name, ps, u32};
use super::super::throughput;
use super::shared::{Between, dst, dst_name, nodes, scheme, src, src_name, time};
use super::{Condition, Records, Row, Table};

/// VM, its number, and those of tenant and group.
#[derive(Debug, Clone, Copy)]
pub(super) struct VmRow {
    group: usize,
    tenant: usize,
    number: u32,
    vm: Vm,
}

fn tenants<'a>(run: &Records<'a>) -> &'a [Tenant] {
    run.tenancy.map_or(&[], Tenancy::tenants)
}

fn tenant_names<'a>(run: &'a Records<'a>) -> Vec<&'a str> {
    tenants(run).iter().map(|one| one.name.as_str()).collect()
}

fn groups<'a>(run: &'a Records<'a>) -> Vec<&'a str> {
    let mut groups: Vec<&str> = tenants(run).iter().map(|one| one.group.as_str()).collect();
    groups.dedup();
    groups
}

fn vm_rows<'a>(run: &'a Records<'a>) -> Cow<'a, [VmRow]> {
    let groups = groups(run);
    let of_tenant = |(tenant, one): (usize, &'a Tenant)| {
        let group = groups.iter().position(|&group| group == one.group).unwrap_or(0);
        (0..).zip(&one.vms).map(move |(number, &vm)| VmRow { group, tenant, number, vm })
    };
    (0..).zip(tenants(run)).flat_map(of_tenant).collect()
}

impl<'a> Row<'a, VmRow> {
    fn of(self) -> &'a Tenant {
        &tenants(self.run)[self.tenant]
    }

    fn server(self) -> usize {
        let node = self.run.fabric.hosts()[self.vm.host.index()];
        self.run.fabric.ports_of(node).next().map_or(node.index(), |port| self.run.peer_of(port))
    }
}

pub(super) static VMS: Table<VmRow> = Table {
    name: "vms",
    description: "one row per VM of a tenant; only in runs with tenants",
    condition: Condition::Tenants,
    rows: vm_rows,
    columns: &[
        scheme(),
        u32("host", "host number of the VM, as in `flows`", |row| row.vm.host.0),
        name("name", "host name of the VM", nodes, |row| row.run.node_of(row.vm.host)),
        name("server", "server", nodes, |row| row.server()),
        name("tenant", "tenant", tenant_names, |row| row.tenant),
        name("tenant_group", "`[[tenant]]` entry of the tenant", groups, |row| row.group),
        u32("vm", "number within the tenant, from 0", |row| row.record.number),
        flag("mapper", "true for a mapper of the tenant", |row| row.vm.mapper),
        bps("send_bps", "guaranteed sending rate; 0 for none", |row| row.of().send.0),
        bps("receive_bps", "guaranteed receiving rate; 0 for none", |row| row.of().receive.0),
    ],
};

const fn pair<R>(get: fn(Row<'_, R>) -> u32) -> ColumnOf<R> {
    u32("pair", "pair number, in order of its first flow", get)
}

impl Between for PairRecord {
    fn ends(row: Row<'_, Self>) -> [HostId; 2] {
        [HostId(row.src), HostId(row.dst)]
    }
}

pub(super) static PAIRS: Table<PairRecord> = Table {
    name: "pairs",
    description: "one row per sending and receiving VM, in schemes with a hypervisor; only in runs with tenants",
    condition: Condition::Tenants,
    rows: |run| (&run.outcome.pairs).into(),
    columns: &[
        scheme(),
        pair(|row| row.number),
        src(),
        dst(),
        src_name(),
        dst_name(),
        bytes("sent_bytes", "wire bytes passed by its limiter, with acknowledgements", |row| row.count.sent),
        bytes("received_bytes", "wire bytes received", |row| row.count.received),
        count("lost_packets", "packets lost, as detected by the receiver", |row| row.count.lost),
        count("marked_packets", "packets received with an ECN mark", |row| row.count.marked),
        count("refused_packets", "packets dropped at its limiter's full queue", |row| row.count.refused),
    ],
};

pub(super) static LIMITS: Table<PairSample> = Table {
    name: "limits",
    description: "one row per sample (`measure.sample_every`) of an active pair, in schemes with a hypervisor; only in runs with tenants",
    condition: Condition::Tenants,
    rows: |run| (&run.outcome.pair_samples).into(),
    columns: &[
        scheme(),
        time(|row| row.time),
        pair(|row| row.pair),
        bps("guarantee_bps", "guarantee; 0 if the hypervisor gives none", |row| row.guarantee),
        maybe_bps("limit_bps", "limit; missing without one", |row| row.limit),
        bytes("sent_bytes", "wire bytes passed by its limiter so far", |row| row.sent),
        bytes("received_bytes", "wire bytes received so far", |row| row.received),
        u32("waiting_packets", "packets queued at its limiter", |row| row.waiting),
    ],
};

impl Between for throughput::Row {
    fn ends(row: Row<'_, Self>) -> [HostId; 2] {
        [row.src, row.dst]
    }
}

pub(super) static THROUGHPUT: Table<throughput::Row> = Table {
    name: "throughput",
    description: "one row per pair of VMs with a flow in progress and interval between samples (`measure.sample_every`; without it the whole run); only in runs with tenants",
    condition: Condition::Tenants,
    rows: |run| run.throughput.into(),
    columns: &[
        scheme(),
        ps("start_ps", "start of the interval", |row| Time(row.from)),
        ps("end_ps", "end of the interval", |row| Time(row.to)),
        src(),
        dst(),
        src_name(),
        dst_name(),
        u32("flows", "flows in progress", |row| row.flows),
        bytes("payload_bytes", "payload acknowledged in the interval; for UDP, received", |row| row.payload),
        bytes("wire_bytes", "the same with headers and gaps; of flows without a size, those of full packets", |row| {
            row.wire
        }),
        bytes(
            "guaranteed_bytes",
            "wire bytes that its VMs' hoses guarantee at least: its max-min share among all pairs, given their demands",
            |row| row.guaranteed,
        ),
        bytes(
            "optimum_bytes",
            "work-conserving optimum in wire bytes: its max-min share of the links on its routes, all up, among all pairs, given their demands; a flow counts for the whole interval in which it starts",
            |row| row.optimum,
        ),
    ],
};
