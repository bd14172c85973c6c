//! A call that was given up where a string of its own shows what opens the next one: that is no call.
use super::program_string::opens;
use crate::engine::{Engine, Look, Reader};

/// A string is closed within so many bytes, or shows nothing.
const LONGEST: usize = 4096;

/// So much of what stands before a string says whether one begins there.
const BEFORE: usize = 64;

/// The last string in which a call was given up: where, and where it is closed.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::engine) struct Interrupted(Option<(usize, usize)>);

impl Engine {
    /// The last call was given up inside a string that is not closed before `at`: where what stands there `opens` a call, or the string
    /// is known to show one.
    pub(in crate::engine) fn in_given_up(&mut self, cx: &Reader<'_>, at: usize, opens: bool) -> Look<()> {
        let Some(last) = self.out.calls.last().filter(|call| !call.status.runnable()) else { return Look::No };
        let ends = last.raw.end;
        if let Some((_, closed)) = self.around.before.interrupted.0.filter(|(known, _)| *known == ends) {
            return Look::when(at < closed);
        }
        let Some(quotes) = opened(cx, at).filter(|_| opens && cx.slice(ends, at).trim_ascii().is_empty()) else {
            return Look::No;
        };
        let near = cx.near(at, LONGEST);
        let closed = match memchr::memmem::find(near, quotes.as_bytes()) {
            // Of the call in it a whole one stands before that: quotes in a call that is made are its own.
            Some(found) if near.get(..found).is_some_and(|shown| shown.trim_ascii_end().ends_with(b">")) => {
                Look::Is(at + found)
            }
            Some(_) => Look::No,
            None => cx.ran_out(near.len(), LONGEST),
        };
        if closed != Look::More {
            self.around.before.interrupted.0 = Some((ends, if let Look::Is(closed) = closed { closed } else { at }));
        }
        closed.unit()
    }
}

/// The quotes right before `at`, and before a marker that was read there in vain, if they may open a string of a program.
fn opened<'t>(cx: &Reader<'t>, at: usize) -> Option<&'t str> {
    let window = cx.before(at, BEFORE);
    let before = window.trim_ascii_end();
    let marker = before.strip_suffix('>').and_then(|text| text.rsplit_once('<'));
    let before = marker.filter(|(_, name)| !name.contains(['"', '\'', ' '])).map_or(before, |(before, _)| before);
    let quote = before.chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    let rest = before.trim_end_matches(quote);
    let quotes = before.get(rest.len()..).filter(|quotes| matches!(quotes.len(), 1 | 3))?;
    let begins = at - window.len();
    (rest.ends_with('>') || opens(cx, begins, begins + rest.len())).then_some(quotes)
}
