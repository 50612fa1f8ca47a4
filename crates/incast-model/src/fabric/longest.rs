use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::units::{Bytes, Time};

/// Largest base RTTs and bandwidth-delay products by payload and, if true, on first paths; kept once they are found.
#[derive(Debug, Default)]
pub(super) struct Longest(Mutex<HashMap<(Bytes, bool), (Time, Bytes)>>);

impl Longest {
    pub(super) fn or_find(&self, key: (Bytes, bool), find: impl FnOnce() -> (Time, Bytes)) -> (Time, Bytes) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(key).or_insert_with(find)
    }
}

impl Clone for Longest {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Follows from the rest of the fabric.
impl PartialEq for Longest {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Longest {}
