//! The frames of AWS's event stream (`application/vnd.amazon.eventstream`), in which Bedrock streams its answers.
//!
//! A frame is its length, the length of its headers and a checksum of both; then headers, a payload, and a checksum of all. The header
//! `:event-type` (of exceptions, `:exception-type`) says what the payload is; AWS's SDKs give `{type: payload}`, and so does this.
//! Checksums are not compared: what TLS let through is whole, and a frame that is out of step shows in its lengths.
//! Format: <https://smithy.io/2.0/aws/amazon-eventstream.html>.

/// Two lengths and a checksum.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;

/// What stands at the beginning of the bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cut<'a> {
    /// A frame of `size` bytes. `kind` is its type; `None` where it has none that could be a member's name.
    Frame { size: usize, kind: Option<&'a str>, payload: &'a [u8] },
    /// The frame is not complete.
    NeedMore,
    /// No frame is made like this.
    Broken,
}

/// Cuts the first frame off `bytes`.
pub(super) fn cut(bytes: &[u8]) -> Cut<'_> {
    let Some((size, headers)) = number::<4>(bytes).zip(bytes.get(4..).and_then(number::<4>)) else {
        return Cut::NeedMore;
    };
    if size < headers.saturating_add(PRELUDE + CHECKSUM) {
        return Cut::Broken;
    }
    let Some(frame) = bytes.get(..size) else { return Cut::NeedMore };
    let headers = frame.get(PRELUDE..PRELUDE + headers).unwrap_or_default();
    let payload = frame.get(PRELUDE + headers.len()..size - CHECKSUM).unwrap_or_default();
    match kind(headers) {
        Some(kind) => Cut::Frame { size, kind, payload },
        None => Cut::Broken,
    }
}

/// Returns the type that headers name, `Some(None)` where they name none, `None` where they are no headers.
fn kind(mut headers: &[u8]) -> Option<Option<&str>> {
    let mut found = None;
    while !headers.is_empty() {
        let name = take(&mut headers, 1)?;
        let name = take(&mut headers, number::<1>(name)?)?;
        let value_type = number::<1>(take(&mut headers, 1)?)?;
        let length = match value_type {
            // True and false.
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            // A long, a time.
            5 | 8 => 8,
            // Bytes and text, with their length before them.
            6 | 7 => number::<2>(take(&mut headers, 2)?)?,
            // A UUID.
            9 => 16,
            _ => return None,
        };
        let value = take(&mut headers, length)?;
        if matches!(name, b":event-type" | b":exception-type") {
            found = std::str::from_utf8(value).ok().filter(|word| word.bytes().all(|b| b.is_ascii_alphanumeric()));
        }
    }
    Some(found)
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// Returns the number in the first `N` bytes, the highest first.
fn number<const N: usize>(bytes: &[u8]) -> Option<usize> {
    let bytes = bytes.first_chunk::<N>()?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::{Cut, cut};

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    /// Vectors of awslabs/aws-c-event-stream's tests.
    #[test]
    fn aws_own_vectors() {
        let empty = bytes("000000100000000005c248eb7d98c8ff");
        assert_eq!(cut(&empty), Cut::Frame { size: 16, kind: None, payload: b"" });
        let json = bytes(
            "0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b27666f6f273a27626172277d8d9c08b1",
        );
        assert_eq!(cut(&json), Cut::Frame { size: 61, kind: None, payload: b"{'foo':'bar'}" });
        for end in 0..json.len() {
            assert_eq!(cut(&json[..end]), Cut::NeedMore);
        }
    }

    #[test]
    fn what_no_frame_is_made_like() {
        // Headers that are longer than the frame, and a type of value that there is not.
        assert_eq!(cut(&bytes("00000010000000ff0000000000000000")), Cut::Broken);
        assert_eq!(cut(&bytes("00000013000000030000000001612000000000")), Cut::Broken);
    }
}
