use super::GeneratorError;
use crate::memory::Memory;
use crate::units::{Rate, Time};

/// More are a typing error (a million hosts need some hundred GB to simulate).
pub(super) const MAX_NODES: u64 = 1 << 20;

pub(super) const MAX_LINKS: u64 = 1 << 23;

/// Lower bounds for a node (with its name) and a link (with its two ports).
const NODE_BYTES: u64 = 80;
const LINK_BYTES: u64 = 60;

/// In one second light travels around the Earth seven times.
pub(crate) const MAX_DELAY: Time = Time::ms(1000);

#[derive(Debug, Clone, Copy)]
pub(super) struct Check(pub(super) &'static str);

impl Check {
    pub(super) fn error(
        self,
        field: impl Into<String>,
        value: impl ToString,
        allowed: impl Into<String>,
    ) -> GeneratorError {
        GeneratorError::Value {
            generator: self.0,
            field: field.into(),
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }

    pub(super) fn at_least(self, field: &str, value: u32, least: u32) -> Result<(), GeneratorError> {
        if value < least { Err(self.error(field, value, format!("{least} or more"))) } else { Ok(()) }
    }

    pub(super) fn within(self, field: &str, value: u32, least: u32, most: u32) -> Result<(), GeneratorError> {
        if (least..=most).contains(&value) {
            Ok(())
        } else {
            Err(self.error(field, value, format!("{least} to {most}")))
        }
    }

    pub(super) fn rate(self, field: impl Into<String>, value: Rate) -> Result<(), GeneratorError> {
        if value == Rate::ZERO { Err(self.error(field, value, "more than 0bps, such as \"100Gbps\"")) } else { Ok(()) }
    }

    pub(super) fn delay(self, field: impl Into<String>, value: Time) -> Result<(), GeneratorError> {
        if value > MAX_DELAY { Err(self.error(field, value, format!("0ps to {MAX_DELAY}"))) } else { Ok(()) }
    }

    pub(super) fn size(self, nodes: u64, links: u64) -> Result<(), GeneratorError> {
        if nodes > MAX_NODES || links > MAX_LINKS {
            return Err(GeneratorError::TooLarge { generator: self.0, nodes, links });
        }
        let (bytes, memory) = (nodes * NODE_BYTES + links * LINK_BYTES, Memory::available());
        if bytes > memory.bytes {
            return Err(GeneratorError::Memory { generator: self.0, nodes, links, bytes, memory });
        }
        Ok(())
    }
}

/// Optional value or its default, with the name of the field that set it.
pub(super) fn either<'a, T>(field: &'a str, value: Option<T>, default: (&'a str, T)) -> (&'a str, T) {
    value.map_or(default, |value| (field, value))
}
