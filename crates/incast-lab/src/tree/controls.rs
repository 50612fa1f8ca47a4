//! Refuses control characters in names and values: terminals obey them.

use incast_model::echo::{LONGEST_NAME, is_control, word};
use serde_json::{Map, Value};

use super::path::At;
use super::{MOST_PLACES, Tree};
use crate::diagnostic::Diagnostic;

/// Our choice.
const LONGEST_TITLE: usize = 1_000;

pub(crate) const FILES: [&str; 5] = ["file", "flows", "rules", "topology", "trace"];

/// Line breaks and tabs in values (SQL, prose).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Allowed,
    Refused,
}

impl Tree {
    /// File names may have any.
    pub(crate) fn control_characters(&self, layout: Layout) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        self.in_table(&self.root, At::Root, layout, &mut found);
        found
    }

    fn in_table(&self, table: &Map<String, Value>, at: At<'_>, layout: Layout, found: &mut Vec<Diagnostic>) {
        for (name, value) in table {
            let at = At::Key(&at, name);
            let wrong = match name.chars().find(|&c| is_control(c)) {
                Some(c) => Some(refused(at, "name", name, c)),
                None => unreadable(at, name),
            };
            if let Some(mut one) = wrong {
                if found.len() < MOST_PLACES {
                    one.place = self.places.of_key(&one.path).map(Box::new);
                    one = self.locate(one);
                }
                found.push(one);
            }
            if layout == Layout::Refused {
                found.extend(overlong_title(value, at).map(|one| self.locate(one)));
            }
            if !(value.is_string() && FILES.contains(&name.as_str())) {
                self.in_value(value, at, layout, found);
            }
        }
    }

    fn in_value(&self, value: &Value, at: At<'_>, layout: Layout, found: &mut Vec<Diagnostic>) {
        match value {
            Value::String(text) => {
                let laid_out = |c: char| layout == Layout::Allowed && matches!(c, '\n' | '\r' | '\t');
                if let Some(c) = text.chars().find(|&c| is_control(c) && !laid_out(c)) {
                    let one = refused(at, "text", text, c);
                    found.push(if found.len() < MOST_PLACES { self.locate(one) } else { one });
                }
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(index, item)| self.in_value(item, At::Index(&at, index), layout, found));
            }
            Value::Object(table) => self.in_table(table, at, layout, found),
            _ => {}
        }
    }
}

fn unreadable(at: At<'_>, name: &str) -> Option<Diagnostic> {
    let characters = name.chars().count();
    let message = match characters {
        _ if name.trim().is_empty() => "a name is blank".to_owned(),
        0..=LONGEST_NAME => return None,
        _ => format!("the name `{}` has {characters} characters", word(name)),
    };
    Some(Diagnostic::new(at.path(), message).allowed(format!("a name of 1 to {LONGEST_NAME} characters")))
}

/// Every page and picture has it.
fn overlong_title(value: &Value, at: At<'_>) -> Option<Diagnostic> {
    let text = value.as_str().filter(|_| matches!(at, At::Key(At::Root, "title")))?;
    let characters = text.chars().count();
    let message = format!("the title `{}` has {characters} characters", word(text));
    (characters > LONGEST_TITLE)
        .then(|| Diagnostic::new(at.path(), message).allowed(format!("at most {LONGEST_TITLE} characters")))
}

fn refused(at: At<'_>, what: &str, text: &str, c: char) -> Diagnostic {
    let message = format!("the {what} `{}` has a control character, U+{:04X}", word(text), u32::from(c));
    Diagnostic::new(at.path(), message).allowed("text without control characters")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, layout: Layout) -> Vec<String> {
        let found = Tree::of_toml("s.toml", text).unwrap().control_characters(layout);
        found.iter().map(|one| format!("{}: {}", one.place.as_ref().unwrap().line, one.message)).collect()
    }

    #[test]
    fn names_and_values_are_named_with_their_lines() {
        let text = "title = \"x\\u0007\"\n[scheme.\"\\u001b[31mred\"]\nhosts = [\"a\", \"b\\u202ec\"]\n";
        assert_eq!(
            found(text, Layout::Refused),
            [
                r"1: the text `x\u0007` has a control character, U+0007",
                r"2: the name `\u001b[31mred` has a control character, U+001B",
                r"3: the text `b\u202ec` has a control character, U+202E",
            ]
        );
    }

    #[test]
    fn names_that_nobody_can_read_are_refused() {
        let text = format!("[scheme.\" \"]\n[scheme.{}]\n[scheme.\"a\\u200Bb\"]\n", "a".repeat(201));
        let [blank, long, invisible] = &found(&text, Layout::Refused)[..] else { panic!() };
        assert_eq!(blank, "1: a name is blank");
        assert!(long.starts_with("2: the name `aaa") && long.ends_with("has 201 characters"), "{long}");
        assert_eq!(invisible, r"3: the name `a\u200bb` has a control character, U+200B");
        assert_eq!(found(&format!("[scheme.{}]", "a".repeat(200)), Layout::Refused), [""; 0]);
    }

    #[test]
    fn a_long_title_is_refused() {
        let title = |length| found(&format!("title = \"{}\"\n", "a".repeat(length)), Layout::Refused);
        assert_eq!(title(1000), [""; 0]);
        assert!(title(1001)[0].ends_with("has 1001 characters"), "{:?}", title(1001));
    }

    #[test]
    fn layout_and_names_of_files_are_what_they_are() {
        let text = "sql = \"a\\n\\tb\"\ntrace.file = \"a\\nb.csv\"\n\"a\\nb\" = 1\n";
        assert_eq!(found(text, Layout::Allowed), [r"3: the name `a\nb` has a control character, U+000A"]);
        assert_eq!(found(text, Layout::Refused).len(), 2);
    }
}
