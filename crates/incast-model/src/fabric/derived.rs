use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Values that follow from the fabric, by type and key; kept once they are found.
#[derive(Default)]
pub(crate) struct Derived(Mutex<HashMap<TypeId, Box<dyn Any + Send>>>);

impl Derived {
    /// `find` must not look here itself.
    pub(crate) fn or_find<K, V>(&self, key: K, find: impl FnOnce() -> V) -> V
    where
        K: Eq + Hash + Send + 'static,
        V: Clone + Send + 'static,
    {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = kinds.entry(TypeId::of::<HashMap<K, V>>()).or_insert_with(|| Box::new(HashMap::<K, V>::new()));
        let known = kind.downcast_mut::<HashMap<K, V>>().expect("the entry has this type");
        known.entry(key).or_insert_with(find).clone()
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Derived")
    }
}

impl Clone for Derived {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Follows from the rest of the fabric.
impl PartialEq for Derived {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Derived {}
