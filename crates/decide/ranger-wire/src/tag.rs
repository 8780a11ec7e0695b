//! Tags, and the resources that carry them, as Ranger writes them (RangerTagDef, RangerTag, RangerServiceResource).

use std::collections::BTreeMap;

use crate::field::{Millis, wire};
use crate::{ResourceValues, ValiditySchedule};

wire! {
    /// RangerTagDef.
    TagDef {
        id: Option<i64> = "id",
        guid: Option<String> = "guid",
        is_enabled: Option<bool> = "isEnabled",
        created_by: Option<String> = "createdBy",
        updated_by: Option<String> = "updatedBy",
        create_time: Option<Millis> = "createTime",
        update_time: Option<Millis> = "updateTime",
        version: Option<i64> = "version",
        name: Option<String> = "name",
        source: Option<String> = "source",
        attribute_defs: Vec<TagAttributeDef> = "attributeDefs",
    }

    /// RangerTagAttributeDef.
    TagAttributeDef {
        name: Option<String> = "name",
        kind: Option<String> = "type",
    }

    /// RangerTag.
    Tag {
        id: Option<i64> = "id",
        guid: Option<String> = "guid",
        is_enabled: Option<bool> = "isEnabled",
        created_by: Option<String> = "createdBy",
        updated_by: Option<String> = "updatedBy",
        create_time: Option<Millis> = "createTime",
        update_time: Option<Millis> = "updateTime",
        version: Option<i64> = "version",
        kind: Option<String> = "type",
        /// 0: a resource's own; 1: the service's.
        owner: Option<i64> = "owner",
        attributes: BTreeMap<String, String> = "attributes",
        options: BTreeMap<String, String> = "options",
        validity_periods: Vec<ValiditySchedule> = "validityPeriods",
    }

    /// RangerServiceResource.
    ServiceResource {
        id: Option<i64> = "id",
        guid: Option<String> = "guid",
        is_enabled: Option<bool> = "isEnabled",
        created_by: Option<String> = "createdBy",
        updated_by: Option<String> = "updatedBy",
        create_time: Option<Millis> = "createTime",
        update_time: Option<Millis> = "updateTime",
        version: Option<i64> = "version",
        service_name: Option<String> = "serviceName",
        resource_elements: BTreeMap<String, ResourceValues> = "resourceElements",
        owner_user: Option<String> = "ownerUser",
        resource_signature: Option<String> = "resourceSignature",
        additional_info: BTreeMap<String, String> = "additionalInfo",
    }

    /// RangerTagResourceMap: one tag on one resource.
    TagResourceMap {
        id: Option<i64> = "id",
        guid: Option<String> = "guid",
        is_enabled: Option<bool> = "isEnabled",
        created_by: Option<String> = "createdBy",
        updated_by: Option<String> = "updatedBy",
        create_time: Option<Millis> = "createTime",
        update_time: Option<Millis> = "updateTime",
        version: Option<i64> = "version",
        tag_id: Option<i64> = "tagId",
        resource_id: Option<i64> = "resourceId",
    }

    /// A resource together with the numbers of its tags, which Ranger keeps apart.
    TaggedResource {
        resource: Option<ServiceResource> = "resource",
        tag_ids: Vec<Option<i64>> = "tagIds",
    }

    /// ServiceTags: what a plug-in downloads.
    ServiceTags {
        op: Option<String> = "op",
        service_name: Option<String> = "serviceName",
        tag_version: Option<i64> = "tagVersion",
        tag_update_time: Option<Millis> = "tagUpdateTime",
        tag_definitions: BTreeMap<String, TagDef> = "tagDefinitions",
        tags: BTreeMap<String, Tag> = "tags",
        service_resources: Vec<ServiceResource> = "serviceResources",
        /// By the resource's number, as a text.
        resource_to_tag_ids: BTreeMap<String, Vec<Option<i64>>> = "resourceToTagIds",
        is_delta: Option<bool> = "isDelta",
        /// `NONE`, `TAGS`, `SERVICE_RESOURCE` or `ALL`.
        tags_change_extent: Option<String> = "tagsChangeExtent",
        is_tags_deduped: Option<bool> = "isTagsDeduped",
    }
}
