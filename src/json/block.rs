//! Finding the bytes that matter in a string body, many bytes at a time and without `unsafe`.

const WORD: usize = 8;
const BLOCK: usize = 64;
/// Words looked at one by one before whole blocks are: most strings, and the runs between escapes in code, end here.
const SHORT_RUN: usize = 4 * BLOCK_16;

#[inline(always)]
const fn splat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; WORD])
}

/// A mask whose lowest set bit lies in the first byte of `word` (little endian) that is `"`, `\` or below 0x20.
#[inline(always)]
fn special_mask(word: u64) -> u64 {
    // x ^ 2 maps `"` (0x22) to 0x20 and keeps 0x00..=0x1f below 0x20, so that one comparison finds both. The borrow of
    // a subtraction can only falsify bytes above a true hit, and only the lowest hit is read.
    let quote_or_control = (word ^ splat(2)).wrapping_sub(splat(0x21)) & !(word ^ splat(2));
    let other = word ^ splat(b'\\');
    let backslash = other.wrapping_sub(splat(1)) & !other;
    (quote_or_control | backslash) & splat(0x80)
}

#[inline(always)]
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// The place of the first `"`, `\` or byte below 0x20 at or after `from`; the length of `bytes` if there is none.
#[inline]
pub(crate) fn find_special(bytes: &[u8], from: usize) -> usize {
    let Some(block) = bytes.get(from..).and_then(<[u8]>::first_chunk) else { return find_in_tail(bytes, from) };
    // Nearly every key ends here.
    match special_in(block) {
        Some(i) => from + i,
        None => find_further(bytes, from + BLOCK_16),
    }
}

#[inline(never)]
fn find_further(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    for _ in 0..SHORT_RUN / BLOCK_16 {
        let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) else { return find_in_tail(bytes, at) };
        match special_in(block) {
            Some(i) => return at + i,
            None => at += BLOCK_16,
        }
    }
    at + find_in_blocks(bytes.get(at..).unwrap_or_default())
}

#[inline(never)]
fn find_in_tail(bytes: &[u8], from: usize) -> usize {
    let Some(rest) = bytes.get(from..) else { return bytes.len() };
    from + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len())
}

/// The place of the first special byte in `block`. Both words are looked at before anything is decided: where a short string
/// ends, no processor foresees, and a branch that it foresees wrongly costs more than a word.
#[inline(always)]
fn special_in(block: &[u8; BLOCK_16]) -> Option<usize> {
    let (low, high) = block.split_at(WORD);
    let mask = |bytes: &[u8]| <[u8; WORD]>::try_from(bytes).map_or(0, |word| special_mask(u64::from_le_bytes(word)));
    let (low, high) = (mask(low), mask(high));
    let (mask, start) = if low != 0 { (low, 0) } else { (high, WORD) };
    (mask != 0).then(|| start + (mask.trailing_zeros() / 8) as usize)
}

/// Bytes of a string that are copied at once.
pub(super) const BLOCK_16: usize = 2 * WORD;

/// The place of the first `"` or `\` in `block`.
#[inline(always)]
pub(super) fn quote_or_backslash(block: &[u8; BLOCK_16]) -> Option<usize> {
    // As in `special_mask`: a borrow can only falsify bytes above a true hit.
    let mask = |word: u64| {
        let quote = word ^ splat(b'"');
        let backslash = word ^ splat(b'\\');
        (quote.wrapping_sub(splat(1)) & !quote | backslash.wrapping_sub(splat(1)) & !backslash) & splat(0x80)
    };
    let (low, high) = block.split_at(WORD);
    let word = |bytes: &[u8]| <[u8; WORD]>::try_from(bytes).map_or(0, u64::from_le_bytes);
    let (low, high) = (mask(word(low)), mask(word(high)));
    match (low, high) {
        (0, 0) => None,
        (0, high) => Some(WORD + (high.trailing_zeros() / 8) as usize),
        (low, _) => Some((low.trailing_zeros() / 8) as usize),
    }
}

/// The place of the first `"`, `\`, byte below 0x20 or `other` at or after `from`; the length of `bytes` if there is none.
pub(super) fn find_special_or(bytes: &[u8], from: usize, other: u8) -> usize {
    if other == b'"' {
        return find_special(bytes, from);
    }
    let Some(rest) = bytes.get(from..) else { return bytes.len() };
    let mut at = from;
    let mut words = rest.chunks_exact(WORD);
    for word in &mut words {
        let Ok(word) = <[u8; WORD]>::try_from(word) else { break };
        let word = u64::from_le_bytes(word);
        let equal = word ^ splat(other);
        let mask = special_mask(word) | (equal.wrapping_sub(splat(1)) & !equal & splat(0x80));
        if mask != 0 {
            return at + (mask.trailing_zeros() / 8) as usize;
        }
        at += WORD;
    }
    let found = words.remainder().iter().position(|&byte| is_special(byte) || byte == other);
    found.map_or(bytes.len(), |i| at + i)
}

#[inline(always)]
fn find_in_words(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut words = bytes.chunks_exact(WORD);
    for word in &mut words {
        let Ok(word) = <[u8; WORD]>::try_from(word) else { break };
        let mask = special_mask(u64::from_le_bytes(word));
        if mask != 0 {
            return Some(at + (mask.trailing_zeros() / 8) as usize);
        }
        at += WORD;
    }
    words.remainder().iter().position(|&byte| is_special(byte)).map(|i| at + i)
}

#[inline(never)]
fn find_in_blocks(bytes: &[u8]) -> usize {
    let mut at = 0;
    for block in bytes.chunks_exact(BLOCK) {
        // No early exit inside the block: that is what lets the compiler use vector comparisons.
        if block.iter().fold(false, |hit, &byte| hit | is_special(byte)) {
            break;
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + find_in_words(rest.get(..rest.len().min(BLOCK)).unwrap_or_default()).unwrap_or(rest.len().min(BLOCK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_special_byte_at_every_place() {
        for length in [0, 1, 7, 8, 9, 31, 47, 48, 49, 63, 64, 111, 112, 113, 176, 177, 300] {
            let clean: Vec<u8> = (0..length).map(|i| [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff][i % 8]).collect();
            for from in [0, 1, 5, length / 2, length] {
                if from <= length {
                    assert_eq!(find_special(&clean, from), length);
                }
            }
            for at in 0..length {
                for special in [b'"', b'\\', 0x00, 0x01, 0x1f, b'\n'] {
                    let mut bytes = clean.clone();
                    bytes[at] = special;
                    assert_eq!(find_special(&bytes, 0), at);
                    assert_eq!(find_special(&bytes, at), at);
                    assert_eq!(find_special(&bytes, at + 1), length);
                }
            }
        }
    }

    #[test]
    fn another_byte_can_be_looked_for_as_well() {
        for length in [0, 1, 7, 8, 9, 31, 100] {
            let clean = vec![b'x'; length];
            assert_eq!(find_special_or(&clean, 0, b'\''), length);
            for at in 0..length {
                for special in [b'"', b'\\', 0x1f, b'\'', 0xe2] {
                    let mut bytes = clean.clone();
                    bytes[at] = special;
                    for other in [b'\'', 0xe2, b'"'] {
                        let found = is_special(special) || special == other;
                        assert_eq!(find_special_or(&bytes, 0, other), if found { at } else { length });
                    }
                }
            }
        }
    }

    #[test]
    fn every_byte_value_is_judged_right() {
        for byte in 0..=255u8 {
            let expected = if is_special(byte) { 3 } else { 20 };
            let mut bytes = [b'x'; 20];
            bytes[3] = byte;
            assert_eq!(find_special(&bytes, 0), expected, "{byte:#x}");
        }
    }
}
