//! What parts calls: in a list comments beside commas, as white space does, and at the top what stands between two values.
use super::*;
use crate::engine::look::seen;

/// A comment is no longer.
const LONGEST: usize = 1024;

/// So many of them stand in a row.
const MOST: usize = 8;

impl JsonCalls {
    /// Something else than JSON begins at `at` in a list, where `expect` does: a comment that is left out. `None`: it is none.
    #[cold]
    pub(super) fn comment(&mut self, cx: &Reader<'_>, writer: &mut Writer, at: usize, expect: Expect) -> Option<Flow> {
        let list = self.frames.last().is_some_and(|frame| frame.kind == Kind::List);
        let end = match comments_end(cx, at) {
            Look::Is(end) if list && !cx.made => end,
            Look::More if list && !cx.made => return Some(Flow::Stop(Progress::Unclear { since: at })),
            _ => return None,
        };
        let repair = Repair::at(RepairCode::Comment, at, "a comment among the calls was left out");
        match &mut writer.pending {
            Some(pending) => pending.repairs.push(repair),
            None => self.repairs.push(repair),
        }
        Some(self.go(end, expect))
    }

    /// A value at the top ended before `at`, where `byte` stands: another may follow.
    pub(super) fn between(&mut self, cx: &Reader<'_>, writer: &mut Writer, at: usize, byte: u8) -> Flow {
        let doubled = std::mem::take(&mut self.doubled);
        if byte == b'}' && !cx.made && (doubled || at == self.at && writer.is_unmarked()) {
            writer.mend(RepairCode::Bracket, at, "a closing bracket too many was left out");
            return self.go(at + 1, Expect::Between);
        }
        // It stands behind the comma of a list that began with calls as Python has them.
        let listed = || cx.slice(0, writer.start).trim_ascii_end().ends_with(',');
        if byte == b']' && !cx.made && at == self.at && writer.is_unmarked() && listed() {
            return Flow::Stop(self.leave(cx, writer, at + 1));
        }
        let separated = matches!(byte, b',' | b';');
        let mut next = if separated { cx.skip_space(at + 1) } else { at };
        // Between markers, other signs part calls as well.
        let odd = separators(cx, at).filter(|_| !separated && !writer.is_unmarked());
        if let Some(length) = odd {
            next = cx.skip_space(at + length);
        }
        let done = |calls: &Self, writer: &mut Writer| Flow::Stop(calls.leave(cx, writer, calls.run_end(writer)));
        // What may follow is another object or a list of them; anything else is text.
        let inside = match cx.bytes().get(next) {
            None if !cx.eof => return Flow::Stop(Progress::More),
            Some(b'{') => char_class::begins_key,
            Some(b'[') => |b: u8| b == b'{',
            _ => return done(self, writer),
        };
        match cx.behind_space(next, next + 1) {
            Look::More => Flow::Stop(Progress::More),
            Look::Is(first) if cx.bytes().get(first).is_some_and(|b| inside(*b)) => {
                if odd.is_some() {
                    writer.mend(RepairCode::Surroundings, at, "signs between two calls were left out");
                }
                self.before = Some((self.run_end(writer), writer.begun));
                self.go(next, Expect::Value { close: false })
            }
            _ => done(self, writer),
        }
    }

    /// Where the values before the one that follows ended. Objects that are no calls are among them only if a call is behind them.
    pub(super) fn run_end(&self, writer: &Writer) -> usize {
        let called = self.before.filter(|(_, begun)| *begun > 0 && *begun == writer.begun);
        called.map_or(self.at, |(end, _)| end)
    }
}

/// Where the comments end that begin at `at`, and behind which the list goes on: else that is open, and they are what follows it.
fn comments_end(cx: &Reader<'_>, at: usize) -> Look<usize> {
    let mut end = at;
    for _ in 0..MOST {
        end = seen!(comment_end(cx, end).then(|end| cx.behind_space(at, end)));
        match cx.bytes().get(end) {
            Some(b',' | b']' | b'{' | b'[') => return Look::Is(end),
            Some(b'/' | b'#') => {}
            _ => return Look::No,
        }
    }
    Look::No
}

/// Where the comment ends that begins at `at`.
fn comment_end(cx: &Reader<'_>, at: usize) -> Look<usize> {
    let near = cx.near(at, LONGEST);
    let end = match near {
        [b'#', ..] | [b'/', b'/', ..] => memchr::memchr(b'\n', near),
        [b'/', b'*', rest @ ..] => memchr::memmem::find(rest, b"*/").map(|length| length + "/**/".len()),
        [b'/'] => None,
        _ => return Look::No,
    };
    match end {
        Some(length) => Look::Is(at + length),
        None if cx.may_go_on(near.len(), LONGEST) => Look::More,
        None => Look::No,
    }
}

/// How many signs stand at `at` that are neither words, quotes nor brackets, if they may part two calls.
fn separators(cx: &Reader<'_>, at: usize) -> Option<usize> {
    let rest = cx.bytes().get(at..).unwrap_or_default();
    let part = |b: &u8| matches!(b, b'{' | b'}' | b'[' | b']' | b'(' | b')' | b'"' | b'\'' | b'`' | b'\\' | b'_');
    let sign = |b: &u8| b.is_ascii_punctuation() && !part(b);
    let length = rest.iter().take(9).take_while(|b| sign(b)).count();
    (1..9).contains(&length).then_some(length)
}
