use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::{GeneratorError, delay_1us, rate_100g};
use crate::fabric::{Fabric, FabricBuilder};
use crate::range::{above, delay, least};
use crate::units::{Rate, Time};

/// BCube(n, k) (Guo et al., SIGCOMM 2009): n^(k+1) servers with k + 1 ports, and k + 1 levels of n^k switches with n
/// ports. The number of server `h` in base n has k + 1 digits. The n servers that differ in digit l only share switch
/// `level{l}_{i}`; i is their number without that digit.
///
/// In BCube servers forward; hosts here do not. So a server is a host `h{i}` behind its own switch `server{i}`, which
/// has the server's ports (our choice). That switch has the buffer and rules of every switch; slower forwarding by a
/// CPU or NIC is not modelled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BCube {
    /// Ports of each switch, 2 to 1024.
    #[schemars(transform = least(2).most(1024))]
    pub n: u32,
    /// Highest level, 0 (one switch) to 8; servers have k + 1 ports.
    #[schemars(transform = least(0).most(8))]
    pub k: u32,
    /// Rate of each link between server and switch. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub rate: Rate,
    /// One-way propagation delay of each link between server and switch, up to 1 s. Default 1us (our choice).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub delay: Time,
    /// Rate between a host and its server's ports. Default: (k + 1) · `rate`, which a host can fill (our choice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above("0bps"))]
    pub internal_rate: Option<Rate>,
    /// One-way delay between a host and its server's ports, up to 1 s. Default 100ns (our choice).
    #[serde(default = "internal_delay")]
    #[schemars(transform = delay())]
    pub internal_delay: Time,
}

const fn internal_delay() -> Time {
    Time::ns(100)
}

impl BCube {
    /// Spec with default links.
    pub const fn new(n: u32, k: u32) -> Self {
        Self { n, k, rate: rate_100g(), delay: delay_1us(), internal_rate: None, internal_delay: internal_delay() }
    }

    /// Builds the fabric. Level l has tier l + 2: each level is the bisection of those below.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        let check = Check("bcube");
        check.ranges(self)?;
        let (n, levels) = (u64::from(self.n), u64::from(self.k) + 1);
        let per_level = n.saturating_pow(self.k);
        let servers = per_level.saturating_mul(n);
        let nodes = servers.saturating_mul(2).saturating_add(levels.saturating_mul(per_level));
        check.size(nodes, servers.saturating_mul(levels + 1))?;
        let sum = Rate(self.rate.0.saturating_mul(levels));
        let internal_rate = self.internal_rate.unwrap_or(sum);
        let mut builder = FabricBuilder::new();
        let hosts: Vec<_> = (0..servers).map(|h| builder.host(format!("h{h}"))).collect();
        let own: Vec<_> = (0..servers).map(|h| builder.switch(format!("server{h}"), 1)).collect();
        let level = |level: u64| (0..per_level).map(move |i| (level, i));
        let switches: Vec<_> = (0..levels)
            .flat_map(level)
            .map(|(level, i)| builder.switch(format!("level{level}_{i}"), level as u8 + 2))
            .collect();
        for (&host, &own) in hosts.iter().zip(&own) {
            builder.link(host, own, internal_rate, self.internal_delay);
        }
        for (server, &own) in (0..servers).zip(&own) {
            for level in 0..levels {
                let switch = level * per_level + without_digit(server, n, level as u32);
                builder.link(own, switches[switch as usize], self.rate, self.delay);
            }
        }
        Ok(builder.finish()?)
    }
}

const fn without_digit(number: u64, base: u64, digit: u32) -> u64 {
    let unit = base.pow(digit);
    number / (unit * base) * unit + number % unit
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_are_left_out() {
        let out = |digit| super::without_digit(0o7321, 8, digit);
        assert_eq!([out(0), out(1), out(2), out(3)], [0o732, 0o731, 0o721, 0o321]);
    }
}
