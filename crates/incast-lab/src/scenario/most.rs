//! Most entries of a scenario: reading takes time that grows faster than their number.

use serde_json::{Map, Value};

use crate::diagnostic::Diagnostic;

/// Ten times more than known scenarios have; a second to read (our choice).
const MOST: [(&str, usize, &str); 4] = [
    ("scheme", 1_000, "split the scenario, or vary a scheme with `incast sweep`"),
    ("workload", 10_000, "split the scenario, or put the flows into one `list` or `trace`"),
    ("tenant", 10_000, "split the scenario"),
    ("service", 1_000, "split the scenario"),
];

/// Before the work on entries.
pub(super) fn too_many(root: &Map<String, Value>) -> Vec<Diagnostic> {
    let of_section = |&(section, most, help): &(&str, usize, &str)| {
        let entries = match root.get(section)? {
            Value::Array(list) => list.len(),
            Value::Object(table) => table.len(),
            _ => return None,
        };
        let message = format!("{entries} entries of `{section}`");
        (entries > most).then(|| Diagnostic::new(section, message).allowed(format!("at most {most}: {help}")))
    };
    MOST.iter().filter_map(of_section).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use super::super::Loaded;

    #[test]
    fn entries_have_a_limit() {
        let read = |schemes: usize, flows: usize| {
            let mut text = "[fabric.star]\nhosts = 4\n".to_owned();
            (0..flows).for_each(|_| text += "[[workload]]\nincast = { fan_in = 1, size = \"1kB\", receiver = 0 }\n");
            (0..schemes).for_each(|at| writeln!(text, "[scheme.S{at}]\ncontrol = \"hpcc\"").unwrap());
            Loaded::from_text("s.toml", &text, Path::new("."), &[])
        };
        assert!(read(1_000, 1).is_ok());
        let found = read(1_001, 10_001).unwrap_err();
        let said: Vec<(&str, Option<&str>)> =
            found.iter().map(|one| (one.message.as_str(), one.allowed.as_deref())).collect();
        assert_eq!(said[0].0, "1001 entries of `scheme`");
        assert_eq!(said[0].1, Some("at most 1000: split the scenario, or vary a scheme with `incast sweep`"));
        assert_eq!(said[1].0, "10001 entries of `workload`");
        assert_eq!((said.len(), found.iter().next().unwrap().place.as_ref().unwrap().file.as_str()), (2, "s.toml"));
    }
}
