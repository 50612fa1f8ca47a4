//! Strict reading into types. Derived readers also take a list of fields for a table (`clients = [2]` meant two clients, not
//! host 2), and ignore excess items of lists of fixed length. A variant may be its name if all parameters have defaults.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

#[derive(Debug, Clone, Copy)]
pub(super) struct Strict<'de>(pub(super) &'de Value);

impl<'de> IntoDeserializer<'de, Error> for Strict<'de> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Strict<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.iter().map(Strict));
                let list = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(list)
            }
            Value::Object(table) => {
                visitor.visit_map(MapDeserializer::new(table.iter().map(|(key, value)| (key.as_str(), Strict(value)))))
            }
            plain => plain.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(_) => Err(Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(table) if table.len() == 1 => {
                let one = table.iter().map(|(key, value)| (key.as_str(), Strict(value)));
                visitor.visit_enum(MapAccessDeserializer::new(MapDeserializer::new(one)))
            }
            Value::String(choice) => visitor.visit_enum(NameAlone(choice)),
            other => other.deserialize_enum(name, variants, visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct identifier ignored_any
    }
}

struct NameAlone<'de>(&'de str);

impl<'de> EnumAccess<'de> for NameAlone<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let choice: IntoNameDeserializer<'de> = self.0.into_deserializer();
        seed.deserialize(choice).map(|choice| (choice, self))
    }
}

type IntoNameDeserializer<'de> = <&'de str as IntoDeserializer<'de, Error>>::Deserializer;

impl NameAlone<'_> {
    fn lacks<T>(&self) -> Result<T, Error> {
        Err(Error::custom(format!("`{}` needs a value: {{ {} = ... }}", self.0, self.0)))
    }
}

impl<'de> VariantAccess<'de> for NameAlone<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value, Error> {
        self.lacks()
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, _visitor: V) -> Result<V::Value, Error> {
        self.lacks()
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        let nothing = std::iter::empty::<(&str, Strict<'de>)>();
        visitor.visit_map(MapDeserializer::new(nothing)).map_err(|error: Error| {
            let said = error.to_string();
            let field = said.split('`').nth(1).unwrap_or("...");
            Error::custom(format!("`{}` needs `{field}`: {{ {} = {{ {field} = ... }} }}", self.0, self.0))
        })
    }
}
