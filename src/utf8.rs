//! Bytes that arrive cut anywhere become text.

/// Holds back the bytes of a character that is not whole yet.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    /// Appends `chunk` to `text`, and says where the first U+FFFD stands that became of what is no UTF-8.
    pub(crate) fn push(&mut self, chunk: &[u8], text: &mut String) -> Option<usize> {
        // Mostly a chunk is whole characters.
        if self.pending.is_empty()
            && let Ok(good) = std::str::from_utf8(chunk)
        {
            text.push_str(good);
            return None;
        }
        if self.pending.is_empty() {
            let (rest, bad) = Self::decode(chunk, text);
            self.pending.extend_from_slice(rest);
            return bad;
        }
        self.pending.extend_from_slice(chunk);
        let all = std::mem::take(&mut self.pending);
        let (rest, bad) = Self::decode(&all, text);
        self.pending.extend_from_slice(rest);
        bad
    }

    /// What waits for its rest will not get it: it becomes U+FFFD, which stands there.
    pub(crate) fn flush(&mut self, text: &mut String) -> Option<usize> {
        if self.pending.is_empty() {
            return None;
        }
        self.pending.clear();
        let at = text.len();
        text.push('\u{fffd}');
        Some(at)
    }

    /// Appends what is certain, and returns the start of a character that is not whole.
    fn decode<'b>(mut bytes: &'b [u8], text: &mut String) -> (&'b [u8], Option<usize>) {
        let mut bad = None;
        loop {
            match std::str::from_utf8(bytes) {
                Ok(good) => {
                    text.push_str(good);
                    return (&[], bad);
                }
                Err(error) => {
                    let (good, rest) = bytes.split_at(error.valid_up_to());
                    text.push_str(std::str::from_utf8(good).unwrap_or_default());
                    let Some(length) = error.error_len() else { return (rest, bad) };
                    bad.get_or_insert(text.len());
                    text.push('\u{fffd}');
                    bytes = rest.get(length..).unwrap_or_default();
                }
            }
        }
    }
}

/// The text of `bytes`, and where the first U+FFFD stands that became of what is no UTF-8.
#[cfg(feature = "python")]
pub(crate) fn decode(bytes: &[u8]) -> (String, Option<usize>) {
    let (mut decoder, mut text) = (Decoder::default(), String::with_capacity(bytes.len()));
    let bad = decoder.push(bytes, &mut text);
    let cut = decoder.flush(&mut text);
    (text, bad.or(cut))
}
