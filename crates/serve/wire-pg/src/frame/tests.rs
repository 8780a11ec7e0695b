//! Messages that are whole, short, too long or broken.

use super::*;

fn refused(kind: u8, body: &'static [u8]) -> &'static str {
    request(kind, Bytes::from_static(body)).unwrap_err().code
}

#[test]
fn a_short_message_is_refused_and_never_reads_into_the_next() {
    for (kind, body) in [
        (b'Q', &b"SELECT 1"[..]),
        (b'P', b"\0SELECT 1\0\0\x09\0\0\0\x17"),
        (b'B', b"\0\0\0\0\0\x01\0\0\0\x08abcd\0\0"),
        (b'B', b"\0\0\xff\xff\0\x01"),
        (b'E', b"\0\0\0"),
        (b'D', b""),
        (b'C', b"S"),
    ] {
        assert_eq!(refused(kind, body), "08P01", "{}", char::from(kind));
    }
}

#[test]
fn bytes_left_over_are_refused() {
    assert_eq!(refused(b'Q', b"SELECT 1\0x"), "08P01");
    assert_eq!(refused(b'S', b"x"), "08P01");
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    assert_eq!(refused(b'Q', b"SELECT '\xff'\0"), "22021");
}

#[test]
fn a_message_over_the_limit_is_refused_before_it_is_read() {
    let mut buffer = BytesMut::from(&b"Q\x7f\xff\xff\xff"[..]);
    assert_eq!(typed(&mut buffer, 1000).unwrap_err().code, "54000");
    let mut buffer = BytesMut::from(&b"Q\0\0\0\x03"[..]);
    assert_eq!(typed(&mut buffer, 1000).unwrap_err().code, "08P01");
}

#[test]
fn a_message_is_taken_only_when_whole() {
    let mut buffer = BytesMut::from(&b"Q\0\0\0\x06a"[..]);
    assert!(typed(&mut buffer, 1000).unwrap().is_none());
    buffer.extend_from_slice(b"\0S\0\0\0\x04");
    assert_eq!(typed(&mut buffer, 1000).unwrap(), Some((b'Q', Bytes::from_static(b"a\0"))));
    assert_eq!(typed(&mut buffer, 1000).unwrap(), Some((b'S', Bytes::new())));
}

#[test]
fn openings_are_told_apart_by_their_code() {
    let check = |bytes: &[u8], expected: Opening| {
        assert_eq!(opening(&mut BytesMut::from(bytes), 1000).unwrap(), Some(expected));
    };
    check(b"\0\0\0\x08\x04\xd2\x16\x2f", Opening::Ssl);
    check(b"\0\0\0\x08\x04\xd2\x16\x30", Opening::Gss);
    check(
        b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\x07abcd",
        Opening::Cancel { pid: 7, key: Bytes::from_static(b"abcd") },
    );
    check(
        b"\0\0\0\x14\0\x03\0\0user\0alice\0\0",
        Opening::Startup { major: 3, minor: 0, parameters: vec![("user".to_owned(), "alice".to_owned())] },
    );
    assert_eq!(
        opening(&mut BytesMut::from(&b"\0\0\0\x0c\0\x03\0\0user"[..]), 1000).unwrap_err().code,
        "08P01"
    );
}
