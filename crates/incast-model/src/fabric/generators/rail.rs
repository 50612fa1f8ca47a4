use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::{GeneratorError, delay_1us, one, rate_400g};
use crate::fabric::{Fabric, FabricBuilder, NodeId};
use crate::range::{above, delay, least};
use crate::units::{Rate, Time};

/// Servers of several GPUs with a NIC each: NIC i of every server of a pod is on rail switch i of that pod; every rail
/// switch is joined to every spine. Without spines it is the rail-only fabric of Wang et al. (HotI 2024).
///
/// A host is a GPU with its NIC: GPU i of server s is `h{s·gpus_per_server + i}`. Rail switch i of pod p is
/// `rail{p·gpus_per_server + i}`, spines are `spine0`, …, the NVLink switch of server s is `nvlink{s}`.
///
/// GPUs of one server reach each other over NVLink. Traffic to another rail of another server crosses a spine; over NVLink
/// and the GPU on the right rail (PXN) it goes only with `nvlink.forward`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RailOptimized {
    /// Number of servers, 1 or more.
    #[schemars(transform = least(1))]
    pub servers: u32,
    /// GPUs and NICs of each server, 1 to 1024, at least 2 GPUs in all. Default 8 (DGX H100).
    #[serde(default = "eight")]
    #[schemars(transform = least(1).most(1024))]
    pub gpus_per_server: u32,
    /// Servers in each pod, a divisor of `servers`. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers_per_pod: Option<u32>,
    /// Number of spine switches. 0, for rails that are not joined, needs one pod and `nvlink.forward`.
    pub spines: u32,
    /// Parallel links between each rail switch and each spine, 1 or more. Default 1 (our choice).
    #[serde(default = "one")]
    #[schemars(transform = least(1))]
    pub uplinks_per_pair: u32,
    /// Rate of each NIC. Default 400Gbps (DGX H100).
    #[serde(default = "rate_400g")]
    #[schemars(transform = above("0bps"))]
    pub nic_rate: Rate,
    /// Rate of each link between rail switch and spine. Default 400Gbps (our choice).
    #[serde(default = "rate_400g")]
    #[schemars(transform = above("0bps"))]
    pub uplink_rate: Rate,
    /// One-way propagation delay of the links outside servers, up to 1 s. Default 1us (our choice).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub delay: Time,
    /// NVLink switch of each server with several GPUs; `"none"`: traffic within a server uses the NICs. A workload's load
    /// counts NICs only. Default: a switch with the defaults of its table (DGX H100).
    #[serde(default = "nvlink_switch", deserialize_with = "table_or_none")]
    #[schemars(schema_with = "table_or_none_schema")]
    pub nvlink: Option<NvLink>,
}

/// Switch that joins the GPUs of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NvLink {
    /// Rate of each GPU to its NVLink switch, one way. Default 3600Gbps (fourth generation: half of the 900 GB/s of
    /// NVIDIA's H100 data sheet, which counts both ways).
    #[serde(default = "nvlink_rate")]
    #[schemars(transform = above("0bps"))]
    pub rate: Rate,
    /// One-way delay between a GPU and its NVLink switch, up to 1 s. Default 250ns (our choice).
    #[serde(default = "nvlink_delay")]
    #[schemars(transform = delay())]
    pub delay: Time,
    /// If true, GPUs forward between NVLink and their NIC, as a switch `gpu{i}` with the host on a link without delay
    /// at the rates of NIC and NVLink together (our choice). Default false. Equally long paths over NVLink and spines
    /// share the flows.
    #[serde(default)]
    pub forward: bool,
}

const fn eight() -> u32 {
    8
}

const fn nvlink_rate() -> Rate {
    Rate::gbps(3600)
}

const fn nvlink_delay() -> Time {
    Time::ns(250)
}

const fn nvlink_switch() -> Option<NvLink> {
    Some(NvLink { rate: nvlink_rate(), delay: nvlink_delay(), forward: false })
}

fn table_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NvLink>, D::Error> {
    struct TableOrNone;
    impl<'de> Visitor<'de> for TableOrNone {
        type Value = Option<NvLink>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table such as { rate = \"3600Gbps\" }, or \"none\"")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            let unknown = || {
                format!("unknown variant `{text}`, expected one of `none`, `a table such as {{ rate = \"3600Gbps\" }}`")
            };
            if text == "none" { Ok(None) } else { Err(E::custom(unknown())) }
        }
        fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
            NvLink::deserialize(MapAccessDeserializer::new(table)).map(Some)
        }
    }
    deserializer.deserialize_any(TableOrNone)
}

fn table_or_none_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [generator.subschema_for::<NvLink>(), { "type": "string", "enum": ["none"] }] })
}

impl Default for NvLink {
    fn default() -> Self {
        Self { rate: nvlink_rate(), delay: nvlink_delay(), forward: false }
    }
}

const CHECK: Check = Check("rail_optimized");

impl RailOptimized {
    /// Spec of one pod of 8-GPU servers with NVLink and default links.
    pub const fn new(servers: u32, spines: u32) -> Self {
        Self {
            servers,
            gpus_per_server: eight(),
            servers_per_pod: None,
            spines,
            uplinks_per_pair: one(),
            nic_rate: rate_400g(),
            uplink_rate: rate_400g(),
            delay: delay_1us(),
            nvlink: nvlink_switch(),
        }
    }

    /// Builds the fabric. A host's first port is its NIC.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        let pods = self.check()?;
        let per_server = self.gpus_per_server as usize;
        let hosts = self.servers as usize * per_server;
        let mut builder = FabricBuilder::new();
        let hosts: Vec<_> = (0..hosts).map(|h| builder.host(format!("h{h}"))).collect();
        let nvlink = self.nvlink.as_ref().filter(|_| per_server > 1);
        let forward = nvlink.filter(|nvlink| nvlink.forward);
        let gpus: Vec<NodeId> = match forward {
            Some(_) => (0..hosts.len()).map(|h| builder.switch(format!("gpu{h}"), 1)).collect(),
            None => hosts.clone(),
        };
        let base = if forward.is_some() { 2 } else { 1 };
        let servers = if nvlink.is_some() { self.servers } else { 0 };
        let switches: Vec<_> = (0..servers).map(|s| builder.switch(format!("nvlink{s}"), base)).collect();
        let rail_tier = if nvlink.is_some() { base + 1 } else { base };
        let rails = pods as usize * per_server;
        let rails: Vec<_> = (0..rails).map(|r| builder.switch(format!("rail{r}"), rail_tier)).collect();
        let spines: Vec<_> = (0..self.spines).map(|s| builder.switch(format!("spine{s}"), rail_tier + 1)).collect();
        if let Some(nvlink) = forward {
            let rate = Rate(self.nic_rate.0.saturating_add(nvlink.rate.0));
            for (&host, &gpu) in hosts.iter().zip(&gpus) {
                builder.link(host, gpu, rate, Time::ZERO);
            }
        }
        let per_pod = self.servers as usize / pods as usize * per_server;
        for (i, &gpu) in gpus.iter().enumerate() {
            let rail = i / per_pod * per_server + i % per_server;
            builder.link(gpu, rails[rail], self.nic_rate, self.delay);
        }
        if let Some(nvlink) = nvlink {
            for (i, &gpu) in gpus.iter().enumerate() {
                builder.link(gpu, switches[i / per_server], nvlink.rate, nvlink.delay);
            }
        }
        for &rail in &rails {
            for &spine in &spines {
                for _ in 0..self.uplinks_per_pair {
                    builder.link(rail, spine, self.uplink_rate, self.delay);
                }
            }
        }
        let own = gpus.iter().filter(|_| forward.is_some());
        let inside = own.chain(&switches).copied().collect();
        Ok(builder.finish()?.with_gpus(self.gpus_per_server, inside))
    }

    fn check(&self) -> Result<u32, GeneratorError> {
        CHECK.ranges(self)?;
        let per_pod = self.servers_per_pod.unwrap_or(self.servers);
        if per_pod == 0 || !self.servers.is_multiple_of(per_pod) {
            return Err(CHECK.error("servers_per_pod", per_pod, format!("a divisor of {} servers", self.servers)));
        }
        let pods = self.servers / per_pod;
        let forward = self.nvlink.as_ref().is_some_and(|nvlink| nvlink.forward && self.gpus_per_server > 1);
        if self.spines == 0 && (pods > 1 || !forward && self.gpus_per_server > 1) {
            let why = "1 or more; 0 needs one pod of servers and nvlink.forward, which then joins the rails";
            return Err(CHECK.error("spines", self.spines, why));
        }
        let hosts = u64::from(self.servers) * u64::from(self.gpus_per_server);
        let rails = u64::from(pods) * u64::from(self.gpus_per_server);
        let uplinks = rails.saturating_mul(u64::from(self.spines)).saturating_mul(u64::from(self.uplinks_per_pair));
        let own = if forward { 2 } else { 1 };
        let nodes = (hosts * own).saturating_add(rails + u64::from(self.servers) + u64::from(self.spines));
        CHECK.size(nodes, uplinks.saturating_add(hosts * (own + 1)))?;
        Ok(pods)
    }
}
