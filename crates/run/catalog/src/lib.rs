//! Finds Iceberg tables and shows them to DataFusion; knows no policy.

mod catalog;
mod codec;
mod column_tags;
mod error;
mod evolve;
mod inspect;
mod ledger;
mod name;
mod past;
mod refs;
mod scan;
mod schema;
mod table;
mod view;
mod warehouse;
mod write;

pub use catalog::{Catalog, CatalogConfig};
pub use codec::IcebergCodec;
pub use column_tags::{COLUMN_TAGS, ColumnTags, FieldTags, column_tags_text};
pub use error::CatalogError;
pub use inspect::MetadataTable;
pub use ledger::{Kind, PendingRename};
pub use past::{NamedSnapshot, Past, Version};
pub use refs::NewRef;
pub use scan::{FIELD_ID_KEY, IcebergSource, IcebergTableProvider, ROW};
pub use table::TableHandle;
pub use view::{NewView, OnExisting, View, ViewSecurity};
pub use write::{CheckRows, PendingTable, RowChange, RowChanges, TableChange};
