//! SHOW EFFECTIVE POLICY against the rules that a read is made of.

use policy::model::PolicyId;
use policy::{ColumnRule, FilterRule, MaskRule, PassedOver, PassedOverReason, Restriction, TableRules};

use super::{Lines, effective_lines};

fn filter(id: i64, broken: Option<&str>, value: Option<&str>) -> FilterRule {
    FilterRule {
        policy: PolicyId(id),
        policy_name: format!("f{id}"),
        policy_version: id,
        expr: format!("a = {id}"),
        expressions: vec![("USER.x".to_owned(), value.map(str::to_owned))],
        broken: broken.map(str::to_owned),
    }
}

fn mask(kind: &str, value_expr: Option<&str>, value: Option<&str>) -> ColumnRule {
    ColumnRule::Masked(MaskRule {
        policy: PolicyId(7),
        policy_name: "m".to_owned(),
        policy_version: 3,
        mask_type: kind.to_owned(),
        value_expr: value_expr.map(str::to_owned),
        expressions: vec![("USER.y".to_owned(), value.map(str::to_owned))],
    })
}

fn restricted() -> ColumnRule {
    ColumnRule::Restricted(Restriction {
        policy: Some(PolicyId(9)),
        policy_name: Some("r".to_owned()),
        reason: "masks differ".to_owned(),
    })
}

/// Every set of rules over three columns and up to two filters of these forms.
fn all() -> Vec<TableRules> {
    let columns = [
        ColumnRule::Raw,
        mask("MASK", None, Some("1")),
        mask("CUSTOM", Some("b"), Some("1")),
        mask("CUSTOM", Some("b"), None),
        restricted(),
    ];
    let filters = [filter(1, None, Some("1")), filter(2, Some("why"), None), filter(3, None, None)];
    let mut found = Vec::new();
    for a in &columns {
        for b in &columns {
            for c in &columns {
                for n in 0..=filters.len() {
                    let passed_over = PassedOver {
                        policy: PolicyId(4),
                        policy_name: "p".to_owned(),
                        policy_version: 1,
                        column: None,
                        reason: PassedOverReason::Disabled,
                    };
                    found.push(TableRules {
                        filters: filters[..n].to_vec(),
                        columns: vec![a.clone(), b.clone(), c.clone()],
                        passed_over: vec![passed_over],
                        tags: Vec::new(),
                    });
                }
            }
        }
    }
    found
}

fn columns() -> Vec<String> {
    ["a", "b", "c"].map(str::to_owned).to_vec()
}

fn of_kind<'l>(lines: &'l Lines, kind: &str) -> Vec<&'l [Option<String>]> {
    lines.iter().filter(|line| line[0].as_deref() == Some(kind)).map(Vec::as_slice).collect()
}

#[test]
fn every_rule_of_a_read_is_a_line_and_nothing_else_is() {
    for rules in all() {
        let lines = effective_lines(true, &columns(), &rules);
        let filters = of_kind(&lines, "row_filter");
        let shown: Vec<_> =
            filters.iter().map(|line| (line[2].clone().unwrap(), line[3].clone().unwrap())).collect();
        let expected: Vec<_> =
            rules.filters.iter().map(|f| (f.expr.clone(), f.policy_name.clone())).collect();
        assert_eq!(shown, expected);
        // A filter that ends the read in an error says so.
        for (line, filter) in filters.iter().zip(&rules.filters) {
            let fails =
                filter.broken.is_some() || filter.expressions.iter().any(|(_, value)| value.is_none());
            assert_eq!(line[5].is_some(), fails);
        }
        let mut n_of_columns = 0;
        for (name, rule) in ["a", "b", "c"].iter().zip(&rules.columns) {
            let of_column = |kind| {
                of_kind(&lines, kind).into_iter().filter(|line| line[1].as_deref() == Some(*name)).count()
            };
            let found = (of_column("column_mask"), of_column("column_restriction"));
            n_of_columns += found.0 + found.1;
            assert_eq!(
                found,
                match rule {
                    ColumnRule::Raw | ColumnRule::Parts(_) => (0, 0),
                    ColumnRule::Masked(_) => (1, 0),
                    ColumnRule::Restricted(_) => (0, 1),
                }
            );
        }
        assert_eq!(lines.len(), rules.filters.len() + n_of_columns + rules.passed_over.len());
    }
}

#[test]
fn whoever_is_no_admin_learns_what_is_done_and_not_by_which_text() {
    for rules in all() {
        let lines = effective_lines(false, &columns(), &rules);
        let n_rules = rules.columns.iter().filter(|rule| !matches!(rule, ColumnRule::Raw)).count();
        assert_eq!(lines.len(), rules.filters.len() + n_rules);
        for line in &lines {
            let texts: String = line.iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
            for hidden in ["a = ", "CUSTOM: b", "USER.", "masks differ", "f1", "passed_over"] {
                assert!(!texts.contains(hidden), "{texts}");
            }
        }
    }
}
