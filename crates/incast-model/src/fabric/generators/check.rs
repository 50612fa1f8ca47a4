use std::fmt::Display;

use schemars::JsonSchema;
use serde::Serialize;

use super::GeneratorError;
use crate::field::FieldError;
use crate::memory::{Memory, amount};
use crate::range;

/// More are a typing error: a million hosts need some hundred GB.
pub(super) const MAX_NODES: u64 = 1 << 20;

pub(super) const MAX_LINKS: u64 = 1 << 23;

/// Lower bounds for a node (with name) and a link (with ports).
const NODE_BYTES: u64 = 80;
const LINK_BYTES: u64 = 60;

#[derive(Debug, Clone, Copy)]
pub(super) struct Check(pub(super) &'static str);

impl Check {
    pub(super) fn error(self, field: impl Display, value: impl Display, allowed: impl Into<String>) -> GeneratorError {
        FieldError::range(format!("{}.{field}", self.0), value, allowed).into()
    }

    pub(super) fn fault(self, field: impl Display, message: impl Into<String>) -> FieldError {
        FieldError::new(format!("{}.{field}", self.0), message)
    }

    pub(super) fn ranges(self, spec: &(impl JsonSchema + Serialize + 'static)) -> Result<(), GeneratorError> {
        Ok(range::check(spec).map_err(|error| error.within(self.0))?)
    }

    pub(super) fn within(self, field: &str, value: u32, least: u32, most: u32) -> Result<(), GeneratorError> {
        if (least..=most).contains(&value) {
            Ok(())
        } else {
            Err(self.error(field, value, format!("{least} to {most}")))
        }
    }

    pub(super) fn size(self, nodes: u64, links: u64) -> Result<(), GeneratorError> {
        let refuse = |why: String| {
            let message = format!("{} makes {nodes} nodes and {links} links{why}", self.0);
            Err(FieldError::new(self.0, message).into())
        };
        if nodes > MAX_NODES || links > MAX_LINKS {
            return refuse(format!("; allowed: at most {MAX_NODES} nodes and {MAX_LINKS} links"));
        }
        let (bytes, memory) = (nodes * NODE_BYTES + links * LINK_BYTES, Memory::available());
        if bytes > memory.bytes {
            return refuse(format!(", which take at least {}; {memory}", amount(bytes as f64)));
        }
        Ok(())
    }
}
