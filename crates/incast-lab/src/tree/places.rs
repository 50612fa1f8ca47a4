//! Places of written values.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ONE_ALLOWED;
use super::path::{self, Step};
use crate::diagnostic::{Diagnostic, Place};

#[derive(Debug, Clone)]
struct Source {
    name: String,
    text: String,
}

/// Source, and byte ranges of key and value.
#[derive(Debug, Clone)]
pub(super) struct Site {
    source: usize,
    key: Range<usize>,
    value: Range<usize>,
}

/// Places by path. They are found when one is needed first, mostly never, by reading the text again: a large file has
/// millions.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    sources: Vec<Source>,
    sites: OnceLock<HashMap<String, Site>>,
}

impl Places {
    /// `text` must be valid TOML.
    pub(super) fn of_toml(name: &str, text: &str) -> Self {
        let source = Source { name: name.to_owned(), text: text.to_owned() };
        Self { sources: vec![source], sites: OnceLock::new() }
    }

    fn sites(&self) -> &HashMap<String, Site> {
        self.sites.get_or_init(|| {
            let mut sites = HashMap::new();
            if let Some(Ok(table)) = self.sources.first().map(|file| DeTable::parse(&file.text)) {
                in_table(table.get_ref(), "", &mut sites);
            }
            sites
        })
    }

    /// Replaces the places of `path` and of what is below it by those of an override `text`, `path=value`: `equals` is the
    /// place of `=`, `inner` has the places of values below `path`, which is not empty. Tables before `path` that have no place get one, too.
    pub(super) fn set(&mut self, path: &[Step], (text, equals): (&str, usize), inner: &Self) {
        let whole = path::print(path);
        let mut sites = std::mem::take(self.sites_mut());
        sites.retain(|known, _| !within(known, &whole));
        let source = self.sources.len();
        self.sources.push(Source { name: "--set".into(), text: text.into() });
        // Errors in made tables point at the command line.
        for (depth, end) in text[..equals].match_indices('.').map(|(end, _)| end).enumerate() {
            let made = path::print(&path[..=depth.min(path.len() - 1)]);
            if made == text[..end] && !sites.contains_key(&made) {
                sites.insert(made, Site { source, key: 0..end, value: equals + 1..text.len() });
            }
        }
        sites.insert(whole.clone(), Site { source, key: 0..equals, value: equals + 1..text.len() });
        for (at, site) in inner.sites() {
            if let Some(below) = at.strip_prefix(OVERRIDDEN).filter(|below| !below.is_empty()) {
                sites.insert(format!("{whole}{below}"), Site { source, ..site.clone() });
            }
        }
        *self.sites_mut() = sites;
    }

    fn sites_mut(&mut self) -> &mut HashMap<String, Site> {
        self.sites();
        self.sites.get_mut().expect("made in the line before")
    }

    pub(super) fn of_key(&self, path: &str) -> Option<Place> {
        self.sites().get(path).map(|site| self.place(site, true))
    }

    pub(super) fn of_value(&self, path: &str) -> Option<Place> {
        self.sites().get(path).map(|site| self.place(site, false))
    }

    fn place(&self, site: &Site, key: bool) -> Place {
        let source = &self.sources[site.source];
        Place::of(&source.name, &source.text, if key { site.key.clone() } else { site.value.clone() })
    }

    /// The parameter's place, or the nearest written table's.
    pub(super) fn locate(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        if diagnostic.place.is_some() {
            return diagnostic;
        }
        // A wrong name is its own place: a key (`fabric.satr`) or text (`window = "rat"`).
        let renamed = diagnostic.message.contains("` is now `");
        let names_itself = renamed || diagnostic.message.starts_with("unknown ");
        if names_itself && let Some(wrong) = diagnostic.message.split('`').nth(1) {
            diagnostic.place = self.of_key(&path::join(&diagnostic.path, wrong)).map(Box::new);
        }
        let mut path = Some(diagnostic.path.clone()).filter(|_| diagnostic.place.is_none());
        while let Some(at) = path {
            if let Some(site) = self.sites().get(&at) {
                // A missing parameter is reported at its table's key.
                let of_key = |wrong| at == wrong || at.ends_with(&format!(".{wrong}"));
                let renamed = renamed && diagnostic.message.split('`').nth(1).is_some_and(of_key);
                let key = at != diagnostic.path
                    || renamed
                    || diagnostic.message.starts_with("unknown field")
                    || diagnostic.message.ends_with(ONE_ALLOWED);
                diagnostic.place = Some(Box::new(self.place(site, key)));
                break;
            }
            path = path::parent(&at);
        }
        if diagnostic.place.is_none()
            && let Some(source) = self.sources.first()
        {
            diagnostic.place = Some(Box::new(Place::of(&source.name, &source.text, 0..0)));
        }
        diagnostic
    }
}

/// Name of an override's value while it is read.
pub(super) const OVERRIDDEN: &str = "x";

fn within(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn in_table(table: &DeTable<'_>, at: &str, sites: &mut HashMap<String, Site>) {
    for (key, value) in table {
        add(path::join(at, key.get_ref()), key.span(), value, sites);
    }
}

fn add(at: String, key: Range<usize>, value: &Spanned<DeValue<'_>>, sites: &mut HashMap<String, Site>) {
    match value.get_ref() {
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                add(path::index(&at, index), item.span(), item, sites);
            }
        }
        DeValue::Table(table) => in_table(table, &at, sites),
        _ => {}
    }
    sites.insert(at, Site { source: 0, key, value: value.span() });
}
