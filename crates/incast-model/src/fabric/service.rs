use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, FabricBuilder, HostId, NodeId, NodeKind};
use crate::field::FieldError;
use crate::nearest::nearest;
use crate::range::{self, above, delay};
use crate::units::{Rate, Time};

/// Host added to the fabric for a service. Workload patterns leave it out; it is numbered after all other hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Name of the host; unique.
    pub name: String,
    /// Switch that the host is on, by name.
    pub at: String,
    /// Rate of its link. Default: that of the first host on the switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above("0bps"))]
    pub rate: Option<Rate>,
    /// One-way propagation delay of its link, up to 1 s. Default: that of the first host on the switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = delay())]
    pub delay: Option<Time>,
}

impl Fabric {
    /// Adds service hosts.
    pub fn with_services(&self, services: &[Service]) -> Result<Self, FieldError> {
        if services.is_empty() {
            return Ok(self.clone());
        }
        let mut builder = self.to_builder();
        let entry = |index: usize| format!("service[{index}]");
        for (index, service) in services.iter().enumerate() {
            let taken = self.nodes().iter().any(|node| node.name == service.name)
                || services[..index].iter().any(|other| other.name == service.name);
            if taken {
                let name = &service.name;
                let message = format!("the name `{name}` is taken already; names of hosts and switches are unique");
                return Err(FieldError::new("name", message).within(entry(index)));
            }
            let (at, rate, delay) = self.plug(service).map_err(|error| error.within(entry(index)))?;
            let host = builder.host(&service.name);
            builder.link(host, at, rate, delay);
        }
        let fabric = builder.finish().map_err(|error| FieldError::new(entry(services.len() - 1), error.to_string()))?;
        let fabric = fabric.serving(self.services() + services.len());
        Ok(fabric.serving_vms(self.servers().to_vec(), self.slots()).with_gpus(self.gpus(), self.inside().to_vec()))
    }

    fn to_builder(&self) -> FabricBuilder {
        let mut builder = FabricBuilder::new();
        for node in self.nodes() {
            match node.kind {
                NodeKind::Host => builder.host(&node.name),
                NodeKind::Switch => builder.switch(&node.name, node.tier),
            };
        }
        for link in self.links() {
            builder.link(self.port(link.a).node, self.port(link.b).node, link.rate, link.delay);
        }
        builder
    }

    fn plug(&self, service: &Service) -> Result<(NodeId, Rate, Time), FieldError> {
        range::check(service)?;
        let name = &service.at;
        let switches = || self.switches().map(|switch| self.node(switch).name.as_str());
        let Some(at) = self.switches().find(|&switch| self.node(switch).name == *name) else {
            let nearest = nearest(name, switches()).map(str::to_owned);
            return Err(FieldError { nearest, ..FieldError::new("at", format!("there is no switch `{name}`")) });
        };
        let mut ports = self.ports_of(at);
        let usual = ports.find(|&port| self.node(self.neighbour(port)).kind == NodeKind::Host);
        let missing = |field| FieldError::new(field, format!("no host is on {name}: `{field}` has no default there"));
        let rate = service.rate.or(usual.map(|port| self.rate(port))).ok_or_else(|| missing("rate"))?;
        let delay = service.delay.or(usual.map(|port| self.delay(port))).ok_or_else(|| missing("delay"))?;
        Ok((at, rate, delay))
    }

    /// Hosts without services: the ends of a workload.
    pub fn endpoints(&self) -> &[NodeId] {
        &self.hosts()[..self.hosts().len() - self.services()]
    }

    /// Returns true for a service host.
    pub fn is_service(&self, host: HostId) -> bool {
        host.index() >= self.endpoints().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::generators::LeafSpine;

    fn arbiter(at: &str) -> Service {
        Service { name: "arbiter".into(), at: at.into(), rate: None, delay: None }
    }

    #[test]
    fn a_service_is_the_last_host() {
        let plain = LeafSpine::new(3, 2, 4).build().unwrap();
        let fabric = plain.with_services(&[arbiter("leaf1")]).unwrap();
        assert_eq!((fabric.hosts().len(), fabric.endpoints().len()), (13, 12));
        assert_eq!(fabric.endpoints(), plain.hosts());
        assert!(fabric.is_service(HostId(12)) && !fabric.is_service(HostId(11)));
        let port = fabric.ports_of(fabric.hosts()[12]).next().unwrap();
        assert_eq!(fabric.node(fabric.neighbour(port)).name, "leaf1");
        let first = plain.ports_of(plain.hosts()[0]).next().unwrap();
        assert_eq!((fabric.rate(port), fabric.delay(port)), (plain.rate(first), plain.delay(first)));
        assert_eq!(plain.with_services(&[]).unwrap(), plain);
        let slow = Service { rate: Some(Rate::gbps(1)), delay: Some(Time::us(3)), ..arbiter("spine0") };
        let fabric = fabric.with_services(&[Service { name: "clock".into(), ..slow }]).unwrap();
        assert_eq!((fabric.endpoints().len(), fabric.services()), (12, 2));
    }

    #[test]
    fn services_that_do_not_fit_are_refused() {
        let plain = LeafSpine::new(3, 2, 4).build().unwrap();
        let refused = |services: &[Service]| plain.with_services(services).unwrap_err().to_string();
        assert!(refused(&[arbiter("leaf7")]).contains("`leaf7`; did you mean `leaf"));
        assert_eq!(refused(&[arbiter("h0")]), "service[0].at: there is no switch `h0`");
        assert!(
            refused(&[arbiter("leaf0"), arbiter("leaf1")]).starts_with("service[1].name: the name `arbiter` is taken")
        );
        assert!(
            refused(&[Service { name: "h3".into(), ..arbiter("leaf0") }])
                .starts_with("service[0].name: the name `h3` is taken")
        );
        assert_eq!(refused(&[arbiter("spine0")]), "service[0].rate: no host is on spine0: `rate` has no default there");
        assert_eq!(
            refused(&[Service { rate: Some(Rate::ZERO), ..arbiter("leaf0") }]),
            "service[0].rate = 0bps: must be more than 0bps"
        );
        let far = Service { delay: Some(Time::ms(1001)), ..arbiter("leaf0") };
        assert_eq!(refused(&[far]), "service[0].delay = 1.001s: must be at most 1s");
    }
}
