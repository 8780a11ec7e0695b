//! No text makes the parser panic, and every error points into its text.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::corpus;
use crate::{parse, redact, split};

/// Bits that mean something to a tokenizer, to be strewn into statements.
const BITS: &[&str] = &[
    "'", "\"", "`", "$$", "$a$", "/*", "*/", "--", "\n", ";", "(", ")", "{", "}", "[", "]", "<", ">>", ",",
    ".", "::", "é", "\u{0}", "{col}", "${{", "}}", " ON ", " TO ", " USING (", " POLICY ", " RETURN ",
    "E'\\", "U&'", "X'", " AS ", "1e",
];

fn statements() -> Vec<String> {
    let ours = corpus::OURS.iter().map(|(_, statement)| (*statement).to_owned());
    ours.chain(corpus::OTHERS.iter().map(|statement| (*statement).to_owned())).collect()
}

fn check(text: &str) {
    if let Err(error) = parse(text) {
        assert!(text.is_char_boundary(error.position), "{error:?}: {text}");
    }
    if let Ok(pieces) = split(text) {
        for piece in pieces {
            assert!(text[piece.offset..].starts_with(&piece.text));
            check_piece(&piece.text);
        }
    }
    redact(text);
}

fn check_piece(piece: &str) {
    let again = split(piece).unwrap();
    assert_eq!(again.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>(), [piece]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn arbitrary_bits_never_panic(bits in prop::collection::vec(select(BITS), 0..30)) {
        check(&bits.concat());
    }

    #[test]
    fn mutated_statements_never_panic(
        statement in select(statements()),
        other in select(statements()),
        edits in prop::collection::vec((any::<Index>(), 0..4_u8, select(BITS)), 1..5),
    ) {
        let mut chars: Vec<String> = statement.chars().map(String::from).collect();
        for (index, kind, bit) in edits {
            let at = index.index(chars.len() + 1);
            match kind {
                0 => chars.truncate(at),
                1 if at < chars.len() => drop(chars.remove(at)),
                2 => chars.insert(at, other.clone()),
                _ => chars.insert(at, bit.to_owned()),
            }
        }
        check(&chars.concat());
    }

    #[test]
    fn swapped_words_never_panic(statement in select(statements()), a in any::<Index>(), b in any::<Index>()) {
        let mut words: Vec<&str> = statement.split(' ').collect();
        let (a, b) = (a.index(words.len()), b.index(words.len()));
        words.swap(a, b);
        check(&words.join(" "));
    }

    #[test]
    fn redaction_keeps_no_literal(statement in select(statements()), cut in any::<Index>()) {
        let mut text = statement.replace('\'', "\u{1}");
        let mut n_quotes = 0;
        while let Some(at) = text.find('\u{1}') {
            n_quotes += 1;
            text.replace_range(at..=at, if n_quotes % 2 == 1 { "'sEcReT" } else { "'" });
        }
        let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let cut = boundaries[cut.index(boundaries.len())];
        prop_assert!(!redact(&text[..cut]).contains("sEcReT"), "{}", &text[..cut]);
    }
}
