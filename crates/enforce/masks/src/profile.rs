//! Whose rendering the masks follow: ours, or that of an engine which shares the policies.

/// An engine whose bytes the masks of Ranger's types come out as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Nothing that may tell stays, and hashes are keyed.
    Sluice,
    /// Hive's own `mask` functions.
    Hive,
    /// The expressions of Kyuubi's plugin for Spark.
    Spark,
    /// The transformers of Ranger's definition of Trino.
    Trino,
}

impl Profile {
    /// Every profile with its name in the configuration.
    pub const ALL: [(&'static str, Self); 4] =
        [("sluice", Self::Sluice), ("hive", Self::Hive), ("spark", Self::Spark), ("trino", Self::Trino)];

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, profile)| *profile)
    }
}
