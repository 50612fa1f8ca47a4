use serde::{Deserialize, Serialize};

use super::TagError;
use crate::elp::{ElpError, Tiers};
use crate::rules::Rules;
use crate::tag::Tag;
use crate::wiring::Wiring;

/// Tags that count bounces (Hu et al., CoNEXT 2017, section 4): a bounce adds one; a bounce with the last tag makes packets
/// lossy. Lossless paths with k bounces need at least k + 1 tags.
///
/// Class j of n sends with tag j and survives k bounces: n + k tags instead of n · (k + 1), but bounced packets of class j
/// share queues with class j + 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosScheme {
    /// Bounces that every class survives (the paper's k).
    pub bounces: u8,
    /// Traffic classes, 1 or more (n); default 1.
    #[serde(default = "one")]
    pub classes: u8,
}

const fn one() -> u8 {
    1
}

/// Reason that a fabric cannot have these rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClosError {
    /// A fabric without tiers.
    #[error(transparent)]
    Tiers(#[from] ElpError),
    /// Too many tags.
    #[error(transparent)]
    Tags(#[from] TagError),
}

impl ClosScheme {
    /// Scheme for one class.
    pub const fn new(bounces: u8) -> Self {
        Self { bounces, classes: one() }
    }

    /// Number of tags: n + k.
    pub fn tags(&self) -> Result<u8, TagError> {
        let Self { bounces, classes } = *self;
        match classes.checked_add(bounces) {
            Some(tags) if classes > 0 => Ok(tags),
            _ => Err(TagError::Classes { classes, bounces }),
        }
    }

    /// Rules for every turn, even off expected paths and back to the port of arrival.
    pub fn rules(&self, wiring: &Wiring<'_>) -> Result<Rules, ClosError> {
        let tags = self.tags()?;
        let tiers = Tiers::new(wiring)?;
        let mut rules = Rules::new(wiring);
        for switch in wiring.switches() {
            for input in wiring.of(switch) {
                for output in wiring.of(switch) {
                    let more = u8::from(tiers.bounce(input, output));
                    for tag in Tag::all(tags - more) {
                        rules.insert(tag, input, output, Tag(tag.0 + more)).expect("each turn comes once");
                    }
                }
            }
        }
        Ok(rules)
    }
}
