//! Masks over whole arrays say the same as masks of one value after the other.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, LargeStringArray, StringArray, StringViewArray};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::{MaskType, run, settings};
use crate::text::{Classes, Rule, Shown};

fn every_rule() -> Vec<Rule> {
    let covers = [
        Classes::Ours,
        Classes::OursPlain,
        Classes::Hive,
        Classes::HivePlain,
        Classes::Spark,
        Classes::Trino,
        Classes::TrinoPlain,
    ];
    let mut rules = Vec::new();
    for cover in covers {
        for shown in [Shown::Nothing, Shown::First, Shown::Last] {
            for shows_short in [false, true] {
                rules.push(Rule { cover, shown, shows_short, counts_utf16: false });
            }
        }
    }
    rules
}

fn texts(with_others: bool) -> Vec<Option<String>> {
    let ascii: String = (0..128_u8).map(char::from).collect();
    let mut texts: Vec<Option<String>> =
        (0..=40).map(|n| Some(ascii.repeat(2)[n..2 * n + n / 3].to_owned())).collect();
    texts.extend([None, Some(String::new()), Some("Ann-42 x@Y.de".to_owned()), Some(ascii)]);
    if with_others {
        texts.push(Some("Äö٣🙂 Иван 北京 e\u{301}".to_owned()));
    }
    texts
}

#[test]
fn bulk_and_single_values_agree_for_every_rule_and_layout() {
    for with_others in [false, true] {
        let texts = texts(with_others);
        let arrays: [ArrayRef; 3] = [
            Arc::new(StringArray::from(texts.clone())),
            Arc::new(LargeStringArray::from(texts.clone())),
            Arc::new(StringViewArray::from_iter(texts.iter().map(Option::as_deref))),
        ];
        for rule in every_rule() {
            for array in &arrays {
                for (from, n_rows) in [(0, array.len()), (3, array.len() - 5), (7, 0)] {
                    let masked = crate::strings::mask(&rule, &array.slice(from, n_rows)).unwrap();
                    assert_eq!(masked.data_type(), array.data_type());
                    let masked = cast(&masked, &DataType::Utf8View).unwrap();
                    let expected: Vec<Option<String>> = texts[from..from + n_rows]
                        .iter()
                        .map(|text| {
                            let mut out = String::new();
                            rule.mask(text.as_ref()?, &mut out);
                            Some(out)
                        })
                        .collect();
                    let masked: Vec<_> =
                        masked.as_string_view().iter().map(|text| text.map(str::to_owned)).collect();
                    assert_eq!(masked, expected, "{rule:?} {}", array.data_type());
                }
            }
        }
    }
}

#[test]
fn a_masked_array_holds_no_stored_text_beside_its_values() {
    let long = "Secret-Secret-Secret-0123";
    let array: ArrayRef = Arc::new(StringViewArray::from(vec![Some(long), Some("short"), None]));
    for (name, kind) in [("MASK", MaskType::Mask), ("MASK_SHOW_LAST_4", MaskType::ShowLast4)] {
        let masked = run(kind, array.slice(1, 1), &settings(false, "k"));
        for buffer in masked.as_string_view().data_buffers() {
            let text = String::from_utf8_lossy(buffer.as_slice());
            assert!(!text.contains("Secret"), "{name}: {text}");
        }
    }
}

#[test]
fn dictionaries_are_masked_once_for_each_distinct_value() {
    let array: DictionaryArray<Int32Type> = vec!["abcdef", "x", "abcdef", "abcdef"].into_iter().collect();
    let data_type = array.data_type().clone();
    for kind in [MaskType::Mask, MaskType::Hash, MaskType::Token, MaskType::Email] {
        let masked = run(kind, Arc::new(array.clone()), &settings(false, "k"));
        assert_eq!(masked.data_type(), &data_type);
        let masked = masked.as_dictionary::<Int32Type>();
        assert_eq!(masked.values().len(), 2, "{kind:?}");
        assert_eq!(masked.keys(), array.keys());
        assert_ne!(masked.values(), array.values());
    }
}
