//! Makes a failing input as small as it gets.
use super::{Failure, Target, checked};
use std::time::{Duration, Instant};

/// The smallest input found in `time` that fails as `input` does.
pub fn reduce<T: Target>(target: &T, input: T::Input, failure: Failure, time: Duration) -> (T::Input, Failure) {
    let end = Instant::now() + time;
    let (mut input, mut failure) = (input, failure);
    'smaller: while Instant::now() < end {
        for candidate in target.smaller(&input) {
            if Instant::now() >= end {
                break 'smaller;
            }
            if let Err(found) = checked(target, &candidate)
                && found.kind == failure.kind
            {
                (input, failure) = (candidate, found);
                continue 'smaller;
            }
        }
        break;
    }
    (input, failure)
}

/// `text` with a part of it left out, large parts first; the parts end between characters.
pub fn shorter(text: &str) -> Vec<String> {
    let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let characters = boundaries.len() - 1;
    let mut shorter = Vec::new();
    let mut size = characters;
    while size > 0 {
        for start in (0..characters).step_by(size.div_ceil(2).max(1)) {
            let end = (start + size).min(characters);
            shorter.push(format!("{}{}", &text[..boundaries[start]], &text[boundaries[end]..]));
        }
        size /= 2;
    }
    shorter
}
