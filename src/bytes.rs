//! Looks at few bytes, as markers, names and most values have them: there the call of what is fast for many costs more than the
//! look.

/// Both are the same bytes.
#[inline]
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    // In this order: mostly there are more than seven.
    match one.len() {
        length if length != other.len() => false,
        17.. => one == other,
        8.. => ends_are_same::<8>(one, other),
        4.. => ends_are_same::<4>(one, other),
        2.. => ends_are_same::<2>(one, other),
        _ => one.first() == other.first(),
    }
}

/// `text` begins with `with`.
#[inline]
pub(crate) fn begins(text: &[u8], with: &[u8]) -> bool {
    text.get(..with.len()).is_some_and(|begun| same(begun, with))
}

/// The first `byte` in `text`. Most names and values are short, and end before a search would have begun.
pub(crate) fn find_near(byte: u8, text: &[u8]) -> Option<usize> {
    const NEAR: usize = 12;
    let (near, far) = text.split_at(text.len().min(NEAR));
    near.iter().position(|b| *b == byte).or_else(|| memchr::memchr(byte, far).map(|at| NEAR + at))
}

/// `text` without the white space round it. Mostly there is none.
#[inline]
pub(crate) fn trimmed(text: &str) -> &str {
    let visible = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    let bare = visible(text.as_bytes().first()) && visible(text.as_bytes().last());
    if bare { text } else { text.trim() }
}

/// The first place in `text` where `what` stands. A few bytes are looked through before a search would have been prepared.
pub(crate) fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    const FEW: usize = 64;
    match what.first() {
        Some(first) if text.len() <= FEW => {
            let mut places = memchr::memchr_iter(*first, text);
            places.find(|at| text.get(*at..).is_some_and(|rest| begins(rest, what)))
        }
        _ => memchr::memmem::find(text, what),
    }
}

/// Their first and last `N` bytes, of which they have so many, are the same: of no more than twice that, those are all.
#[inline]
fn ends_are_same<const N: usize>(one: &[u8], other: &[u8]) -> bool {
    one.first_chunk::<N>() == other.first_chunk::<N>() && one.last_chunk::<N>() == other.last_chunk::<N>()
}

#[cfg(test)]
mod tests {
    use super::{begins, find, find_near, same};

    #[test]
    fn a_byte_is_found_near_and_far() {
        for length in 0..40 {
            let mut text = vec![b' '; length];
            assert_eq!(find_near(b'x', &text), None);
            for at in (0..length).rev() {
                text[at] = b'x';
                assert_eq!(find_near(b'x', &text), Some(at));
            }
        }
    }

    #[test]
    fn bytes_are_found_in_few_and_in_many() {
        for length in 0..100 {
            let text = [&vec![b'x'; length][..], b"xyxyz", &vec![b'y'; length]].concat();
            for what in [&b"xyz"[..], b"x", b"xyy", b"zyx", b""] {
                assert_eq!(find(&text, what), memchr::memmem::find(&text, what), "{length} {what:?}");
            }
        }
    }

    #[test]
    fn bytes_are_the_same_of_any_length() {
        let text: Vec<u8> = (0..40).collect();
        for length in 0..text.len() {
            let one = &text[..length];
            assert!(same(one, &text.clone()[..length]) && begins(&text, one));
            assert!(!same(one, &text[..=length]) && !begins(one, &text[..=length]));
            for at in 0..length {
                let mut other = one.to_vec();
                other[at] ^= 1;
                assert!(!same(one, &other) && !begins(&text, &other), "{length} {at}");
            }
        }
    }
}
