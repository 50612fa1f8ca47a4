//! Overrides: `--set path=value`.

use serde_json::{Map, Value};

use super::Tree;
use super::path::{self, Step};
use super::places::{OVERRIDDEN, Places};
use crate::diagnostic::{Diagnostic, Place};

impl Tree {
    /// Makes missing tables, but no list entries.
    pub(crate) fn set(&mut self, text: &str) -> Result<(), Diagnostic> {
        let fail = |message: String, range: std::ops::Range<usize>| {
            let mut diagnostic = Diagnostic::new("", message);
            diagnostic.place = Some(Box::new(Place::of("--set", text, range)));
            diagnostic
        };
        let Some(at) = text.find('=') else {
            return Err(fail(format!("`{text}` is not an override; write path=value"), 0..text.len()));
        };
        let steps = path::parse(&text[..at]).map_err(|why| fail(format!("not a path: {why}"), 0..at))?;
        if steps.is_empty() {
            return Err(fail("an override must name a parameter".into(), 0..text.len()));
        }
        let (value, inner) = value_of(text, at + 1);
        if let Err(why) = put(&mut self.root, &steps, value) {
            return Err(fail(why, 0..at));
        }
        self.places.set(&steps, (text, at), &inner);
        Ok(())
    }
}

/// TOML if valid, else text; places of inner values.
fn value_of(text: &str, from: usize) -> (Value, Places) {
    // One TOML line `x=value`, padded so that places match `text`.
    let line = format!("{}{OVERRIDDEN}={}", " ".repeat(from.saturating_sub(2)), &text[from..]);
    match Tree::of_toml("--set", &line) {
        Ok(mut tree) if tree.root.len() == 1 && from >= 2 => {
            (tree.root.remove(OVERRIDDEN).unwrap_or(Value::Null), tree.places)
        }
        _ => (Value::String(text[from..].trim().to_owned()), Places::default()),
    }
}

fn put(root: &mut Map<String, Value>, steps: &[Step], value: Value) -> Result<(), String> {
    let Some((Step::Key(first), rest)) = steps.split_first() else {
        return Err("a path begins with a name".into());
    };
    let mut here = root.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
    for (depth, step) in rest.iter().enumerate() {
        let so_far = path::print(&steps[..=depth]);
        here = match step {
            Step::Key(key) => {
                // A name (`control = "hpcc"`) stands for a table of defaults.
                if let Value::String(name) = here {
                    *here = Value::Object(Map::from_iter([(std::mem::take(name), Value::Object(Map::new()))]));
                }
                if let Value::Array(list) = here {
                    let entry = key.parse().ok().filter(|&at: &usize| at < list.len()).unwrap_or(0);
                    return Err(format!("`{so_far}` is a list: for an entry, write `{so_far}[{entry}]`"));
                }
                let Value::Object(table) = here else {
                    return Err(format!("`{so_far}` is not a table"));
                };
                table.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()))
            }
            Step::Index(at) => {
                let Value::Array(list) = here else {
                    return Err(format!("`{so_far}` is not a list"));
                };
                let len = list.len();
                list.get_mut(*at).ok_or_else(|| {
                    format!(
                        "`{so_far}` has {}, numbered from 0",
                        if len == 1 { "1 entry".into() } else { format!("{len} entries") }
                    )
                })?
            }
        };
    }
    *here = value;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let text = "seed = 1\n[[workload]]\npoisson.load = 0.3\n[scheme.HPCC]\ncontrol = \"hpcc\"\n";
        Tree::of_toml("s.toml", text).unwrap()
    }

    #[test]
    fn a_path_may_be_longer_than_a_format_width() {
        let mut tree = tree();
        tree.set(&format!("{}=[1, 2]", "a".repeat(70_000))).unwrap();
        assert_eq!(tree.root[&"a".repeat(70_000)][1], 2);
    }

    #[test]
    fn values_are_toml_or_text() {
        let mut tree = tree();
        for set in
            ["seed=7", "workload[0].poisson.load=0.5", "switch.buffer=4MB", "switch.lossless=[3, 4]", "title = a b"]
        {
            tree.set(set).unwrap();
        }
        tree.set("scheme.HPCC.control.hpcc.eta=0.99").unwrap();
        let root = Value::Object(tree.root.clone());
        assert_eq!(root["seed"], 7);
        assert_eq!(root["workload"][0]["poisson"]["load"], 0.5);
        assert_eq!(root["switch"]["buffer"], "4MB");
        assert_eq!(root["switch"]["lossless"][1], 4);
        assert_eq!(root["title"], "a b");
        assert_eq!(root["scheme"]["HPCC"]["control"]["hpcc"]["eta"], 0.99);
        let place = |path: &str| tree.locate(Diagnostic::new(path, "x")).place.unwrap();
        assert_eq!(
            (place("seed").file.as_str(), place("seed").column, place("seed").text.as_str()),
            ("--set", 6, "seed=7")
        );
        assert_eq!((place("switch.lossless[1]").column, place("switch.lossless[1]").width), (21, 1));
        assert_eq!(place("workload[0].poisson.load").file, "--set");
    }

    #[test]
    fn bad_overrides_say_why() {
        let mut tree = tree();
        for (set, why) in [
            ("seed", "write path=value"),
            ("=1", "must name a parameter"),
            ("a..b=1", "not a path"),
            ("workload[4].poisson.load=1", "has 1 entry"),
            ("seed.x=1", "`seed` is not a table"),
            ("workload.0.poisson.load=1", "`workload` is a list: for an entry, write `workload[0]`"),
            ("seed[0]=1", "`seed` is not a list"),
        ] {
            let error = tree.set(set).unwrap_err();
            assert!(error.message.contains(why), "{set}: {error}");
            assert_eq!(error.place.unwrap().file, "--set");
        }
    }
}
