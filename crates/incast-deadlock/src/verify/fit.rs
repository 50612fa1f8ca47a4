use super::trace::{self, Goal, Hit, Walk};
use crate::elp::{Destinations, Elp, ElpError};
use crate::names::NamedPath;
use crate::rules::Rules;
use crate::tag::Tag;
use crate::wiring::Wiring;

const NAMED: usize = 3;

/// More tags than lossless priorities.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{needed} lossless priorities are needed, {available} are available (PFC has 8, at least one of them lossy); {}",
    forced_by(*.available, *.classes, .paths)
)]
pub struct TooManyTags {
    /// Lossless priorities used.
    pub needed: u8,
    /// Lossless priorities available.
    pub available: u8,
    /// Traffic classes: hosts send with tags 1 to this.
    pub classes: u8,
    /// Some classes and expected paths with a tag above `available`, up to the node after the first such turn. Hosts send
    /// classes beyond `available` with such a tag.
    pub paths: Vec<(u8, NamedPath)>,
}

fn forced_by(available: u8, classes: u8, paths: &[(u8, NamedPath)]) -> String {
    let mut found: Vec<String> = Vec::new();
    for of_class in paths.chunk_by(|a, b| a.0 == b.0) {
        let of = if classes == 1 { String::new() } else { format!(" of class {}", of_class[0].0) };
        let paths: Vec<String> = of_class.iter().map(|(_, path)| path.to_string()).collect();
        found.push(format!("packets{of} reach tag {} on {}", available + 1, paths.join("; ")));
    }
    match classes.saturating_sub(available) {
        0 => {}
        1 => found.push(format!("hosts send class {classes} with tag {classes}")),
        _ => found.push(format!("hosts send classes {} to {classes} with tags of the same numbers", available + 1)),
    }
    if found.is_empty() {
        // Rules may be for more paths.
        found.push(format!("the rules have tag {}, to which no expected path leads", available + 1));
    }
    found.join("; ")
}

/// Reason that rules do not fit, or cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// More tags than priorities.
    #[error(transparent)]
    TooManyTags(#[from] TooManyTags),
    /// Impossible paths.
    #[error(transparent)]
    Paths(#[from] ElpError),
}

/// Checks that rules need at most `available` lossless priorities (1 to 7). Hosts send `classes`, 1 or more, with tags from 1.
///
/// # Errors
/// Too many tags, with some paths that need them.
pub fn fit(wiring: &Wiring<'_>, rules: &Rules, elp: &Elp<'_>, classes: u8, available: u8) -> Result<(), FitError> {
    if rules.tags() <= available {
        return Ok(());
    }
    let mut paths = Vec::new();
    for sent in Tag::all(classes.min(available)) {
        let hits = over((wiring, rules, sent), elp, Tag(available))?;
        paths.extend(hits.iter().map(|hit| (sent.0, NamedPath::new(wiring, &hit.path))));
        if paths.len() >= NAMED {
            break;
        }
    }
    paths.truncate(NAMED);
    Err(TooManyTags { needed: rules.tags(), available, classes, paths }.into())
}

fn over(walk: Walk<'_, '_>, elp: &Elp<'_>, last: Tag) -> Result<Vec<Hit>, ElpError> {
    let (wiring, rules, _) = walk;
    let over: Goal<'_> =
        &mut |tag, input, output| tag <= last && rules.new_tag(tag, input, output).is_some_and(|new| new > last);
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
