use std::borrow::Cow;
use std::marker::PhantomData;

use incast_sim::switch::SwitchParams;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::diagnostic::Diagnostic;
use crate::tree;

/// Merged key by key; patches replace other tables, such as `pfc_mode`, a choice of one.
fn tables() -> Vec<&'static str> {
    let switch = SwitchParams::default();
    switch.guards().map(|(guard, _)| guard).chain(["classes", "hold_time"]).collect()
}

/// Some parameters of a `T`, which override a whole `T`.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch<T> {
    given: Map<String, Value>,
    of: PhantomData<fn() -> T>,
}

impl<T> Default for Patch<T> {
    fn default() -> Self {
        Self { given: Map::new(), of: PhantomData }
    }
}

impl<T> Patch<T> {
    /// True if nothing is given.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// True if it overrides all that `below` gives of a parameter.
    pub(super) fn replaces(&self, below: &Value, name: &str) -> bool {
        match (self.given.get(name), below) {
            (Some(Value::Object(own)), Value::Object(below)) if tables().contains(&name) => {
                below.keys().all(|key| own.contains_key(key))
            }
            (own, _) => own.is_some(),
        }
    }

    /// Parameters given, by name.
    pub const fn given(&self) -> &Map<String, Value> {
        &self.given
    }
}

impl<T: Serialize + DeserializeOwned + Clone> Patch<T> {
    /// All parameters, as in `params`.
    pub fn whole(params: &T) -> Self {
        match serde_json::to_value(params) {
            Ok(Value::Object(given)) => Self { given, of: PhantomData },
            _ => Self::default(),
        }
    }

    /// `base` with these parameters; `path`: the patch's, for errors.
    pub fn over(&self, base: &T, path: &str) -> Result<T, Diagnostic> {
        if self.is_empty() {
            return Ok(base.clone());
        }
        // Alone first: errors must concern the patch, not the base.
        tree::typed::<T>(&Value::Object(self.given.clone()), path)?;
        match serde_json::to_value(base) {
            Ok(Value::Object(base)) => tree::typed(&Value::Object(tree::overlaid(&base, &self.given, &tables())), path),
            _ => Err(Diagnostic::new(path, "these parameters cannot be given in part")),
        }
    }
}

impl<T> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.given.serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(|given| Self { given, of: PhantomData })
    }
}

impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use incast_sim::host::{HostParams, PacketParams, RdmaParams};
    use incast_sim::network::NetworkParams;
    use incast_sim::switch::EcnParams;

    use super::*;

    #[test]
    fn tables_of_parameters_are_laid_over_key_by_key() {
        let patch = |json: &str| Patch::<SwitchParams> { given: serde_json::from_str(json).unwrap(), of: PhantomData };
        let base = patch(
            r#"{"isolation": {"table": 7, "detection": {"counters": {"above": 9, "flows": 2}}}, "pfc_mode": {"static": {"xoff": 5}}}"#,
        );
        let base = base.over(&SwitchParams::default(), "switch").unwrap();
        let over = patch(r#"{"isolation": {"enabled": true, "queue": 5}}"#).over(&base, "switch").unwrap();
        assert_eq!((over.isolation.enabled, over.isolation.queue, over.isolation.table), (true, 5, Some(7)));
        assert_eq!((over.isolation.detection, &over.pfc_mode), (base.isolation.detection, &base.pfc_mode));
        let marks = patch(r#"{"isolation": {"detection": {"marks": {"kmin": 1, "kmax": 2, "pmax": 1}}}}"#);
        assert!(marks.over(&base, "switch").unwrap().isolation.detection != base.isolation.detection);
    }

    #[test]
    fn the_tables_are_those_of_the_schema() {
        fn collect<T: JsonSchema>(found: &mut Vec<String>) {
            let schema = schemars::schema_for!(T);
            let properties = schema.get("properties").and_then(Value::as_object).unwrap();
            for (name, property) in properties {
                let Some(reference) = property.get("$ref").and_then(Value::as_str) else { continue };
                let definition = schema.pointer(reference.trim_start_matches('#')).unwrap();
                if definition.get("properties").is_some() {
                    found.push(name.clone());
                }
            }
        }
        let mut found = Vec::new();
        collect::<SwitchParams>(&mut found);
        collect::<HostParams>(&mut found);
        collect::<RdmaParams>(&mut found);
        collect::<PacketParams>(&mut found);
        collect::<EcnParams>(&mut found);
        collect::<NetworkParams>(&mut found);
        found.sort();
        let mut known = tables();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}
