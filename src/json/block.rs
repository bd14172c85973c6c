//! Finding the bytes that matter in a string body, many bytes at a time and without `unsafe`.
use wide::u8x16;

/// Bytes that are looked at together.
pub(super) const BLOCK: usize = 16;
/// Blocks that are looked at together once a string has shown to be a long one.
const LONG: usize = 4 * BLOCK;
/// Blocks looked at one by one before that: most strings, and the runs between escapes in code, end here.
const SHORT_RUN: usize = 4;

#[inline(always)]
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// The bytes of `block` that are `"`, `\` or below 0x20.
#[inline(always)]
fn specials(block: u8x16) -> u8x16 {
    let quote = block.simd_eq(u8x16::splat(b'"'));
    let backslash = block.simd_eq(u8x16::splat(b'\\'));
    let control = block.min(u8x16::splat(0x1f)).simd_eq(block);
    quote | backslash | control
}

#[inline(always)]
fn first(hits: u8x16) -> Option<usize> {
    let mask = hits.to_bitmask();
    (mask != 0).then(|| mask.trailing_zeros() as usize)
}

/// The place of the first `"`, `\` or byte below 0x20 at or after `from`; the length of `bytes` if there is none.
#[inline]
pub(crate) fn find_special(bytes: &[u8], from: usize) -> usize {
    let Some(block) = bytes.get(from..).and_then(<[u8]>::first_chunk) else { return find_in_tail(bytes, from) };
    // Nearly every key ends here.
    match first(specials(u8x16::new(*block))) {
        Some(i) => from + i,
        None => find_further(bytes, from + BLOCK),
    }
}

#[inline(never)]
fn find_further(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    for _ in 0..SHORT_RUN {
        let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) else { return find_in_tail(bytes, at) };
        match first(specials(u8x16::new(*block))) {
            Some(i) => return at + i,
            None => at += BLOCK,
        }
    }
    for long in bytes.get(at..).unwrap_or_default().chunks_exact(LONG) {
        let hits =
            long.as_chunks::<BLOCK>().0.iter().fold(u8x16::ZERO, |hits, block| hits | specials(u8x16::new(*block)));
        if hits.any() {
            break;
        }
        at += LONG;
    }
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        match first(specials(u8x16::new(*block))) {
            Some(i) => return at + i,
            None => at += BLOCK,
        }
    }
    find_in_tail(bytes, at)
}

#[inline(never)]
fn find_in_tail(bytes: &[u8], from: usize) -> usize {
    let Some(rest) = bytes.get(from..) else { return bytes.len() };
    from + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len())
}

/// The place of the first `"` or `\` in `block`.
#[inline(always)]
pub(super) fn quote_or_backslash(block: &[u8; BLOCK]) -> Option<usize> {
    let block = u8x16::new(*block);
    first(block.simd_eq(u8x16::splat(b'"')) | block.simd_eq(u8x16::splat(b'\\')))
}

/// The place of the first `"`, `\`, byte below 0x20 or `other` at or after `from`; the length of `bytes` if there is none.
pub(super) fn find_special_or(bytes: &[u8], from: usize, other: u8) -> usize {
    if other == b'"' {
        return find_special(bytes, from);
    }
    let mut at = from;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let block = u8x16::new(*block);
        match first(specials(block) | block.simd_eq(u8x16::splat(other))) {
            Some(i) => return at + i,
            None => at += BLOCK,
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at.min(bytes.len()) + rest.iter().position(|&byte| is_special(byte) || byte == other).unwrap_or(rest.len())
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
