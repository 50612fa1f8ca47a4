//! From paths to rules that are known to hold.

use serde::{Deserialize, Serialize};

use super::{ClosError, ClosScheme, Greedy, Placement, TagError};
use crate::elp::{Elp, ElpError};
use crate::rules::Rules;
use crate::verify::{Verification, verify_classes};
use crate::wiring::Wiring;

/// How tags are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tagging {
    /// Algorithm 1: the number of the hop.
    PerHop,
    /// Algorithm 2: hop numbers merged greedily.
    Greedy(Greedy),
    /// The number of bounces, for fabrics with tiers.
    Clos(ClosScheme),
}

/// Rules, and what their verification looked at.
#[derive(Debug, Clone)]
pub struct Tagged {
    /// The rules of all switches.
    pub rules: Rules,
    /// That they hold.
    pub verification: Verification,
}

/// Why there are no rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaggingError {
    /// The paths cannot be on this fabric.
    #[error(transparent)]
    Paths(#[from] ElpError),
    /// The paths cannot be tagged.
    #[error(transparent)]
    Tags(#[from] TagError),
    /// The rules are not for these paths.
    #[error("these rules do not hold for these paths: {0}")]
    NotHeld(Box<Verification>),
}

impl From<ClosError> for TaggingError {
    fn from(error: ClosError) -> Self {
        match error {
            ClosError::Tiers(error) => Self::Paths(error),
            ClosError::Tags(error) => Self::Tags(error),
        }
    }
}

impl Tagging {
    /// Rules that keep all packets on these paths lossless and make no cyclic buffer dependency, verified.
    ///
    /// # Errors
    /// Paths that cannot be, or rules that do not keep them lossless (of a Clos scheme with fewer bounces than the paths).
    pub fn rules(&self, wiring: &Wiring<'_>, elp: &Elp<'_>) -> Result<Tagged, TaggingError> {
        let (rules, classes) = match self {
            Self::PerHop => (Placement::per_hop(&elp.hops(wiring)?)?.rules(), 1),
            Self::Greedy(greedy) => (greedy.place(&elp.hops(wiring)?)?.rules(), 1),
            Self::Clos(clos) => (clos.rules(wiring)?, clos.classes),
        };
        let verification = verify_classes(wiring, &rules, elp, classes)?;
        match verification.holds() {
            true => Ok(Tagged { rules, verification }),
            false => Err(TaggingError::NotHeld(Box::new(verification))),
        }
    }
}
