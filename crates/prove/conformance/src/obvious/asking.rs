//! A request made ready: who really asks, from where, as what, and with which tags.

use std::collections::BTreeMap;

use policy::model::ValiditySchedule;
use policy::{AttributeValue, ElementScope, MatchType, MatchingScope, Request, Resource};

use super::tokens::Fillings;

/// A tag that the requested resource carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundTag {
    pub(crate) kind: String,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) validity: Vec<ValiditySchedule>,
    /// How the tagged resource lies to the requested one.
    pub(crate) found: MatchType,
}

/// A request with everything that is looked up once for it.
pub(crate) struct Asking<'a, 'r> {
    pub(crate) request: &'a Request<'r>,
    /// `_any` where none was given.
    pub(crate) access: String,
    pub(crate) client_addr: Option<String>,
    pub(crate) cluster_name: Option<String>,
    pub(crate) cluster_type: Option<String>,
    pub(crate) tags: Vec<FoundTag>,
    /// Values of `{X}` in policies.
    pub(crate) tokens: BTreeMap<String, String>,
}

impl<'r> Asking<'_, 'r> {
    pub(crate) fn is_any(&self) -> bool {
        self.access == "_any"
    }

    pub(crate) fn is_admin(&self) -> bool {
        self.access == "_admin"
    }

    pub(crate) fn resource(&self) -> &Resource<'r> {
        &self.request.resource
    }

    /// Whether what lies below the resource counts too.
    pub(crate) fn reaches_below(&self) -> bool {
        self.is_any() || self.request.context.scope == MatchingScope::ItselfOrBelow
    }

    pub(crate) fn element_scopes(&self) -> &BTreeMap<String, ElementScope> {
        &self.request.context.element_scopes
    }

    pub(crate) fn user(&self) -> Option<&str> {
        Some(self.request.who.user.as_str()).filter(|user| !user.is_empty())
    }

    pub(crate) fn fillings<'f>(&self, expression: Option<&'f dyn Fn(&str) -> String>) -> Fillings<'f> {
        Fillings { tokens: self.tokens.clone(), expression }
    }
}

/// The texts of tokens: user, owner, and what the context gives as `token:X`.
pub(crate) fn tokens(request: &Request<'_>) -> BTreeMap<String, String> {
    let mut tokens = BTreeMap::new();
    for (name, value) in &request.context.attributes {
        if let (Some(token), AttributeValue::Text(text)) = (name.strip_prefix("token:"), value) {
            tokens.insert(token.to_owned(), text.clone());
        }
    }
    if !request.who.user.is_empty() {
        tokens.insert("USER".to_owned(), request.who.user.clone());
    }
    if let Some(owner) = request.owner {
        tokens.insert("OWNER".to_owned(), owner.to_owned());
    }
    tokens
}

/// The address that conditions see: the peer's, or the first forwarded one where the peer may be believed.
pub(crate) fn client_addr(request: &Request<'_>, settings: &policy::PluginSettings) -> Option<String> {
    let context = request.context;
    let given = context.client_addr_text.clone().or_else(|| request.client_addr.map(|addr| addr.to_string()));
    let remote = context.remote_addr.clone().or(given);
    let is_trusted = match (&settings.trusted_proxies, &remote) {
        (None, _) => true,
        (Some(proxies), Some(remote)) => proxies.contains(remote),
        (Some(_), None) => false,
    };
    let forwarded = context.forwarded_addrs.first().filter(|_| settings.uses_forwarded_addr && is_trusted);
    forwarded.cloned().or(remote)
}
