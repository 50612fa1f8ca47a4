use std::collections::HashMap;

use foldhash::fast::FixedState;

/// Map with a hash cheap enough for a lookup per packet; its order must not matter.
pub(crate) type Map<K, V> = HashMap<K, V, FixedState>;
