//! What a governance statement says, before any name is looked up.

use std::fmt;

/// A piece of the statement's text by byte offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// An identifier. Unquoted ones are folded to lower case, as in PostgreSQL; tags keep their case in any quotes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    pub value: String,
    pub is_quoted: bool,
    pub span: Span,
}

/// A name of one to n parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    pub parts: Vec<Ident>,
    pub span: Span,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            f.write_str(&part.value)?;
        }
        Ok(())
    }
}

/// An expression's source text, checked for SQL syntax only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprText {
    pub text: String,
    pub span: Span,
}

/// A query's source text, not parsed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryText {
    pub text: String,
    pub span: Span,
}

/// One statement of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Governance(Governance),
    /// A branch or tag of a table.
    TableRef(TableRef),
    /// Another name for a table or view.
    Rename(Rename),
    /// `SHOW STATS FOR t`.
    ShowStats(Name),
    Cursor(CursorStatement),
    /// SQL that sqlparser parsed and DataFusion plans.
    Sql(Box<sqlparser::ast::Statement>),
}

/// What is done with a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CursorStatement {
    /// `DECLARE name … CURSOR … FOR query`.
    Declare { name: Ident, options: CursorOptions, query: QueryText },
    /// `FETCH` gives the rows on the way, `MOVE` does not.
    Fetch { name: Ident, steps: CursorSteps, is_move: bool },
    /// `CLOSE name`; no name stands for `ALL`.
    Close { name: Option<Ident> },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CursorOptions {
    pub is_binary: bool,
    /// `SCROLL`: it may go back.
    pub is_scroll: bool,
    /// `WITH HOLD`: it outlives the transaction.
    pub is_held: bool,
}

/// Which rows a `FETCH` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorSteps {
    /// So many from here on, one at least.
    Forward(u64),
    /// All that are left.
    All,
    /// Back, or to a place: `PRIOR`, `FIRST`, `LAST`, `ABSOLUTE`, `RELATIVE`, `BACKWARD`, and counts below one.
    Elsewhere,
}

/// `ALTER TABLE t {CREATE|DROP} {BRANCH|TAG} …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRef {
    pub table: Name,
    pub if_exists: bool,
    pub kind: RefKind,
    pub name: Ident,
    pub action: RefAction,
}

/// `ALTER {TABLE|VIEW} [IF EXISTS] a RENAME TO b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// What the statement calls it; `ALTER TABLE` may name a view as well.
    pub is_view: bool,
    pub if_exists: bool,
    pub from: Name,
    pub to: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefKind {
    Branch,
    Tag,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefAction {
    Create { or_replace: bool, if_not_exists: bool, version: Option<RefVersion> },
    Drop { if_exists: bool },
}

/// What a new branch or tag stands for; a text names another branch or tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefVersion {
    Snapshot(i64),
    Name(String),
}

/// Who is granted to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Grantee {
    User(Ident),
    Role(Ident),
    Group(Ident),
    Public,
}

/// What is granted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantObject {
    /// `[TABLE] t`.
    Table(Name),
    View(Name),
    Schema(Name),
    /// `DATABASE c` or `CATALOG c`.
    Catalog(Name),
    Function(Name),
    AllTables {
        schema: Name,
    },
    AllViews {
        schema: Name,
    },
    FutureTables {
        schema: Name,
    },
    FutureViews {
        schema: Name,
    },
    /// `ALL DATASETS IN SCHEMA s`: tables and views.
    AllDatasets {
        schema: Name,
    },
}

/// A privilege as written (`SELECT`, `ALL PRIVILEGES`, `CREATE TABLE`), upper-cased and single-spaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivilegeText {
    pub name: String,
    /// `GRANT SELECT (a, b)`; empty for none.
    pub columns: Vec<Ident>,
    pub span: Span,
}

/// `VALID FROM 't' UNTIL 't'`; at least one of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validity {
    pub from: Option<String>,
    pub until: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub privileges: Vec<PrivilegeText>,
    pub objects: Vec<GrantObject>,
    pub grantees: Vec<Grantee>,
    pub with_grant_option: bool,
    /// `WITHOUT DISCOVERY`: write no traversal policies.
    pub without_discovery: bool,
    pub validity: Option<Validity>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revoke {
    /// `REVOKE GRANT OPTION FOR`.
    pub grant_option_only: bool,
    pub privileges: Vec<PrivilegeText>,
    pub objects: Vec<GrantObject>,
    pub grantees: Vec<Grantee>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deny {
    pub privileges: Vec<PrivilegeText>,
    pub objects: Vec<GrantObject>,
    pub grantees: Vec<Grantee>,
}

/// What a policy protects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyTarget {
    Table(Name),
    View(Name),
    Tag(Ident),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyBody {
    ColumnMask {
        /// `MASK_NULL`, `CUSTOM`, …, upper-cased; a component prefix stays (`hive:MASK`).
        mask_type: String,
        mask_type_span: Span,
        /// `ON COLUMN c[, …]`; empty for none.
        columns: Vec<Ident>,
        using: Option<ExprText>,
    },
    RowFilter {
        using: ExprText,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatePolicy {
    pub name: Ident,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub target: PolicyTarget,
    pub body: PolicyBody,
    pub grantees: Vec<Grantee>,
    pub except: Vec<Grantee>,
    /// `WITH PRIORITY OVERRIDE`.
    pub is_override: bool,
    pub validity: Option<Validity>,
    pub comment: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterPolicyAction {
    Enable,
    Disable,
    RenameTo(Ident),
    /// `SET COMMENT 'text'`, `SET USING (expr)`, `SET PRIORITY {NORMAL|OVERRIDE}`.
    SetComment(String),
    SetUsing(ExprText),
    SetPriority {
        is_override: bool,
    },
    ForgetName(Name),
    Rebind,
}

/// `f(c, …)` of an attached policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyCall {
    pub function: Name,
    pub columns: Vec<Ident>,
    pub span: Span,
}

/// A parameter of a function, or a column of the table that it returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionParameter {
    pub name: Ident,
    pub data_type: sqlparser::ast::DataType,
    pub is_not_null: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionReturns {
    Scalar { data_type: sqlparser::ast::DataType, is_not_null: bool },
    Table(Vec<FunctionParameter>),
}

/// What follows `RETURN`, checked for SQL syntax only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionBody {
    Expression(ExprText),
    Query(ExprText),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDefinition {
    pub name: Name,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub parameters: Vec<FunctionParameter>,
    pub returns: FunctionReturns,
    pub body: FunctionBody,
}

/// The policies that a `CREATE TABLE` or `CREATE VIEW` attaches to what it makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InlinePolicies {
    pub masks: Vec<(Ident, PolicyCall)>,
    pub row_access: Vec<PolicyCall>,
    /// `CREATE VIEW v (c VARCHAR …)`: types that the query's columns must have.
    pub view_column_types: Vec<(Ident, sqlparser::ast::DataType)>,
}

/// Every governance statement of the SQL surface (docs/reference/sql.md).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Governance {
    // Identities.
    CreateUser {
        name: Ident,
        if_not_exists: bool,
        password: Option<stdx::Secret>,
    },
    AlterUserPassword {
        name: Ident,
        password: stdx::Secret,
    },
    DropUser {
        name: Ident,
        if_exists: bool,
    },
    CreateRole {
        name: Ident,
        if_not_exists: bool,
        is_external: bool,
    },
    DropRole {
        name: Ident,
        if_exists: bool,
    },
    /// `GRANT ROLE r[, …] TO …`; `with_admin_option` as written.
    GrantRole {
        roles: Vec<Ident>,
        to: Vec<Grantee>,
        with_admin_option: bool,
    },
    RevokeRole {
        roles: Vec<Ident>,
        from: Vec<Grantee>,
        admin_option_only: bool,
    },
    CreateGroup {
        name: Ident,
        if_not_exists: bool,
    },
    DropGroup {
        name: Ident,
        if_exists: bool,
    },
    AlterGroup {
        name: Ident,
        add: bool,
        users: Vec<Ident>,
    },
    ShowUsers,
    ShowRoles,
    ShowGroups,
    ShowRoleGrants {
        role: Option<Ident>,
    },
    ShowCurrentRoles,
    // Gate one.
    Grant(Grant),
    Revoke(Revoke),
    Deny(Deny),
    GrantOwnership {
        object: GrantObject,
        to: Grantee,
    },
    // Gate two.
    CreatePolicy(CreatePolicy),
    AlterPolicy {
        name: Ident,
        action: AlterPolicyAction,
    },
    DropPolicy {
        name: Ident,
        if_exists: bool,
    },
    /// `SHOW POLICIES [ON t | FOR grantee]`.
    ShowPolicies {
        on: Option<PolicyTarget>,
        grantee: Option<Grantee>,
    },
    DescribePolicy {
        name: Ident,
    },
    ShowCreatePolicy {
        name: Ident,
    },
    ShowPolicyHistory {
        name: Ident,
    },
    RollbackPolicy {
        name: Ident,
        version: i64,
    },
    ShowMaskingPolicies {
        name: Option<Ident>,
    },
    ShowRowFilters,
    // Functions and attached policies.
    /// `text` is the whole statement.
    CreateFunction {
        text: String,
        span: Span,
        definition: Box<FunctionDefinition>,
    },
    DropFunction {
        name: Name,
        if_exists: bool,
    },
    DescribeFunction {
        name: Name,
    },
    ShowFunctions {
        like: Option<String>,
    },
    AddRowAccessPolicy {
        object: Name,
        if_exists: bool,
        call: PolicyCall,
    },
    DropRowAccessPolicy {
        object: Name,
        if_exists: bool,
        call: PolicyCall,
    },
    SetMaskingPolicy {
        object: Name,
        column: Ident,
        call: PolicyCall,
    },
    UnsetMaskingPolicy {
        object: Name,
        column: Ident,
        function: Option<Name>,
    },
    // Tags.
    SetTags {
        table: Name,
        tags: Vec<(Ident, Vec<Ident>)>,
    },
    UnsetTags {
        table: Name,
        columns: Vec<Ident>,
    },
    SetColumnTags {
        table: Name,
        column: Ident,
        tags: Vec<Ident>,
    },
    UnsetColumnTags {
        table: Name,
        column: Ident,
        tags: Vec<Ident>,
    },
    ShowTags {
        table: Name,
    },
    /// `SHOW TAGS WITHOUT POLICY`: what is tagged and not protected by its tags.
    ShowTagsWithoutPolicy,
    CreateTag {
        name: Ident,
        if_not_exists: bool,
    },
    DropTag {
        name: Ident,
        if_exists: bool,
    },
    // Asking why.
    ShowGrantsOn {
        object: GrantObject,
    },
    ShowGrantsTo {
        grantee: Grantee,
    },
    ShowEffectiveGrants {
        user: Ident,
    },
    CheckAccess {
        privilege: PrivilegeText,
        object: GrantObject,
        user: Option<Ident>,
    },
    ShowEffectivePolicy {
        user: Option<Ident>,
        table: Name,
    },
    ExplainPolicy {
        query: QueryText,
        user: Option<Ident>,
    },
    Simulate {
        user: Option<Ident>,
        /// The roles that the user is to have instead of her own.
        roles: Option<Vec<Ident>>,
        /// Governance statements that are to hold for this query.
        bundle: Option<String>,
        query: QueryText,
    },
    Reflection {
        span: Span,
    },
    /// `CREATE TABLE` or `CREATE VIEW` with a `MASKING POLICY` or `ROW ACCESS POLICY` written into it.
    ///
    /// The span is that of the first policy, and `statement` is what is left without them; it must never run
    /// alone, since the table would stand unprotected.
    InlinePolicies {
        span: Span,
        statement: Box<sqlparser::ast::Statement>,
        policies: InlinePolicies,
    },
    /// `CALL system.reproject_column_tags(…)` and the like.
    Call {
        name: Name,
        arguments: Vec<(Option<Ident>, String)>,
    },
}
