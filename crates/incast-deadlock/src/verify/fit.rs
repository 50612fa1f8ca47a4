//! Whether a switch has priorities for all tags.

use super::trace::{self, Goal, Hit};
use crate::elp::{Destinations, Elp, ElpError};
use crate::names::NamedPath;
use crate::rules::Rules;
use crate::tagging::Tag;
use crate::wiring::Wiring;

/// How many of the paths that need too many tags are named.
const NAMED: usize = 3;

/// More tags than a switch has priorities for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{needed} lossless priorities are needed, {available} are available (PFC has 8, of which one at least is lossy); \
     packets come to tag {} on {}", .available + 1, .paths.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
)]
pub struct TooManyTags {
    /// Lossless priorities that the rules use.
    pub needed: u8,
    /// Lossless priorities that there are.
    pub available: u8,
    /// Some expected paths that force it, up to the node after the first turn that leads to a tag too many.
    pub paths: Vec<NamedPath>,
}

/// Why rules do not fit a switch, or why that cannot be said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// They do not.
    #[error(transparent)]
    TooManyTags(#[from] TooManyTags),
    /// The paths are none.
    #[error(transparent)]
    Paths(#[from] ElpError),
}

/// Checks that rules need no more than so many lossless priorities (1 to 7: PFC has 8, IEEE 802.1Qbb).
///
/// # Errors
/// More tags than that, with some of the paths that force them.
pub fn fit(wiring: &Wiring<'_>, rules: &Rules, elp: &Elp<'_>, available: u8) -> Result<(), FitError> {
    if rules.tags() <= available {
        return Ok(());
    }
    let hits = over(wiring, rules, elp, Tag(available))?;
    let paths = hits.iter().take(NAMED).map(|hit| NamedPath::new(wiring, &hit.path)).collect();
    Err(TooManyTags { needed: rules.tags(), available, paths }.into())
}

/// Some of the turns at which packets on expected paths get a larger tag than `last`.
fn over(wiring: &Wiring<'_>, rules: &Rules, elp: &Elp<'_>, last: Tag) -> Result<Vec<Hit>, ElpError> {
    let over: Goal<'_> =
        &mut |tag, input, output| tag <= last && rules.new_tag(tag, input, output).is_some_and(|new| new > last);
    let walk = (wiring, rules, Tag::FIRST);
    let destinations = Destinations::new(wiring, elp);
    let mut hits: Vec<Hit> = Vec::new();
    match elp {
        Elp::Paths(paths) => {
            hits.extend(paths.iter().flat_map(|path| trace::path(walk, paths, path, over)).take(NAMED))
        }
        Elp::UpDown(up_down) => hits.extend(trace::up_down(walk, up_down, over)?.hits),
        Elp::Shortest(_) | Elp::Routes(_) => {
            let mut tables = destinations.tables();
            for at in 0..destinations.len() {
                destinations.each(at, &mut tables, &mut |towards| {
                    if hits.len() < NAMED {
                        hits.extend(trace::towards(walk, towards, over));
                    }
                })?;
                if hits.len() >= NAMED {
                    break;
                }
            }
        }
    }
    Ok(hits)
}
