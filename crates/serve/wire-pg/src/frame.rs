//! Cuts the client's bytes into messages, checking every length before it is believed.

use bytes::{Buf, Bytes, BytesMut};
use pgwire::messages::extendedquery::{Bind, Close, Describe, Execute, Parse};
use stdx::ErrorKind;

use crate::answer::Refusal;

const CANCEL_CODE: u32 = 80_877_102;
const SSL_CODE: u32 = 80_877_103;
const GSS_CODE: u32 = 80_877_104;

/// The first message of a connection, which has no type byte.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    Ssl,
    Gss,
    Cancel { pid: i32, key: Bytes },
    Startup { major: u16, minor: u16, parameters: Vec<(String, String)> },
}

/// A message of a session.
#[derive(Debug)]
pub(crate) enum Request {
    Query(String),
    Parse(Parse),
    Bind(Bind),
    Describe(Describe),
    Execute(Execute),
    Close(Close),
    Flush,
    Sync,
    Terminate,
    /// Copy messages outside of a copy, which PostgreSQL drops without a word.
    Copy,
    FunctionCall,
}

/// A message of the SASL exchange.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SaslInitial {
    pub(crate) mechanism: String,
    pub(crate) data: Bytes,
}

/// Takes the opening message off the buffer, once all of it is there.
pub(crate) fn opening(buffer: &mut BytesMut, bytes_max: usize) -> Result<Option<Opening>, Refusal> {
    let Some(length) = length_at(buffer, 0) else { return Ok(None) };
    let body_len = body_length(length, bytes_max)?;
    if body_len < 4 {
        return Err(Refusal::protocol("the startup message is too short"));
    }
    if buffer.len() < 4 + body_len {
        return Ok(None);
    }
    buffer.advance(4);
    let mut body = Fields(buffer.split_to(body_len).freeze());
    let code = body.u32()?;
    let opening = match code {
        SSL_CODE => Opening::Ssl,
        GSS_CODE => Opening::Gss,
        CANCEL_CODE => Opening::Cancel { pid: body.i32()?, key: body.rest() },
        version => {
            let [a, b, c, d] = version.to_be_bytes();
            let mut parameters = Vec::new();
            loop {
                let name = body.text()?;
                if name.is_empty() {
                    break;
                }
                parameters.push((name, body.text()?));
            }
            Opening::Startup {
                major: u16::from_be_bytes([a, b]),
                minor: u16::from_be_bytes([c, d]),
                parameters,
            }
        }
    };
    Ok(Some(opening))
}

/// Takes one typed message off the buffer, once all of it is there.
pub(crate) fn typed(buffer: &mut BytesMut, bytes_max: usize) -> Result<Option<(u8, Bytes)>, Refusal> {
    let Some(kind) = buffer.first().copied() else { return Ok(None) };
    let Some(length) = length_at(buffer, 1) else { return Ok(None) };
    let body_len = body_length(length, bytes_max)?;
    if buffer.len() < 5 + body_len {
        return Ok(None);
    }
    buffer.advance(5);
    Ok(Some((kind, buffer.split_to(body_len).freeze())))
}

/// Reads a session's message; the bytes are one whole message, so nothing can run into the next one.
pub(crate) fn request(kind: u8, body: Bytes) -> Result<Request, Refusal> {
    let mut body = Fields(body);
    let request = match kind {
        b'Q' => Request::Query(body.text()?),
        b'P' => parse(&mut body)?,
        b'B' => bind(&mut body)?,
        b'D' => Request::Describe(Describe::new(body.u8()?, Some(body.text()?))),
        b'E' => {
            let name = body.text()?;
            Request::Execute(Execute::new(Some(name), body.i32()?))
        }
        b'C' => Request::Close(Close::new(body.u8()?, Some(body.text()?))),
        b'H' => Request::Flush,
        b'S' => Request::Sync,
        b'X' => Request::Terminate,
        b'd' | b'c' | b'f' => return Ok(Request::Copy),
        b'F' => return Ok(Request::FunctionCall),
        other => return Err(Refusal::protocol(format!("invalid frontend message type {other}"))),
    };
    if !body.0.is_empty() {
        return Err(Refusal::protocol("invalid message format"));
    }
    Ok(request)
}

pub(crate) fn sasl_initial(body: Bytes) -> Result<SaslInitial, Refusal> {
    let mut body = Fields(body);
    let mechanism = body.text()?;
    let length = body.i32()?;
    let data = match usize::try_from(length) {
        Ok(length) => body.take(length)?,
        Err(_) => Bytes::new(),
    };
    if !body.0.is_empty() {
        return Err(Refusal::protocol("invalid message format"));
    }
    Ok(SaslInitial { mechanism, data })
}

fn parse(body: &mut Fields) -> Result<Request, Refusal> {
    let name = body.text()?;
    let query = body.text()?;
    let n_types = body.u16()?;
    let types = (0..n_types).map(|_| body.u32()).collect::<Result<_, _>>()?;
    Ok(Request::Parse(Parse::new(Some(name), query, types)))
}

fn bind(body: &mut Fields) -> Result<Request, Refusal> {
    let portal = body.text()?;
    let statement = body.text()?;
    let formats = body.formats()?;
    let n_parameters = body.u16()?;
    let mut parameters = Vec::new();
    for _ in 0..n_parameters {
        parameters.push(match usize::try_from(body.i32()?) {
            Ok(length) => Some(body.take(length)?),
            Err(_) => None,
        });
    }
    let result_formats = body.formats()?;
    Ok(Request::Bind(Bind::new(Some(portal), Some(statement), formats, parameters, result_formats)))
}

fn length_at(buffer: &BytesMut, at: usize) -> Option<u32> {
    let bytes = buffer.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*bytes))
}

/// The length counts itself; what it leaves for the body is held against the bound.
fn body_length(length: u32, bytes_max: usize) -> Result<usize, Refusal> {
    let length = usize::try_from(length).map_err(|_| Refusal::protocol("invalid message length"))?;
    let Some(body_len) = length.checked_sub(4) else {
        return Err(Refusal::protocol("invalid message length"));
    };
    if body_len > bytes_max {
        return Err(Refusal::of(
            ErrorKind::Limit,
            format!("a message of {body_len} bytes is over the limit of {bytes_max}"),
        ));
    }
    Ok(body_len)
}

/// Reads fields off the front; running short is an error and never a panic.
struct Fields(Bytes);

impl Fields {
    fn take(&mut self, length: usize) -> Result<Bytes, Refusal> {
        if self.0.len() < length {
            return Err(Refusal::protocol("insufficient data left in message"));
        }
        Ok(self.0.split_to(length))
    }

    fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.0)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let bytes = self.take(N)?;
        bytes
            .first_chunk::<N>()
            .copied()
            .ok_or_else(|| Refusal::protocol("insufficient data left in message"))
    }

    fn u8(&mut self) -> Result<u8, Refusal> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    fn u16(&mut self) -> Result<u16, Refusal> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    fn i32(&mut self) -> Result<i32, Refusal> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, Refusal> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn formats(&mut self) -> Result<Vec<i16>, Refusal> {
        let n_formats = self.u16()?;
        (0..n_formats).map(|_| Ok(i16::from_be_bytes(self.array()?))).collect()
    }

    /// A text that ends in NUL; anything that is not UTF-8 is refused, since it could not be shown back truly.
    fn text(&mut self) -> Result<String, Refusal> {
        let Some(end) = self.0.iter().position(|byte| *byte == 0) else {
            return Err(Refusal::protocol("invalid string in message"));
        };
        let bytes = self.take(end)?;
        self.take(1)?;
        String::from_utf8(bytes.into())
            .map_err(|_| Refusal::new("22021", "invalid byte sequence for encoding \"UTF8\""))
    }
}

#[cfg(test)]
mod tests;
