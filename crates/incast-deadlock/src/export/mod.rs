//! Rules in formats of other programs and switches.

mod csv;
mod json;
mod nftables;
mod p4;
mod read;
mod sonic;

use serde::{Deserialize, Serialize};

pub use csv::{read_csv, write_csv};
pub use json::{read_json, write_json};
pub use nftables::write_nftables;
pub use p4::{P4Ids, p4_program, write_p4runtime};
pub use sonic::{Sonic, write_sonic};

use crate::tag::Tag;

/// Names of a switch's ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortNames {
    /// Before the number: `Ethernet`, `eth`, `swp`.
    pub prefix: String,
    /// Number of port 0; default 0.
    #[serde(default)]
    pub first: u32,
    /// Step between ports, 1 or more; default 1. SONiC counts lanes: 4 or 8.
    #[serde(default = "one")]
    pub step: u32,
}

const fn one() -> u32 {
    1
}

impl PortNames {
    /// SONiC ports of 4 lanes: `Ethernet0`, `Ethernet4`, ….
    pub fn sonic() -> Self {
        Self { prefix: "Ethernet".into(), first: 0, step: 4 }
    }

    /// Linux ports (switchdev): `swp1`, `swp2`, ….
    pub fn linux() -> Self {
        Self { prefix: "swp".into(), first: 1, step: 1 }
    }

    /// Name of a port.
    pub fn name(&self, port: u32) -> String {
        format!("{}{}", self.prefix, u64::from(self.first) + u64::from(self.step) * u64::from(port))
    }

    fn check(
        &self,
        target: &'static str,
        ports: u32,
        takes: fn(&str) -> bool,
        allowed: &'static str,
    ) -> Result<(), ExportError> {
        let mut all = (0..ports).map(|port| (port, self.name(port)));
        match all.find(|(_, name)| !takes(name)) {
            Some((port, name)) => Err(ExportError::PortName { target, port, name, allowed }),
            None => Ok(()),
        }
    }
}

/// IFNAMSIZ of Linux without the final zero.
const LONGEST_NAME: usize = 15;

fn is_name(name: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(good)
}

/// Code points (DSCP, RFC 2474) of tags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodePoints {
    /// By tag; 0 to 63, all different.
    pub tags: Vec<u8>,
    /// For lossy packets; 0 to 63, different from `tags`.
    pub lossy: u8,
}

impl CodePoints {
    /// Class selectors (RFC 2474, section 4.2.2) for up to 7 tags: 8·t for tag t, 0 for lossy; the first three bits are the
    /// priority (our choice).
    pub fn class_selectors(tags: u8) -> Self {
        Self { tags: (1..=tags.min(7)).map(|tag| 8 * tag).collect(), lossy: 0 }
    }

    fn of(&self, tag: Tag) -> u8 {
        self.tags[usize::from(tag.0) - 1]
    }

    fn check(&self, target: &'static str, tags: u8) -> Result<(), ExportError> {
        if tags > MOST_TAGS {
            return Err(ExportError::TooManyTags { target, tags, most: MOST_TAGS });
        }
        if self.tags.len() < usize::from(tags) {
            return Err(ExportError::TooFewCodePoints { tags, given: self.tags.len() });
        }
        let all = || self.tags.iter().chain([&self.lossy]);
        if let Some(&code_point) = all().find(|&&code_point| code_point > 63) {
            return Err(ExportError::CodePoint { code_point, allowed: "0 to 63" });
        }
        match all().enumerate().find(|&(at, code_point)| all().take(at).any(|other| other == code_point)) {
            Some((_, &code_point)) => {
                let allowed = match (code_point == self.lossy, self.lossy) {
                    (true, 0) => "1 to 63, each once: lossy packets have 0",
                    (true, _) => "0 to 63, each once, and another than lossy packets have",
                    (false, _) => "each code point once",
                };
                Err(ExportError::CodePoint { code_point, allowed })
            }
            None => Ok(()),
        }
    }
}

/// Most lossless tags: PFC has 8 priorities (IEEE 802.1Qbb), one of them lossy.
pub const MOST_TAGS: u8 = 7;

/// Reason that a target cannot express rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// More tags than priorities.
    #[error(
        "{target}: {tags} lossless tags; at most {most} are possible, as PFC has 8 priorities and one has to be lossy"
    )]
    TooManyTags {
        /// Export.
        target: &'static str,
        /// Tags.
        tags: u8,
        /// Limit of tags.
        most: u8,
    },
    /// Tags without a code point.
    #[error("{given} code points for {tags} tags; each tag needs one")]
    TooFewCodePoints {
        /// Tags.
        tags: u8,
        /// Code points.
        given: usize,
    },
    /// Invalid code point.
    #[error("code point {code_point}; allowed: {allowed}")]
    CodePoint {
        /// Code point.
        code_point: u8,
        /// Valid values.
        allowed: &'static str,
    },
    /// Invalid name.
    #[error("{target}: port {port} would be named `{name}`; allowed: {allowed}")]
    PortName {
        /// Export.
        target: &'static str,
        /// Port, from 0.
        port: u32,
        /// Name.
        name: String,
        /// Valid names.
        allowed: &'static str,
    },
    /// Host, not a switch.
    #[error("{node} is no switch of these rules")]
    NoSwitch {
        /// Name.
        node: String,
    },
}

/// Error in a rules file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}{}", .nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
pub struct RulesError {
    /// `line 7`, or `switches[3].rules[4].in`.
    pub place: String,
    /// Fault and valid values.
    pub what: String,
    /// Closest valid name.
    pub nearest: Option<String>,
}
