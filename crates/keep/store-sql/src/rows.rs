//! How things stand in rows: Ranger's JSON, checked to read back as what was written.

use std::fmt::Display;

use policy::model::{Group, Policy, Role, Service, ServiceDef, Tag, TagDef, TaggedResource, User, Zone};
use ranger_wire::WireError;
use stdx::Secret;
use store::StoreError;

/// A thing that the store keeps under a key.
pub(crate) trait Row: Sized + PartialEq {
    /// Such as `policy`, for messages.
    const NAME: &'static str;

    fn key(&self) -> String;
    fn to_json(&self) -> Result<String, WireError>;
    fn credential(&self) -> Option<Secret> {
        None
    }
    fn from_json(json: &str, credential: Option<Secret>) -> Result<Self, WireError>;

    /// The JSON to keep. What would read back as something else is refused before it is written.
    fn encoded(&self) -> Result<String, StoreError> {
        let faulty =
            |why: &dyn Display| StoreError::Corrupt(format!("{} `{}`: {why}", Self::NAME, self.key()));
        let json = self.to_json().map_err(|error| faulty(&error))?;
        let again = Self::from_json(&json, self.credential()).map_err(|error| faulty(&error))?;
        if again != *self {
            return Err(faulty(&"it would not read back as it is"));
        }
        Ok(json)
    }
}

impl Row for ServiceDef {
    const NAME: &'static str = "service definition";

    fn key(&self) -> String {
        self.name.clone()
    }

    fn to_json(&self) -> Result<String, WireError> {
        ranger_wire::ServiceDef::from_model(self).to_json()
    }

    fn from_json(json: &str, _: Option<Secret>) -> Result<Self, WireError> {
        ranger_wire::ServiceDef::from_json(json)?.to_model()
    }
}

impl Row for Service {
    const NAME: &'static str = "service";

    fn key(&self) -> String {
        self.name.clone()
    }

    fn to_json(&self) -> Result<String, WireError> {
        ranger_wire::Service::from_model(self).to_json()
    }

    fn from_json(json: &str, _: Option<Secret>) -> Result<Self, WireError> {
        ranger_wire::Service::from_json(json)?.to_model()
    }
}

impl Row for Policy {
    const NAME: &'static str = "policy";

    fn key(&self) -> String {
        self.id.0.to_string()
    }

    fn to_json(&self) -> Result<String, WireError> {
        ranger_wire::Policy::from_model(self).to_json()
    }

    fn from_json(json: &str, _: Option<Secret>) -> Result<Self, WireError> {
        ranger_wire::Policy::from_json(json)?.to_model()
    }
}

impl Row for Role {
    const NAME: &'static str = "role";

    fn key(&self) -> String {
        self.name.clone()
    }

    fn to_json(&self) -> Result<String, WireError> {
        ranger_wire::Role::from_model(self).to_json()
    }

    fn from_json(json: &str, _: Option<Secret>) -> Result<Self, WireError> {
        ranger_wire::Role::from_json(json)?.to_model()
    }
}

impl Row for Group {
    const NAME: &'static str = "group";

    fn key(&self) -> String {
        self.name.clone()
    }

    fn to_json(&self) -> Result<String, WireError> {
        ranger_wire::GroupUsers::from_model(self)?.to_json()
    }

    fn from_json(json: &str, _: Option<Secret>) -> Result<Self, WireError> {
        ranger_wire::GroupUsers::from_json(json)?.to_model()
    }
}

impl Row for User {
    const NAME: &'static str = "user";

    fn key(&self) -> String {
        self.name.clone()
    }

    fn to_json(&self) -> Result<String, WireError> {
        ranger_wire::User::from_model(self)?.to_json()
    }

    fn credential(&self) -> Option<Secret> {
        self.credential.clone()
    }

    fn from_json(json: &str, credential: Option<Secret>) -> Result<Self, WireError> {
        ranger_wire::User::from_json(json)?.to_model(credential)
    }
}

impl Row for Zone {
    const NAME: &'static str = "zone";

    fn key(&self) -> String {
        self.name.clone()
    }

    fn to_json(&self) -> Result<String, WireError> {
        ranger_wire::Zone::from_model(self).to_json()
    }

    fn from_json(json: &str, _: Option<Secret>) -> Result<Self, WireError> {
        ranger_wire::Zone::from_json(json)?.to_model()
    }
}

impl Row for TagDef {
    const NAME: &'static str = "tag definition";

    fn key(&self) -> String {
        self.name.clone()
    }

    fn to_json(&self) -> Result<String, WireError> {
        ranger_wire::TagDef::from_model(self).to_json()
    }

    fn from_json(json: &str, _: Option<Secret>) -> Result<Self, WireError> {
        ranger_wire::TagDef::from_json(json)?.to_model()
    }
}

impl Row for Tag {
    const NAME: &'static str = "tag";

    fn key(&self) -> String {
        self.id.0.to_string()
    }

    fn to_json(&self) -> Result<String, WireError> {
        ranger_wire::Tag::from_model(self).to_json()
    }

    fn from_json(json: &str, _: Option<Secret>) -> Result<Self, WireError> {
        ranger_wire::Tag::from_json(json)?.to_model()
    }
}

impl Row for TaggedResource {
    const NAME: &'static str = "tagged resource";

    fn key(&self) -> String {
        self.id.0.to_string()
    }

    fn to_json(&self) -> Result<String, WireError> {
        ranger_wire::TaggedResource::from_model(self).to_json()
    }

    fn from_json(json: &str, _: Option<Secret>) -> Result<Self, WireError> {
        ranger_wire::TaggedResource::from_json(json)?.to_model()
    }
}
