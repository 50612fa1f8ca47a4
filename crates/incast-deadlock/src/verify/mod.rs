//! Whether rules do what they are for, looked at without regard to how they were made.
//!
//! Nothing here is shared with the algorithms but the rules and the description of the paths: cycles are looked for by
//! taking away what has no predecessor (Kahn, CACM 1962), and every path is walked through the rules, packet by packet.
//!
//! Tagger's two conditions are sufficient. [`Circularity`] is exact: it looks for cycles among all tags, of what packets
//! can come to; and it takes several sets of rules, for switches that change from one to another.

mod acyclic;
mod fit;
mod trace;
mod walk;
mod whole;

use std::fmt;

use serde::Serialize;

use crate::elp::{Elp, ElpError};
use crate::names::{Cycle, NamedPath, Turn};
use crate::rules::Rules;
use crate::tagging::Tag;
use crate::wiring::Wiring;

pub use fit::{FitError, TooManyTags, fit};
pub use walk::Walked;
pub(crate) use whole::Reached;
pub use whole::{Circularity, Step, TaggedCycle};

/// How many faults of a kind are named; all are counted.
const NAMED: usize = 10;

/// What was found wrong with rules: nothing, if they are Tagger's (Hu et al., CoNEXT 2017, section 5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Lossless tags.
    pub tags: u8,
    /// Tags whose own dependencies have a cycle, with one cycle of each.
    pub cycles: Vec<Cycle>,
    /// Rules that lead to a smaller tag.
    pub falling: usize,
    /// Some of these, with the new tag.
    pub falling_named: Vec<(Turn, Tag)>,
    /// Places where packets on an expected path become lossy: turns with a tag, for each destination or path.
    pub lossy: usize,
    /// Some of these.
    pub lossy_named: Vec<LossyWalk>,
    /// What was walked.
    pub walked: Walked,
}

/// A packet on an expected lossless path that becomes lossy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LossyWalk {
    /// Where there is no rule, and the tag with which the packet comes.
    pub turn: Turn,
    /// The path of such a packet, up to the node after the turn.
    pub path: NamedPath,
}

impl Verification {
    /// Whether no cyclic buffer dependency among lossless packets is possible, whatever path they take: no cycle within
    /// a tag, no rule to a smaller tag.
    pub fn deadlock_free(&self) -> bool {
        self.cycles.is_empty() && self.falling == 0
    }

    /// Whether packets on expected paths stay lossless.
    pub fn complete(&self) -> bool {
        self.lossy == 0
    }

    /// Both.
    pub fn holds(&self) -> bool {
        self.deadlock_free() && self.complete()
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.holds() {
            return f.write_str("no cyclic dependency, and no packet on an expected path becomes lossy");
        }
        let mut faults: Vec<String> = self.cycles.iter().map(|cycle| format!("cyclic: {cycle}")).collect();
        if let Some((turn, new)) = self.falling_named.first() {
            faults.push(format!("{} rules lead to a smaller tag, such as at {turn}, to {new}", self.falling));
        }
        if let Some(walk) = self.lossy_named.first() {
            faults.push(format!(
                "packets become lossy at {} turns of their paths, such as at {} on {}",
                self.lossy, walk.turn, walk.path
            ));
        }
        f.write_str(&faults.join("; "))
    }
}

/// Whether rules meet Tagger's two conditions, whatever packets there are: no cycle within a tag, no rule to a smaller tag.
/// That is sufficient against cyclic buffer dependencies, not necessary.
pub fn meets_conditions(wiring: &Wiring<'_>, rules: &Rules) -> bool {
    acyclic::falling(wiring, rules).0 == 0
        && Tag::all(rules.tags()).all(|tag| acyclic::cycle(wiring, rules, tag).is_none())
}

/// Verifies rules for a set of paths that should stay lossless.
pub fn verify(wiring: &Wiring<'_>, rules: &Rules, elp: &Elp<'_>) -> Result<Verification, ElpError> {
    verify_classes(wiring, rules, elp, 1)
}

/// The same for several classes of traffic: hosts send those with tags 1, 2, …, and all should stay lossless.
pub fn verify_classes(
    wiring: &Wiring<'_>,
    rules: &Rules,
    elp: &Elp<'_>,
    classes: u8,
) -> Result<Verification, ElpError> {
    let (falling, falling_named) = acyclic::falling(wiring, rules);
    let cycles = Tag::all(rules.tags()).filter_map(|tag| acyclic::cycle(wiring, rules, tag)).collect();
    let (mut walked, mut lossy, mut lossy_named) = (Walked::default(), 0, Vec::new());
    for sent in Tag::all(classes) {
        let found = walk::walk((wiring, rules, sent), elp)?;
        walked.add(found.0);
        lossy += found.1;
        lossy_named.extend(found.2);
    }
    lossy_named.truncate(NAMED);
    Ok(Verification { tags: rules.tags(), cycles, falling, falling_named, lossy, lossy_named, walked })
}
