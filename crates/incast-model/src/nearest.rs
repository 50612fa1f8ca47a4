//! Suggestions "Did you mean …" for misspelt names.

use crate::renamed::renamed;

/// In bytes; known names are shorter (our choice).
const LONGEST: usize = 1_000;

/// Names in other simulators and in manuals, with ours.
const ELSEWHERE: [(&str, &str); 7] = [
    ("bandwidth", "rate"),
    ("degree", "fan_in"),
    ("latency", "delay"),
    ("mss", "payload"),
    ("mtu", "payload"),
    ("speed", "rate"),
    ("stop", "end"),
];

/// Our names for what has another name elsewhere.
pub fn ours(name: &str) -> impl Iterator<Item = &'static str> {
    ELSEWHERE.iter().filter(move |(other, _)| name.eq_ignore_ascii_case(other)).map(|&(_, own)| own)
}

/// Returns the candidate closest to `name`: a renamed name's successor, our name for one of other simulators, or a name with at most one edit (insertion, deletion,
/// substitution, swap) per three letters, or else the shortest that has it between `_` or `-`; without regard to case.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(now) = renamed(name, candidates.iter().copied()) {
        return Some(now);
    }
    if let Some(own) = ours(name).find_map(|own| candidates.iter().copied().find(|&one| one == own)) {
        return Some(own);
    }
    // The distance takes time with the product of the lengths.
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_lowercase();
    let forgiven = name.chars().count().div_ceil(3);
    let close = |&candidate: &&'a str| {
        let edits = strsim::damerau_levenshtein(&name, &candidate.to_lowercase());
        (edits <= forgiven).then_some((edits, candidate))
    };
    let closest = candidates.iter().filter_map(close).min_by_key(|&(edits, _)| edits);
    let has_part =
        |candidate: &&str| !name.is_empty() && candidate.to_lowercase().split(['_', '-']).any(|part| part == name);
    let shortest = || candidates.iter().copied().filter(has_part).min_by_key(|candidate| candidate.len());
    closest.map(|(_, candidate)| candidate).or_else(shortest)
}

/// End of a message, with the suggestion.
pub fn hint(nearest: &Option<impl std::fmt::Display>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgives_slips_but_not_other_words() {
        let names = ["leaf_spine", "fat_tree", "star"];
        assert_eq!(nearest("leafspine", names), Some("leaf_spine"));
        assert_eq!(nearest("FAT_TREE", names), Some("fat_tree"));
        assert_eq!(nearest("fat_tere", names), Some("fat_tree"));
        assert_eq!(nearest("torus", names), None);
        assert_eq!(nearest("tag", ["tug", "label"]), Some("label"));
        assert_eq!(nearest("MTU", ["mut", "payload"]), Some("payload"));
        assert_eq!(nearest("latency", ["rate", "delay"]), Some("delay"));
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("tree", ["fat_tree_of_pods", "fat_tree", "treetop"]), Some("fat_tree"));
        assert_eq!(nearest("", ["a__b"]), None);
        let long = "k".repeat(10_000_000);
        assert_eq!(nearest(&long, [long.as_str()]), None, "at once");
    }
}
