use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::{GeneratorError, delay_1us, rate_100g};
use crate::fabric::{Fabric, FabricBuilder};
use crate::range::{above, delay, least};
use crate::units::{Rate, Time};

/// Two switches, `left` and `right`, joined by one link, with hosts on both; left hosts are numbered first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Hosts on the left switch, 1 or more.
    #[schemars(transform = least(1))]
    pub left: u32,
    /// Hosts on the right switch, 1 or more.
    #[schemars(transform = least(1))]
    pub right: u32,
    /// Rate of the hosts' links. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub host_rate: Rate,
    /// Rate of the link between the switches. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub bottleneck_rate: Rate,
    /// One-way propagation delay of every link, up to 1 s. Default 1us (our choice).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub delay: Time,
}

impl Dumbbell {
    /// Spec with default links.
    pub const fn new(left: u32, right: u32) -> Self {
        Self { left, right, host_rate: rate_100g(), bottleneck_rate: rate_100g(), delay: delay_1us() }
    }

    /// Builds the fabric.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        let check = Check("dumbbell");
        check.ranges(self)?;
        let hosts = u64::from(self.left) + u64::from(self.right);
        check.size(hosts + 2, hosts + 1)?;
        let mut builder = FabricBuilder::new();
        let hosts: Vec<_> = (0..hosts).map(|h| builder.host(format!("h{h}"))).collect();
        let (left, right) = (builder.switch("left", 1), builder.switch("right", 1));
        for (h, &host) in hosts.iter().enumerate() {
            let switch = if h < self.left as usize { left } else { right };
            builder.link(host, switch, self.host_rate, self.delay);
        }
        builder.link(left, right, self.bottleneck_rate, self.delay);
        Ok(builder.finish()?)
    }
}
