//! Tables that an unknown field belongs to.

use incast_model::nearest::ours;
use serde_json::Value;

use super::Scenario;
use crate::diagnostic::Diagnostic;
use crate::tree::path::{self, Step};

/// With more tables (our choice), none is named: nobody knows which was meant.
const MOST: usize = 4;

/// Names the tables that have the unknown field, unless a similar name is allowed where it stands.
pub(super) fn with_tables(mut wrong: Diagnostic) -> Diagnostic {
    if wrong.nearest.is_some() || !wrong.message.starts_with("unknown field `") {
        return wrong;
    }
    let mut steps = path::parse(&wrong.path).unwrap_or_default();
    let Some(Step::Key(field)) = steps.pop() else { return wrong };
    if steps.is_empty() && wrong.place.as_ref().is_some_and(|place| place.file == "--set") {
        // Overrides get whole paths.
        return wrong;
    }
    let own = std::iter::once((field.as_str(), "it".to_owned()));
    let names = own.chain(ours(&field).map(|name| (name, format!("`{name}`"))));
    let found = names.map(|(name, word)| (tables_with(name, &steps), word)).find(|(tables, _)| !tables.is_empty());
    if let Some((tables, word)) = found
        && tables.len() <= MOST
        && let Some((last, others)) = tables.split_last()
    {
        let others = if others.is_empty() { String::new() } else { format!("{} or ", others.join(", ")) };
        wrong.message += &format!("; {word} belongs to {others}{last}");
    }
    wrong
}

/// Stands for names that users choose.
const ANY: &str = "NAME";

/// Names of a table; `None` for entries of lists.
type Steps<'a> = Vec<Option<&'a str>>;

/// The tables with the field that are closest to `here`, quoted.
fn tables_with(field: &str, here: &[Step]) -> Vec<String> {
    let schema = Scenario::schema().to_value();
    let of_scheme = here.first() == Some(&Step::Key("scheme".into()));
    let mut search = Search { schema: &schema, field, of_scheme, found: Vec::new() };
    search.visit(&schema, &mut Vec::new());
    let most = search.found.iter().map(|table| shared(here, table)).max().unwrap_or(0);
    let mut tables: Vec<Steps<'_>> = search.found.into_iter().filter(|table| shared(here, table) == most).collect();
    if let Some(above) = tables.iter().find(|table| most > 0 && table.len() == most) {
        tables = vec![above.clone()];
    }
    tables.sort_unstable();
    tables.dedup();
    let print = |table: Steps<'_>| {
        if table.is_empty() {
            return "the top of the scenario".to_owned();
        }
        let rest = table[most..].iter().flatten();
        format!("`{}`", rest.fold(path::print(&here[..most]), |path, name| path::join(&path, name)))
    };
    tables.into_iter().map(print).collect()
}

/// Steps that both have in common from the begin. The section alone is nothing: its tables are not related.
fn shared(here: &[Step], table: &[Option<&str>]) -> usize {
    let same = |(step, name): &(&Step, &Option<&str>)| match (step, name) {
        (Step::Key(key), Some(name)) => key == name || *name == ANY,
        (Step::Index(_), name) => name.is_none(),
        _ => false,
    };
    match here.iter().zip(table).take_while(same).count() {
        1 if table.len() > 1 => 0,
        shared => shared,
    }
}

struct Search<'a> {
    schema: &'a Value,
    field: &'a str,
    /// Tables of schemes that are sections, too, count.
    of_scheme: bool,
    found: Vec<Steps<'a>>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, schema: &'a Value, at: &mut Steps<'a>) {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            self.visit(&self.schema["$defs"][name], at);
        }
        for choice in ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten() {
            self.visit(choice, at);
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if name == self.field {
                self.found.push(at.clone());
            }
            if !self.is_variant(name, at) {
                self.inside(property, Some(name), at);
            }
        }
        for (key, step) in [("additionalProperties", Some(ANY)), ("items", None)] {
            schema.get(key).into_iter().for_each(|inner| self.inside(inner, step, at));
        }
    }

    fn inside(&mut self, schema: &'a Value, step: Option<&'a str>, at: &mut Steps<'a>) {
        at.push(step);
        self.visit(schema, at);
        at.pop();
    }

    /// The table has what another has, by label or for one scheme.
    fn is_variant(&self, name: &str, at: &[Option<&str>]) -> bool {
        let section =
            !self.of_scheme && at == [Some("scheme"), Some(ANY)] && !self.schema["properties"][name].is_null();
        section || name.ends_with("_by_label")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str) -> String {
        let field = path.rsplit('.').next().unwrap();
        with_tables(Diagnostic::new(path, format!("unknown field `{field}`"))).message
    }

    #[test]
    fn tables_that_have_the_field_are_named() {
        assert_eq!(said("network.buffer"), "unknown field `buffer`; it belongs to `switch`");
        assert_eq!(said("workload[3].sizes"), "unknown field `sizes`; it belongs to `workload[3].poisson`");
        let window = said("simulation.ecn");
        assert!(window.ends_with("the top of the scenario, `scheme.NAME` or `scheme.NAME.transport.tcp`"), "{window}");
    }

    #[test]
    fn those_of_the_same_scheme_or_entry_come_first() {
        assert_eq!(said("scheme.a.buffer"), "unknown field `buffer`; it belongs to `scheme.a.switch`");
        assert_eq!(said("workload[0].incast.start"), "unknown field `start`; it belongs to `workload[0]`");
        let eta = "unknown field `eta`; it belongs to `scheme.a.control.hpcc` or `scheme.a.control.hpcc_pint`";
        assert_eq!(said("scheme.a.eta"), eta);
    }

    #[test]
    fn no_table_is_named_without_one_or_with_many() {
        assert_eq!(said("switch.mtu"), "unknown field `mtu`; `payload` belongs to `packets`");
        assert_eq!(said("network.nonsense"), "unknown field `nonsense`");
        assert_eq!(said("network.hosts"), "unknown field `hosts`");
    }
}
