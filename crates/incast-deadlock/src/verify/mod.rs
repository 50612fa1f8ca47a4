//! Checks of rules that share only rules and path descriptions with the algorithms: they remove ports without predecessors
//! (Kahn, CACM 1962), and walk packets through the rules on every path.
//!
//! Tagger's two conditions are sufficient. [`Circularity`] is exact: it finds cycles across all tags that packets reach, also
//! while switches change between sets of rules.

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
use crate::tag::Tag;
use crate::wiring::Wiring;

pub use fit::{FitError, TooManyTags, fit};
pub use walk::Walked;
pub(crate) use whole::Reached;
pub use whole::{Circularity, Step, TaggedCycle};

/// Per kind; all are counted.
const NAMED: usize = 10;

/// Faults of rules; Tagger's rules have none (Hu et al., CoNEXT 2017, section 5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Lossless tags.
    pub tags: u8,
    /// A cycle per tag with cyclic dependencies.
    pub cycles: Vec<Cycle>,
    /// Rules to a smaller tag.
    pub falling: usize,
    /// Some of these rules, with that tag.
    pub falling_named: Vec<(Turn, Tag)>,
    /// Turns that make packets on expected paths lossy, per destination or path.
    pub lossy: usize,
    /// Some lossy turns.
    pub lossy_named: Vec<LossyWalk>,
    /// Extent of the walk.
    pub walked: Walked,
}

/// Packet that becomes lossy on an expected path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LossyWalk {
    /// Turn and tag without a rule.
    pub turn: Turn,
    /// Path up to the node after the turn.
    pub path: NamedPath,
}

impl Verification {
    /// True if lossless packets have no cyclic dependency on any path.
    pub fn deadlock_free(&self) -> bool {
        self.cycles.is_empty() && self.falling == 0
    }

    /// True if packets on expected paths stay lossless.
    pub fn complete(&self) -> bool {
        self.lossy == 0
    }

    /// True if deadlock-free and complete.
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

/// True if rules meet Tagger's two conditions: no cycle within a tag, no rule to a smaller tag (sufficient, not necessary).
pub fn meets_conditions(wiring: &Wiring<'_>, rules: &Rules) -> bool {
    acyclic::falling(wiring, rules).0 == 0
        && Tag::all(rules.tags()).all(|tag| acyclic::cycle(wiring, rules, tag).is_none())
}

/// Verifies rules for paths that should stay lossless.
pub fn verify(wiring: &Wiring<'_>, rules: &Rules, elp: &Elp<'_>) -> Result<Verification, ElpError> {
    verify_classes(wiring, rules, elp, 1)
}

/// Turns that make packets with the tag `sent` lossy on these paths: their number, and some of them.
pub fn lossy_turns(
    wiring: &Wiring<'_>,
    rules: &Rules,
    elp: &Elp<'_>,
    sent: Tag,
) -> Result<(usize, Vec<LossyWalk>), ElpError> {
    walk::walk((wiring, rules, sent), elp).map(|(_, count, named)| (count, named))
}

/// [`verify`] for several traffic classes, with tags 1, 2, …
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
