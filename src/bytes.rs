//! Comparisons of few bytes, as markers and names have them: there the call of a comparison of any length costs more than it
//! compares.

/// Both are the same bytes.
#[inline]
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && match one.len() {
            0 => true,
            1 => one.first() == other.first(),
            2..=3 => ends_are_same::<2>(one, other),
            4..=7 => ends_are_same::<4>(one, other),
            8..=16 => ends_are_same::<8>(one, other),
            _ => one == other,
        }
}

/// `text` begins with `with`.
#[inline]
pub(crate) fn begins(text: &[u8], with: &[u8]) -> bool {
    text.get(..with.len()).is_some_and(|begun| same(begun, with))
}

/// Their first and last `N` bytes, of which they have so many, are the same: of no more than twice that, those are all.
#[inline]
fn ends_are_same<const N: usize>(one: &[u8], other: &[u8]) -> bool {
    one.first_chunk::<N>() == other.first_chunk::<N>() && one.last_chunk::<N>() == other.last_chunk::<N>()
}

#[cfg(test)]
mod tests {
    use super::{begins, same};

    #[test]
    fn bytes_are_the_same_of_any_length() {
        let text: Vec<u8> = (0..40).collect();
        for length in 0..text.len() {
            let one = &text[..length];
            assert!(same(one, &one.to_vec()) && begins(&text, one));
            assert!(!same(one, &text[..=length]) && !begins(one, &text[..=length]));
            for at in 0..length {
                let mut other = one.to_vec();
                other[at] ^= 1;
                assert!(!same(one, &other) && !begins(&text, &other), "{length} {at}");
            }
        }
    }
}
