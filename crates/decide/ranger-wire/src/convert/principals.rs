//! Roles, groups and users to and from the model.

use std::collections::BTreeMap;

use policy::model;
use serde_json::Value;
use stdx::Secret;

use super::{id, required, some_text};
use crate::fault::{Faults, Path};
use crate::field::Field;
use crate::{Group, GroupUsers, Role, RoleMember, User, WireError};

/// The option of a role that keeps whether a token may claim it, for which Ranger has no field.
pub const EXTERNAL_ROLE_OPTION: &str = "sluice.external";

impl Role {
    /// The role in the model's terms.
    pub fn to_model(&self) -> Result<model::Role, WireError> {
        let mut faults = Faults::default();
        let read = role(self, &Path::Root, &mut faults);
        faults.unless_any(read)
    }

    /// The role in Ranger's terms.
    pub fn from_model(from: &model::Role) -> Self {
        let mut options = from.options.clone();
        if from.is_external {
            options.insert(EXTERNAL_ROLE_OPTION.to_owned(), "true".to_owned());
        } else {
            options.remove(EXTERNAL_ROLE_OPTION);
        }
        Self {
            id: Some(from.id),
            name: some_text(&from.name),
            description: some_text(&from.description),
            options,
            users: from.users.iter().map(from_member).collect(),
            groups: from.groups.iter().map(from_member).collect(),
            roles: from.roles.iter().map(from_member).collect(),
            created_by_user: some_text(&from.created_by),
            ..Self::default()
        }
    }
}

pub(crate) fn role(from: &Role, at: &Path<'_>, faults: &mut Faults) -> model::Role {
    let mut options = from.options.clone();
    let is_external = match options.remove(EXTERNAL_ROLE_OPTION).as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => {
            let options_at = Path::Member(at, "options");
            faults.add(&Path::Member(&options_at, EXTERNAL_ROLE_OPTION), "expected true or false");
            false
        }
    };
    model::Role {
        id: id(from.id, at, faults),
        name: required(&from.name, "name", at, faults),
        description: from.description.clone().unwrap_or_default(),
        is_external,
        users: members(&from.users, &Path::Member(at, "users"), faults),
        groups: members(&from.groups, &Path::Member(at, "groups"), faults),
        roles: members(&from.roles, &Path::Member(at, "roles"), faults),
        options,
        created_by: from.created_by_user.clone().unwrap_or_default(),
    }
}

fn members(from: &[RoleMember], at: &Path<'_>, faults: &mut Faults) -> Vec<model::Member> {
    from.iter()
        .enumerate()
        .map(|(idx, from)| model::Member {
            name: required(&from.name, "name", &Path::Element(at, idx), faults),
            is_admin: from.is_admin.unwrap_or(false),
        })
        .collect()
}

fn from_member(from: &model::Member) -> RoleMember {
    RoleMember { name: some_text(&from.name), is_admin: Some(from.is_admin) }
}

impl GroupUsers {
    /// The group in the model's terms.
    pub fn to_model(&self) -> Result<model::Group, WireError> {
        let mut faults = Faults::default();
        let root = Path::Root;
        let at = Path::Member(&root, "xgroupInfo");
        let users_at = Path::Member(&root, "xuserInfo");
        let group = self.group.clone().unwrap_or_default();
        let read = model::Group {
            id: id(group.id, &at, &mut faults),
            name: required(&group.name, "name", &at, &mut faults),
            users: self
                .users
                .iter()
                .enumerate()
                .map(|(idx, user)| required(&user.name, "name", &Path::Element(&users_at, idx), &mut faults))
                .collect(),
            attributes: attributes(&group.other_attributes, &at, &mut faults),
        };
        faults.unless_any(read)
    }

    /// The group in Ranger's terms, its users by name.
    pub fn from_model(from: &model::Group) -> Result<Self, WireError> {
        let group = Group {
            id: Some(from.id),
            name: some_text(&from.name),
            other_attributes: from_attributes(&from.attributes)?,
            ..Group::default()
        };
        let users = from.users.iter().map(|name| User { name: some_text(name), ..User::default() }).collect();
        Ok(Self { group: Some(group), users })
    }
}

impl User {
    /// The user in the model's terms. The credential is kept apart: it never stands in Ranger's JSON.
    pub fn to_model(&self, credential: Option<Secret>) -> Result<model::User, WireError> {
        let mut faults = Faults::default();
        let at = Path::Root;
        let read = model::User {
            id: id(self.id, &at, &mut faults),
            name: required(&self.name, "name", &at, &mut faults),
            credential,
            attributes: attributes(&self.other_attributes, &at, &mut faults),
        };
        faults.unless_any(read)
    }

    /// The user in Ranger's terms, without the credential.
    pub fn from_model(from: &model::User) -> Result<Self, WireError> {
        Ok(Self {
            id: Some(from.id),
            name: some_text(&from.name),
            other_attributes: from_attributes(&from.attributes)?,
            ..Self::default()
        })
    }
}

/// `otherAttributes` is a JSON object inside a text.
fn attributes(text: &Option<String>, at: &Path<'_>, faults: &mut Faults) -> BTreeMap<String, String> {
    let Some(text) = text else {
        return BTreeMap::new();
    };
    let at = Path::Member(at, "otherAttributes");
    match serde_json::from_str::<Value>(text) {
        Ok(value) => BTreeMap::read(value, &at, faults),
        Err(_) => {
            faults.add(&at, "expected a text that holds a JSON object");
            BTreeMap::new()
        }
    }
}

fn from_attributes(from: &BTreeMap<String, String>) -> Result<Option<String>, WireError> {
    if from.is_empty() {
        return Ok(None);
    }
    serde_json::to_string(from).map(Some).map_err(|error| WireError::one(error.to_string()))
}
