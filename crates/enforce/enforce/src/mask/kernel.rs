//! A mask as a function of a plan, which no name in a user's SQL reaches.

use std::hash::{Hash, Hasher};

use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

use super::parts::Shape;

/// The mask of a column, or those of its parts; what it shows of itself in plans is its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    shape: Shape,
    signature: Signature,
}

impl Kernel {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { shape, signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl Hash for Kernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal kernels have equal names; the key need not be hashed for that.
        self.shape.name().hash(state);
    }
}

impl ScalarUDFImpl for Kernel {
    fn name(&self) -> &str {
        self.shape.name()
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
        self.shape.apply(&argument.to_array(args.number_rows)?).map(ColumnarValue::Array)
    }
}
