//! The settings under which Ranger's own test drivers run.

use policy::{ConditionErrors, PluginSettings};

/// How Ranger's test drivers set up a plug-in.
pub fn of_ranger() -> PluginSettings {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    PluginSettings {
        uses_forwarded_addr: true,
        trusted_proxies: Some(texts(&["255.255.255.255", "128.101.101.101", "128.101.101.99"])),
        cluster_name: Some("cl1".to_owned()),
        cluster_type: Some("on-prem".to_owned()),
        extra_date_formats: texts(&["abcd", "xyz", "yyyy/MM/dd'T'HH:mm:ss.SSS'Z'"]),
        condition_errors: ConditionErrors::Ranger,
        ..PluginSettings::default()
    }
}

/// In whose settings the cases are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Ranger,
    /// Our own: what cannot be evaluated counts against the user, and a schedule is read on its own clock.
    Sluice,
}

impl View {
    pub(crate) fn settings(self) -> PluginSettings {
        match self {
            Self::Ranger => of_ranger(),
            Self::Sluice => PluginSettings { condition_errors: ConditionErrors::AgainstUser, ..of_ranger() },
        }
    }
}
