use incast_model::fabric::{Fabric, NodeId, NodeKind};
use incast_model::field::FieldError;
use incast_model::flow::FlowSet;
use incast_model::units::{Bytes, Rate};

use crate::guards::isolation::scaled;
use crate::host::ClassBy;
use crate::plan::BufferPlan;
use crate::setup::{Arithmetic, Params};

fn refuse(field: &str, message: impl Into<String>) -> Result<(), FieldError> {
    Err(FieldError::new(field, message).within("switch.isolation"))
}

impl Params {
    /// Checks congestion isolation, with packets of up to `largest` bytes.
    pub fn check_isolation(&self, fabric: &Fabric, flows: &FlowSet, largest: u64) -> Result<(), FieldError> {
        let isolation = &self.switch.isolation;
        if !isolation.enabled {
            return Ok(());
        }
        self.check_isolation_company()?;
        let queue = isolation.queue;
        let lossless = &self.switch.lossless;
        if !lossless.contains(&queue) {
            let message = format!(
                "{queue} is a lossy priority: isolated flows need PFC of their own; one of switch.lossless, {lossless:?}"
            );
            return refuse("queue", message);
        }
        if lossless.iter().all(|&prio| prio == queue) {
            let message =
                format!("{queue} is the only lossless priority; there must be another that flows are isolated from");
            return refuse("queue", message);
        }
        let control =
            [("rdma.ack_priority", self.rdma.ack_priority), ("rdma.cnp_priority", Some(self.rdma.cnp_priority))];
        if let Some((field, _)) = control.iter().find(|(_, prio)| *prio == Some(queue)) {
            return refuse("queue", format!("{queue} is {field}; isolated flows need a priority of their own"));
        }
        self.check_isolated_classes()?;
        if flows.flows.iter().any(|flow| flow.priority == queue) {
            return refuse("queue", format!("{queue} is the priority of flows; isolated flows need one of their own"));
        }
        if !flows.flows.iter().any(|flow| lossless.contains(&flow.priority)) {
            let message = format!(
                "all flows have lossy priorities, from which none is isolated; some with one of switch.lossless, {lossless:?}"
            );
            return refuse("enabled", message);
        }
        self.check_message_threshold(fabric, largest)
    }

    fn check_isolated_classes(&self) -> Result<(), FieldError> {
        let (classes, queue, lossless) = (&self.host.classes, self.switch.isolation.queue, &self.switch.lossless);
        if classes.by == ClassBy::Given {
            return Ok(());
        }
        for (name, prio) in [("mice", classes.mice), ("elephants", classes.elephants)] {
            let why = if prio == queue {
                format!("{prio} is the priority of isolated flows, switch.isolation.queue")
            } else if !lossless.contains(&prio) {
                format!("{prio} is a lossy priority, from which no flow is isolated")
            } else {
                continue;
            };
            let others: Vec<u8> = lossless.iter().copied().filter(|&one| one != queue).collect();
            let message = format!("{why}; one of switch.lossless without that queue, {others:?}");
            return Err(FieldError::new(format!("host.classes.{name}"), message));
        }
        Ok(())
    }

    /// Messages must come before pauses.
    fn check_message_threshold(&self, fabric: &Fabric, largest: u64) -> Result<(), FieldError> {
        let above = self.switch.isolation.message_above;
        for index in 0..fabric.nodes().len() as u32 {
            let node = NodeId(index);
            if fabric.node(node).kind != NodeKind::Switch {
                continue;
            }
            let plan = BufferPlan::new(fabric, self, largest, node)?;
            for port in fabric.ports_of(node) {
                let rate = fabric.rate(port);
                let xoff = plan.lone_xoff(fabric, self, rate) + self.switch.reserve.0;
                if u64::from(scaled(above, rate.0)) >= xoff {
                    let most = Bytes(xoff.saturating_sub(1) * Rate::gbps(100).0 / rate.0.max(1));
                    let name = &fabric.node(node).name;
                    let message = format!(
                        "{above} at 100 Gb/s is not below the {xoff} B at which a port of {rate} of {name} pauses its peer; at most {most}"
                    );
                    return refuse("message_above", message);
                }
            }
        }
        Ok(())
    }

    fn check_isolation_company(&self) -> Result<(), FieldError> {
        if self.switch.paused_priorities() == 0 {
            return refuse("enabled", "flows are isolated from each other's pauses, and there is no PFC here");
        }
        if self.arithmetic == Arithmetic::Ns3 {
            return refuse("enabled", "ns3 arithmetic knows no congestion isolation");
        }
        if self.switch.tagging.enabled {
            let message = "it does not go together with switch.tagging: both write a packet's priority, and one that lost its tag \
                           could close the cycles that tags keep open";
            return refuse("enabled", message);
        }
        Ok(())
    }
}
