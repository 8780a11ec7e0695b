//! How much of what there is.

/// The measures of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub n_policies: u32,
    pub n_databases: u32,
    pub n_tables: u32,
    pub n_columns: u32,
    pub n_zones: u32,
    pub n_tags: u32,
    pub n_tag_policies: u32,
    pub n_tagged: u32,
    pub n_users: u32,
    pub n_groups: u32,
    pub n_roles: u32,
    /// Only what every peer can express: exact tables, one principal each, plain denials.
    pub is_exact: bool,
}

impl Shape {
    /// Everything that an engine of Ranger's kind is made for.
    ///
    /// Ranger admits a resource once only, so that there are more databases where there are more policies.
    pub fn mixed(n_policies: u32) -> Self {
        Self {
            n_policies,
            n_databases: (n_policies / 10).max(1_000),
            n_tables: 100,
            n_columns: 50,
            n_zones: 10,
            n_tags: 200,
            n_tag_policies: 500,
            n_tagged: if n_policies >= 100_000 { 250_000 } else { 25_000 },
            n_users: 10_000,
            n_groups: 500,
            n_roles: 300,
            is_exact: false,
        }
    }

    pub fn exact(n_policies: u32) -> Self {
        Self { is_exact: true, ..Self::mixed(n_policies).without_zones().without_tags() }
    }

    pub fn without_zones(self) -> Self {
        Self { n_zones: 0, ..self }
    }

    pub fn without_tags(self) -> Self {
        Self { n_tags: 0, n_tag_policies: 0, n_tagged: 0, ..self }
    }

    pub fn with_tagged(self, n_tagged: u32) -> Self {
        Self { n_tagged, ..self }
    }

    /// Endings of table names: about half of them have a policy where endings have policies.
    pub fn n_endings(&self) -> u32 {
        (self.n_policies / 50).max(1)
    }

    pub fn n_all_tables(&self) -> u32 {
        self.n_databases * self.n_tables
    }

    /// Every fifth database is in a zone.
    pub fn zone_of(&self, database: u32) -> Option<u32> {
        (self.n_zones > 0 && database.is_multiple_of(5)).then(|| database / 5 % self.n_zones)
    }
}
