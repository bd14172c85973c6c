//! Bytes that arrive cut anywhere become text.

/// Holds back the bytes of a character that is not whole yet.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    /// Appends `chunk` to `text`; true if some of it was no UTF-8.
    pub(crate) fn push(&mut self, chunk: &[u8], text: &mut String) -> bool {
        // Mostly a chunk is whole characters.
        if self.pending.is_empty()
            && let Ok(good) = std::str::from_utf8(chunk)
        {
            text.push_str(good);
            return false;
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

    /// What waits for its rest will not get it: it becomes U+FFFD. True if anything waited.
    pub(crate) fn flush(&mut self, text: &mut String) -> bool {
        let waited = !self.pending.is_empty();
        if waited {
            self.pending.clear();
            text.push('\u{fffd}');
        }
        waited
    }

    /// Appends what is certain, and returns the start of a character that is not whole.
    fn decode<'b>(mut bytes: &'b [u8], text: &mut String) -> (&'b [u8], bool) {
        let mut bad = false;
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
                    bad = true;
                    text.push('\u{fffd}');
                    bytes = rest.get(length..).unwrap_or_default();
                }
            }
        }
    }
}
