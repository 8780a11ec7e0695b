//! A mask as a function of a plan, which no name in a user's SQL reaches.

use std::hash::{Hash, Hasher};

use arrow::datatypes::DataType;
use datafusion_common::{DataFusionError, Result, exec_err};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use masks::Mask;

/// One mask; what it shows of itself in plans is its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    mask: Mask,
    signature: Signature,
}

impl Kernel {
    pub(crate) fn new(mask: Mask) -> Self {
        Self { mask, signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl Hash for Kernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal kernels have equal names; the key need not be hashed for that.
        self.mask.name().hash(state);
    }
}

impl ScalarUDFImpl for Kernel {
    fn name(&self) -> &str {
        self.mask.name()
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
        let masked = self.mask.apply(&argument.to_array(args.number_rows)?);
        masked.map(ColumnarValue::Array).map_err(|error| DataFusionError::External(Box::new(error)))
    }
}
