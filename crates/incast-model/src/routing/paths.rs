use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Paths that packets take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Paths {
    /// All shortest paths in hops.
    #[default]
    Shortest,
    /// Up the tiers, then down, and never up again, even after failures: the shortest path down, else the higher-tier
    /// neighbours with the fewest hops left. Destinations that need a second turn up are unreachable. (Packets on their
    /// way down when routes change may turn up once.)
    UpDown,
}

impl Paths {
    /// Name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shortest => "shortest",
            Self::UpDown => "up-down",
        }
    }
}
