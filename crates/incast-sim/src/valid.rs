use std::ops::Deref;
use std::sync::Arc;

use incast_model::fabric::{NodeId, NodeKind};
use incast_model::field::FieldError;
use incast_model::flow::MAX_TIME;
use incast_model::gates::check_gates;
use incast_model::range;
use incast_model::units::{Bytes, Time};

use crate::congestion::{MAX_INT_RECORDS, Telemetry};
use crate::host::Carrier;
use crate::host::ClassBy;
use crate::kernel::MAX_ID;
use crate::nodes::{MAX_CROSSING, MAX_NICS, MAX_PORTS};
use crate::plan::BufferPlan;
use crate::setup::{Arithmetic, Setup};
use crate::transport::Transport;

/// Most bytes of all flows together (our choice): sums with retransmitted bytes fit into 64 bits.
const MAX_BYTES: u64 = 1_000_000_000_000_000_000;

/// Checked setup; the simulator checks paths.
#[derive(Debug, Clone)]
pub struct ValidSetup(Setup);

impl Deref for ValidSetup {
    type Target = Setup;
    fn deref(&self) -> &Setup {
        &self.0
    }
}

impl ValidSetup {
    pub(crate) fn into_inner(self) -> Setup {
        self.0
    }
}

fn unless(holds: bool, field: &str, message: impl FnOnce() -> String) -> Result<(), FieldError> {
    if holds { Ok(()) } else { Err(FieldError::new(field, message())) }
}

impl Setup {
    /// Checks everything, and sets flows' priorities by class.
    pub fn checked(mut self) -> Result<ValidSetup, FieldError> {
        range::check(&self.params)?;
        self.params.faults().into_iter().next().map_or(Ok(()), Err)?;
        self.params.check_classes()?;
        if self.params.host.classes.by != ClassBy::Given {
            self.params.host.classes.apply(Arc::make_mut(&mut self.flows));
        }
        self.check_limits()?;
        self.check_transports()?;
        self.check_hypervisor()?;
        let Self { fabric, flows, params, tags, .. } = &self;
        let largest = params.packets.largest(&self.carriers);
        params.network.check(fabric, params.seed)?;
        params.check_pauses()?;
        for switch in fabric.switches() {
            BufferPlan::new(fabric, params, largest, switch)?;
        }
        for (name, guard) in params.switch.guards().filter(|(_, guard)| guard.enabled()) {
            guard.check(Bytes(largest)).map_err(|bad| bad.within(format!("switch.{name}")))?;
        }
        params.check_deadlock(tags.as_deref(), flows)?;
        params.check_isolation(fabric, flows, largest)?;
        params.check_blocking()?;
        Ok(ValidSetup(self))
    }

    fn check_limits(&self) -> Result<(), FieldError> {
        for setup in &self.controls {
            range::check(&setup.control).map_err(|bad| bad.within("control"))?;
            setup.control.check().map_err(|bad| bad.within(format!("control.{}", setup.control.name())))?;
        }
        let needs_int = self.controls.iter().any(|setup| setup.control.telemetry() == Telemetry::Int);
        unless(!needs_int || self.params.packets.int_records > 0, "packets.int_records", || {
            format!("0 is out of range; 1 to {MAX_INT_RECORDS} are possible")
        })?;
        let most = u64::from(MAX_ID);
        let (ports, flows) = (self.fabric.ports().len(), &self.flows.flows);
        unless(ports as u64 <= most, "fabric", || format!("{ports} ports; at most {most} are possible"))?;
        unless(flows.len() as u64 <= most, "workload", || {
            format!("{} flows; at most {most} are possible", flows.len())
        })?;
        if let Some(late) = flows.iter().find(|flow| flow.start >= MAX_TIME) {
            let message = format!("a flow starts at {:#}; a simulation lasts {MAX_TIME:#} at most", late.start);
            return Err(FieldError::new("workload", message));
        }
        let bytes: u128 = flows.iter().filter(|flow| flow.until.is_none()).map(|flow| u128::from(flow.size.0)).sum();
        unless(bytes <= u128::from(MAX_BYTES), "workload", || {
            format!("the flows have {:.3} EB together; at most 1 EB is possible", bytes as f64 / 1e18)
        })?;
        self.check_nodes()?;
        self.check_links()?;
        check_gates(&self.flows).map_err(|error| FieldError::new("workload", error.to_string()))?;
        unless(flows.iter().all(|flow| (1..8).contains(&flow.priority)), "workload.priority", || {
            "priorities are 1 to 7 (0 carries PFC frames)".into()
        })
    }

    /// Keys of the kernel have space for arrivals this long after the latest event.
    fn check_links(&self) -> Result<(), FieldError> {
        let (packets, most) = (&self.params.packets, Time(MAX_CROSSING));
        let others = [packets.ack, packets.min_ack, packets.cnp, packets.control, packets.pfc];
        let others = others.into_iter().chain([self.params.switch.isolation.message]).map(|size| size.0);
        let largest = others.fold(packets.largest(&self.carriers), u64::max);
        let bits = u128::from(8 * (largest + packets.gap.0));
        for link in self.fabric.links() {
            let ps = bits * 1_000_000_000_000 / u128::from(link.rate.0)
                + u128::from(link.delay.0)
                + u128::from(self.params.host.jitter.0);
            unless(ps <= u128::from(most.0), "fabric", || {
                let node = |port| &self.fabric.node(self.fabric.port(port).node).name;
                format!(
                    "a packet of {largest} B takes {:.1} s over the link from `{}` to `{}` of {:#}; at most {most:#} is possible",
                    ps as f64 * 1e-12,
                    node(link.a),
                    node(link.b),
                    link.rate,
                )
            })?;
        }
        Ok(())
    }

    fn check_nodes(&self) -> Result<(), FieldError> {
        for (number, node) in (0u32..).zip(self.fabric.nodes()) {
            let ports = self.fabric.ports_of(NodeId(number)).len();
            let (kind, most) = match node.kind {
                NodeKind::Switch => ("switch", MAX_PORTS),
                NodeKind::Host => ("host", MAX_NICS),
            };
            unless(ports <= most, "fabric", || {
                format!("{kind} `{}` has {ports} ports; at most {most} are possible", node.name)
            })?;
        }
        let horizon = self.params.horizon.unwrap_or_default();
        unless(horizon <= MAX_TIME, "simulation.horizon", || {
            format!("{horizon} is out of range; at most {MAX_TIME} is possible")
        })
    }

    fn check_transports(&self) -> Result<(), FieldError> {
        let transports = &self.transports;
        unless(transports.is_empty() || self.params.arithmetic == Arithmetic::Exact, "transport", || {
            "ns3 arithmetic knows RDMA only".into()
        })?;
        unless(transports.len() <= 255, "transport", || {
            format!("{} kinds; at most 255 are possible", transports.len())
        })?;
        for one in transports {
            range::check(one).map_err(|bad| bad.within("transport"))?;
            one.check().map_err(|bad| bad.within(format!("transport.{}", one.name())))?;
        }
        Transport::check_together(transports, &self.fabric, &self.flows)
    }

    /// Hypervisors and flows without a size need TCP or UDP, which send packets in any order and can stop.
    fn check_hypervisor(&self) -> Result<(), FieldError> {
        let plain = |carrier: &Carrier| match carrier {
            Carrier::Rdma(_) => false,
            Carrier::Transport(index) => matches!(self.transports[*index], Transport::Tcp(_) | Transport::Udp(_)),
        };
        let mut backlogged = self.flows.flows.iter().filter(|flow| flow.until.is_some());
        unless(backlogged.all(|flow| plain(&self.carriers[usize::from(flow.label)])), "workload", || {
            "backlogged flows are TCP's or UDP's; others have a size".into()
        })?;
        if self.params.hypervisor.is_none() {
            return Ok(());
        }
        unless(self.tenancy.is_some(), "hypervisor", || "there are no tenants".into())?;
        unless(self.carriers.iter().all(plain), "hypervisor", || "VMs behind a hypervisor speak TCP or UDP".into())
    }
}
