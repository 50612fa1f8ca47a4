use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Check, MAX_NODES};
use super::{GeneratorError, delay_1us, rate_100g};
use crate::fabric::{Fabric, FabricBuilder, NodeId, tiers};
use crate::field::FieldError;
use crate::nearest::nearest;
use crate::range::{above, delay};
use crate::units::{Rate, Time};

/// Fabric written out link by link. Ports of a node are numbered in the order of its links.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomFabric {
    /// Number of hosts (`h0`, `h1`, …), 2 or more, or their names.
    pub hosts: Hosts,
    /// Names of the switches. Default none: two hosts joined directly.
    #[serde(default)]
    pub switches: Vec<String>,
    /// Full-duplex links; several between two nodes are parallel links.
    pub links: Vec<CustomLink>,
}

/// Hosts of a custom fabric: their number, or their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a number of hosts or a list of their names")]
pub enum Hosts {
    /// Number of hosts, named `h0`, `h1`, ….
    Count(u32),
    /// Names of the hosts.
    Names(Vec<String>),
}

/// Full-duplex link of a custom fabric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomLink {
    /// Node at one end.
    pub a: String,
    /// Node at the other end.
    pub b: String,
    /// Rate of each direction. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub rate: Rate,
    /// One-way propagation delay, up to 1 s. Default 1us (our choice).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub delay: Time,
}

const CHECK: Check = Check("custom");

impl CustomFabric {
    /// Builds the fabric; a switch's tier is its distance from the nearest host.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        CHECK.ranges(self)?;
        let hosts = self.host_names()?;
        let nodes = hosts.len() as u64 + self.switches.len() as u64;
        CHECK.size(nodes, self.links.len() as u64)?;
        let ids = self.ids(&hosts)?;
        let mut ends = Vec::with_capacity(self.links.len());
        for (index, link) in self.links.iter().enumerate() {
            let find = |end: &str, name: &str| {
                ids.get(name).copied().ok_or_else(|| {
                    let unknown = CHECK.fault(format!("links[{index}].{end}"), format!("there is no node `{name}`"));
                    FieldError { nearest: self.closest(&hosts, name), ..unknown }
                })
            };
            ends.push((find("a", &link.a)?, find("b", &link.b)?));
        }
        let is_host: Vec<bool> = (0..nodes).map(|node| node < hosts.len() as u64).collect();
        let tiers = tiers(&is_host, ends.iter().map(|&(a, b)| (a.index(), b.index())));
        let mut builder = FabricBuilder::new();
        for name in &hosts {
            builder.host(name.clone());
        }
        for (name, &tier) in self.switches.iter().zip(&tiers[hosts.len()..]) {
            builder.switch(name.clone(), tier);
        }
        for (&(a, b), link) in ends.iter().zip(&self.links) {
            builder.link(a, b, link.rate, link.delay);
        }
        Ok(builder.finish()?)
    }

    fn host_names(&self) -> Result<Vec<String>, GeneratorError> {
        let count = match &self.hosts {
            Hosts::Count(count) => u64::from(*count),
            Hosts::Names(names) => names.len() as u64,
        };
        if !(2..=MAX_NODES).contains(&count) {
            return Err(CHECK.error("hosts", count, format!("2 to {MAX_NODES} hosts")));
        }
        Ok(match &self.hosts {
            Hosts::Count(count) => (0..*count).map(|h| format!("h{h}")).collect(),
            Hosts::Names(names) => names.clone(),
        })
    }

    fn ids<'a>(&'a self, hosts: &'a [String]) -> Result<HashMap<&'a str, NodeId>, GeneratorError> {
        let mut ids = HashMap::new();
        for (index, name) in hosts.iter().chain(&self.switches).enumerate() {
            let field = match index.checked_sub(hosts.len()) {
                None => format!("hosts[{index}]"),
                Some(switch) => format!("switches[{switch}]"),
            };
            if name.is_empty() {
                return Err(CHECK.error(field, "empty", "a name"));
            }
            if ids.insert(name.as_str(), NodeId(index as u32)).is_some() {
                let message = format!("the name `{name}` is taken already; names of hosts and switches are unique");
                return Err(CHECK.fault(field, message).into());
            }
        }
        Ok(ids)
    }

    fn closest(&self, hosts: &[String], name: &str) -> Option<String> {
        nearest(name, hosts.iter().chain(&self.switches).map(String::as_str)).map(String::from)
    }
}
