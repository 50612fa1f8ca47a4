use serde::{Deserialize, Serialize};

use super::{ClosError, ClosScheme, Greedy, Placement, TagError};
use crate::elp::{Elp, ElpError};
use crate::rules::Rules;
use crate::verify::{Verification, verify_classes};
use crate::wiring::Wiring;

/// Choice of tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tagging {
    /// Algorithm 1: hop numbers.
    PerHop,
    /// Algorithm 2: hop numbers merged greedily.
    Greedy(Greedy),
    /// Bounces, for fabrics with tiers.
    Clos(ClosScheme),
}

/// Verified rules.
#[derive(Debug, Clone)]
pub struct Tagged {
    /// Rules of all switches.
    pub rules: Rules,
    /// Result of the verification.
    pub verification: Verification,
}

/// Reason that there are no rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaggingError {
    /// Impossible paths.
    #[error(transparent)]
    Paths(#[from] ElpError),
    /// Paths that cannot be tagged.
    #[error(transparent)]
    Tags(#[from] TagError),
    /// Rules that do not hold for these paths.
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
    /// Returns verified rules that keep all packets on these paths lossless, without cyclic buffer dependencies.
    ///
    /// # Errors
    /// Impossible paths, or rules that make them lossy (Clos with too few bounces).
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
