use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::{GeneratorError, delay_1us, rate_100g};
use crate::fabric::{Fabric, FabricBuilder};
use crate::range::{above, delay, least};
use crate::units::{Rate, Time};

/// Hosts around one switch `s0`: the smallest fabric with an incast. Hosts are `h0`, `h1`, ….
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of hosts, 2 or more.
    #[schemars(transform = least(2))]
    pub hosts: u32,
    /// Rate of every link. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub rate: Rate,
    /// One-way propagation delay of every link, up to 1 s. Default 1us (our choice).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub delay: Time,
}

impl Star {
    /// Spec with default links.
    pub const fn new(hosts: u32) -> Self {
        Self { hosts, rate: rate_100g(), delay: delay_1us() }
    }

    /// Builds the fabric.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        let check = Check("star");
        check.ranges(self)?;
        check.size(u64::from(self.hosts) + 1, u64::from(self.hosts))?;
        let mut builder = FabricBuilder::new();
        let hosts: Vec<_> = (0..self.hosts).map(|h| builder.host(format!("h{h}"))).collect();
        let switch = builder.switch("s0", 1);
        for host in hosts {
            builder.link(host, switch, self.rate, self.delay);
        }
        Ok(builder.finish()?)
    }
}
