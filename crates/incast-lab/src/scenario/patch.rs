//! Parameters of which only some are given; the rest are taken from elsewhere.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::diagnostic::Diagnostic;
use crate::tree;

/// Some parameters of a `T` by name: laid over a whole `T`, each replaces that parameter.
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
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The parameters given, by name.
    pub const fn given(&self) -> &Map<String, Value> {
        &self.given
    }
}

impl<T: Serialize + DeserializeOwned + Clone> Patch<T> {
    /// Every parameter, as in `params`.
    pub fn whole(params: &T) -> Self {
        match serde_json::to_value(params) {
            Ok(Value::Object(given)) => Self { given, of: PhantomData },
            _ => Self::default(),
        }
    }

    /// `base` with the given parameters; `path` is where the patch stands, for the error.
    pub fn over(&self, base: &T, path: &str) -> Result<T, Diagnostic> {
        if self.is_empty() {
            return Ok(base.clone());
        }
        // Read alone first: an error must be about what is given here, not about the base.
        tree::typed::<T>(&Value::Object(self.given.clone()), path)?;
        match serde_json::to_value(base) {
            Ok(Value::Object(base)) => tree::typed(&Value::Object(tree::overlaid(&base, &self.given)), path),
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
