//! How members of Ranger's JSON are read and written: as leniently as Jackson reads, as sparsely as `NON_EMPTY` writes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use stdx::Timestamp;

use crate::fault::{Faults, Path};

/// Milliseconds since 1970; also read from the text form that plug-in caches hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl From<Timestamp> for Millis {
    fn from(at: Timestamp) -> Self {
        Self(at.millis())
    }
}

impl From<Millis> for Timestamp {
    fn from(at: Millis) -> Self {
        Self::from_millis(at.0)
    }
}

/// A value that can stand in one of Ranger's objects.
pub(crate) trait Field: Sized + Default {
    /// Whether a null in a map is a fault. Leaving out a level of a resource would widen the policy.
    const NULL_IN_MAP_IS_FAULT: bool = false;

    /// Reads a value that is not null. Faults are collected, and the default stands in.
    fn read(value: Value, at: &Path<'_>, faults: &mut Faults) -> Self;

    /// Whether `NON_EMPTY` leaves it out: null, `""` and empty lists and maps, but neither `false` nor `0`.
    fn is_empty(&self) -> bool;
}

/// Takes a member out of an object; a missing one and a null are the same.
pub(crate) fn member<T: Field>(
    object: &mut Map<String, Value>,
    name: &str,
    at: &Path<'_>,
    faults: &mut Faults,
) -> T {
    match object.remove(name) {
        None | Some(Value::Null) => T::default(),
        Some(value) => T::read(value, &Path::Member(at, name), faults),
    }
}

fn expected<T: Default>(what: &str, at: &Path<'_>, faults: &mut Faults) -> T {
    faults.add(at, format!("expected {what}"));
    T::default()
}

impl Field for String {
    fn read(value: Value, at: &Path<'_>, faults: &mut Faults) -> Self {
        match value {
            Value::String(text) => text,
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => expected("a text", at, faults),
        }
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

impl Field for Option<String> {
    fn read(value: Value, at: &Path<'_>, faults: &mut Faults) -> Self {
        Some(String::read(value, at, faults)).filter(|text| !text.is_empty())
    }

    fn is_empty(&self) -> bool {
        self.as_ref().is_none_or(String::is_empty)
    }
}

impl Field for Option<i64> {
    fn read(value: Value, at: &Path<'_>, faults: &mut Faults) -> Self {
        let number = match &value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) if text.trim().is_empty() => return None,
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        if number.is_none() {
            return expected("a whole number", at, faults);
        }
        number
    }

    fn is_empty(&self) -> bool {
        self.is_none()
    }
}

impl Field for Option<bool> {
    fn read(value: Value, at: &Path<'_>, faults: &mut Faults) -> Self {
        match &value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) if text.trim().is_empty() => None,
            Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Some(true),
            Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Some(false),
            Value::Number(number) if number.as_i64() == Some(1) => Some(true),
            Value::Number(number) if number.as_i64() == Some(0) => Some(false),
            _ => expected("true or false", at, faults),
        }
    }

    fn is_empty(&self) -> bool {
        self.is_none()
    }
}

impl Field for Option<Millis> {
    fn read(value: Value, at: &Path<'_>, faults: &mut Faults) -> Self {
        let millis = match &value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) if text.trim().is_empty() => return None,
            Value::String(text) => text.trim().parse().ok().or_else(|| date_text(text.trim())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        match millis {
            Some(millis) => Some(Millis(millis)),
            None => expected("milliseconds since 1970", at, faults),
        }
    }

    fn is_empty(&self) -> bool {
        self.is_none()
    }
}

/// `20180801-19:30:00.000-0700`, and the same with one more `-` before the offset.
fn date_text(text: &str) -> Option<i64> {
    ["%Y%m%d-%H:%M:%S%.3f%z", "%Y%m%d-%H:%M:%S%.3f-%z"]
        .iter()
        .find_map(|format| chrono::DateTime::parse_from_str(text, format).ok())
        .map(|at| at.timestamp_millis())
}

impl<T: Field> Field for Vec<T> {
    fn read(value: Value, at: &Path<'_>, faults: &mut Faults) -> Self {
        let Value::Array(elements) = value else {
            return expected("a list", at, faults);
        };
        // A list without values matches everything, so nulls must not empty one.
        if !elements.is_empty() && elements.iter().all(Value::is_null) {
            return expected("something other than nulls", at, faults);
        }
        elements
            .into_iter()
            .enumerate()
            .filter(|(_, element)| !element.is_null())
            .map(|(idx, element)| T::read(element, &Path::Element(at, idx), faults))
            .collect()
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Field> Field for BTreeMap<String, T> {
    fn read(value: Value, at: &Path<'_>, faults: &mut Faults) -> Self {
        let Value::Object(members) = value else {
            return expected("an object", at, faults);
        };
        members
            .into_iter()
            .filter(|(_, member)| T::NULL_IN_MAP_IS_FAULT || !member.is_null())
            .map(|(name, member)| {
                let read = T::read(member, &Path::Member(at, &name), faults);
                (name, read)
            })
            .collect()
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

/// Declares objects of Ranger's JSON: each field with its name there.
///
/// Reading ignores unknown members and takes the last of duplicate ones.
macro_rules! wire {
    ($( $(#[$meta:meta])* $name:ident { $( $(#[$field_meta:meta])* $field:ident: $type:ty = $json:literal, )* } )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
        pub struct $name {
            $(
                $(#[$field_meta])*
                #[serde(rename = $json, skip_serializing_if = "crate::field::Field::is_empty")]
                pub $field: $type,
            )*
        }

        impl crate::field::Field for $name {
            const NULL_IN_MAP_IS_FAULT: bool = true;

            fn read(
                value: serde_json::Value,
                at: &crate::fault::Path<'_>,
                faults: &mut crate::fault::Faults,
            ) -> Self {
                let serde_json::Value::Object(mut object) = value else {
                    faults.add(at, "expected an object");
                    return Self::default();
                };
                Self { $( $field: crate::field::member(&mut object, $json, at, faults), )* }
            }

            fn is_empty(&self) -> bool {
                false
            }
        }

        impl crate::field::Field for Option<$name> {
            fn read(
                value: serde_json::Value,
                at: &crate::fault::Path<'_>,
                faults: &mut crate::fault::Faults,
            ) -> Self {
                Some($name::read(value, at, faults))
            }

            fn is_empty(&self) -> bool {
                self.is_none()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                Self::from_value(value).map_err(serde::de::Error::custom)
            }
        }

        impl $name {
            /// Reads a parsed document, and tells all its faults at once.
            pub fn from_value(value: serde_json::Value) -> Result<Self, crate::WireError> {
                let mut faults = crate::fault::Faults::default();
                let read = <Self as crate::field::Field>::read(value, &crate::fault::Path::Root, &mut faults);
                faults.unless_any(read)
            }

            /// Reads a document, and tells all its faults at once.
            pub fn from_json(text: &str) -> Result<Self, crate::WireError> {
                let value = serde_json::from_str(text)
                    .map_err(|error| crate::WireError::one(format!("not JSON: {error}")))?;
                Self::from_value(value)
            }

            pub fn to_json(&self) -> Result<String, crate::WireError> {
                serde_json::to_string(self).map_err(|error| crate::WireError::one(error.to_string()))
            }
        }
    )*};
}

pub(crate) use wire;
