//! The definition of message brokers: five kinds of resources that stand side by side.

use super::{KAFKA, ip_range, level, owned};
use crate::model::{AccessTypeDef, ResourceDef, ServiceDef};

/// Name, and the access types that a form should offer for it.
const LEVELS: &[(&str, &[&str])] = &[
    (
        "topic",
        &[
            "create",
            "delete",
            "configure",
            "alter",
            "alter_configs",
            "describe",
            "describe_configs",
            "consume",
            "publish",
        ],
    ),
    ("transactionalid", &["publish", "describe"]),
    (
        "cluster",
        &[
            "create",
            "configure",
            "alter",
            "alter_configs",
            "describe",
            "describe_configs",
            "kafka_admin",
            "idempotent_write",
            "cluster_action",
        ],
    ),
    ("delegationtoken", &["describe"]),
    ("consumergroup", &["consume", "describe", "delete"]),
];

/// Name, label, category, implied grants.
const ACCESS_TYPES: &[(&str, &str, &str, &[&str])] = &[
    ("publish", "Publish", "UPDATE", &["describe"]),
    ("consume", "Consume", "READ", &["describe"]),
    ("configure", "Configure", "MANAGE", &["describe"]),
    ("describe", "Describe", "READ", &[]),
    (
        "kafka_admin",
        "Administer",
        "MANAGE",
        &[
            "publish",
            "consume",
            "configure",
            "describe",
            "create",
            "delete",
            "describe_configs",
            "alter_configs",
            "alter",
            "idempotent_write",
            "cluster_action",
        ],
    ),
    ("create", "Create", "CREATE", &[]),
    ("delete", "Delete", "DELETE", &["describe"]),
    ("idempotent_write", "Idempotent write", "UPDATE", &[]),
    ("describe_configs", "Describe settings", "READ", &[]),
    ("alter_configs", "Alter settings", "MANAGE", &["describe_configs"]),
    ("cluster_action", "Cluster action", "MANAGE", &[]),
    ("alter", "Alter", "MANAGE", &[]),
];

/// The definition of Kafka.
pub fn kafka() -> ServiceDef {
    ServiceDef {
        id: 9,
        name: KAFKA.to_owned(),
        display_name: KAFKA.to_owned(),
        label: "Kafka".to_owned(),
        resources: LEVELS
            .iter()
            .map(|(name, offered)| ResourceDef {
                is_valid_leaf: None,
                access_type_restrictions: owned(offered),
                ..level(name, 1, None)
            })
            .collect(),
        access_types: ACCESS_TYPES
            .iter()
            .map(|(name, label, category, implied)| AccessTypeDef {
                name: (*name).to_owned(),
                label: (*label).to_owned(),
                implied_grants: owned(implied),
                category: Some((*category).to_owned()),
            })
            .collect(),
        conditions: vec![ip_range()],
        ..ServiceDef::default()
    }
}
