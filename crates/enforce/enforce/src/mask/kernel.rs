//! The masks as vectorised functions, which no name in a user's SQL reaches.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, LargeStringBuilder, StringBuilder, StringViewBuilder};
use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use stdx::Secret;

use super::{hash, text, year};

#[derive(Clone, PartialEq, Eq)]
enum Which {
    Classes,
    Last4 { show_short_values: bool },
    First4 { show_short_values: bool },
    Hash { key: Secret },
    Year,
}

/// One mask; its `Debug` and its name never show the key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Kernel {
    which: Which,
    signature: Signature,
}

impl Kernel {
    fn new(which: Which) -> Self {
        Self { which, signature: Signature::any(1, Volatility::Immutable) }
    }

    pub(crate) fn classes() -> Self {
        Self::new(Which::Classes)
    }

    pub(crate) fn last_4(show_short_values: bool) -> Self {
        Self::new(Which::Last4 { show_short_values })
    }

    pub(crate) fn first_4(show_short_values: bool) -> Self {
        Self::new(Which::First4 { show_short_values })
    }

    pub(crate) fn hash(key: Secret) -> Self {
        Self::new(Which::Hash { key })
    }

    pub(crate) fn year() -> Self {
        Self::new(Which::Year)
    }

    fn mask_text(&self, value: &str, out: &mut String) -> Result<()> {
        match &self.which {
            Which::Classes => text::classes(value, out),
            Which::Last4 { show_short_values } => text::last_4(value, *show_short_values, out),
            Which::First4 { show_short_values } => text::first_4(value, *show_short_values, out),
            Which::Hash { key } => {
                if hash::hmac_hex(key, value, out).is_none() {
                    return exec_err!("the hash mask has no key");
                }
            }
            Which::Year => return exec_err!("the year mask met a text"),
        }
        Ok(())
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Hash for Kernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal kernels have equal names; the key need not be hashed for that.
        self.name().hash(state);
    }
}

impl ScalarUDFImpl for Kernel {
    fn name(&self) -> &str {
        match self.which {
            Which::Classes => "mask",
            Which::Last4 { .. } => "mask_show_last_4",
            Which::First4 { .. } => "mask_show_first_4",
            Which::Hash { .. } => "mask_hash",
            Which::Year => "mask_date_show_year",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [one] => Ok(one.clone()),
            _ => exec_err!("a mask takes one column"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [argument] = args.args.as_slice() else {
            return exec_err!("a mask takes one column");
        };
        let array = argument.to_array(args.number_rows)?;
        let masked: ArrayRef = match (&self.which, array.data_type()) {
            (Which::Year, _) => year::year_starts(array.as_ref())?,
            (_, DataType::Utf8) => {
                let mut out = StringBuilder::with_capacity(array.len(), 0);
                let mut buffer = String::new();
                for value in array.as_string::<i32>() {
                    out.append_option(self.one(value, &mut buffer)?);
                }
                Arc::new(out.finish())
            }
            (_, DataType::LargeUtf8) => {
                let mut out = LargeStringBuilder::with_capacity(array.len(), 0);
                let mut buffer = String::new();
                for value in array.as_string::<i64>() {
                    out.append_option(self.one(value, &mut buffer)?);
                }
                Arc::new(out.finish())
            }
            (_, DataType::Utf8View) => {
                let mut out = StringViewBuilder::with_capacity(array.len());
                let mut buffer = String::new();
                for value in array.as_string_view() {
                    out.append_option(self.one(value, &mut buffer)?);
                }
                Arc::new(out.finish())
            }
            (_, other) => return exec_err!("a text mask does not take {other}"),
        };
        Ok(ColumnarValue::Array(masked))
    }
}

impl Kernel {
    fn one<'a>(&self, value: Option<&str>, buffer: &'a mut String) -> Result<Option<&'a str>> {
        let Some(value) = value else {
            return Ok(None);
        };
        buffer.clear();
        self.mask_text(value, buffer)?;
        Ok(Some(buffer.as_str()))
    }
}
