//! What follows a Python call: a separator and another call, what closes the list, or the end.
use super::ahead::{Item, WIDE_COMMA, behind_wide_comma, next_item};
use super::{Expect, Python, Quoted, space, stray};
use crate::dialect::{Marker, MarkersAt, must_close};
use crate::engine::body::Progress;
use crate::engine::body::keys::call_key_in;
use crate::engine::found::Piece;
use crate::engine::look::told;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader};
use crate::turn::RepairCode;

/// What stands among calls and is longer is not passed over.
const LONGEST_ITEMS: usize = 160;

/// So many signs stand behind a call in its string.
const SIGNS: usize = 8;

/// What closes calls in markers stands at `at`.
fn closes_calls(cx: &Reader<'_>, at: usize) -> Look<()> {
    let markers = &cx.dialects.markers;
    let closes = |marker: &Marker| matches!(marker, Marker::CallEnd { .. } | Marker::SectionEnd(_));
    match markers.at(cx.bytes(), at) {
        MarkersAt::Some { more: true, .. } if !cx.eof => Look::More,
        MarkersAt::Some { ends, count, .. } => {
            let mut found = ends.iter().take(count).flat_map(|(_, list)| markers.list(*list));
            Look::when(found.any(closes))
        }
        MarkersAt::Partial(_) if !cx.eof => Look::More,
        MarkersAt::Partial(_) | MarkersAt::Nothing => Look::No,
    }
}

impl Python {
    /// What stands at `at`, behind a call: a separator, the end of the list, another call or nothing of these.
    pub(super) fn after_call(
        &mut self,
        cx: &Reader<'_>,
        writer: &mut Writer,
        at: usize,
        byte: Option<u8>,
    ) -> Option<Progress> {
        let behind = self.at;
        let progress = self.behind_call(cx, writer, at, byte);
        let Some(Progress::Done { end }) = progress else { return progress };
        match self.closed_early(cx, behind, at) {
            Look::Is(()) => {
                writer.refuse();
            }
            Look::More => {
                self.at = behind;
                return Some(Progress::More);
            }
            Look::No => {}
        }
        if self.list {
            writer.mend(RepairCode::Bracket, end, "the closing bracket of the list is missing");
        }
        progress
    }

    /// At `at`, in the line of the last call, which ended at `behind`, another argument of it stands: its parenthesis came
    /// too early, or the string before that ended there.
    fn closed_early(&self, cx: &Reader<'_>, behind: usize, at: usize) -> Look<()> {
        if cx.slice(behind, at).contains('\n') {
            return Look::No;
        }
        // Something is done with the call, in a list of calls.
        if self.list && at == behind && matches!(cx.bytes().get(at), Some(b':' | b'.')) {
            return Look::Is(());
        }
        stray::argument_at(cx, at, self.name.as_str(cx.text))
    }

    /// `byte` stands at `at`, behind a call. `None` if the calls go on, or are over only behind what closes them.
    fn behind_call(&mut self, cx: &Reader<'_>, writer: &mut Writer, at: usize, byte: Option<u8>) -> Option<Progress> {
        let done = Some(Progress::Done { end: self.at });
        let quoted = self.quoted;
        if let Quoted::Open(quote) = quoted {
            match Self::signs_before(cx, at, quote) {
                Look::Is(end) => {
                    writer.mend(RepairCode::Surroundings, at, "what stood behind the call in its string was left out");
                    (self.quoted, self.at) = (Quoted::Over(quote), end);
                    return None;
                }
                Look::More => return Some(Progress::More),
                Look::No => self.quoted = Quoted::Over(quote),
            }
        }
        let Some(byte) = byte else { return if cx.eof { done } else { Some(Progress::More) } };
        match byte {
            b'"' | b'\'' if quoted == Quoted::Open(byte) => {}
            b']' if self.inner => self.inner = false,
            b']' if self.list => self.list = false,
            b']' if at == self.at && writer.origin.is_bare() => match closes_calls(cx, at + 1) {
                Look::Is(()) => {
                    writer.mend(RepairCode::Bracket, at, "a bracket that closes no list was left out");
                    return Some(Progress::Done { end: at + 1 });
                }
                Look::More => return Some(Progress::More),
                Look::No => return done,
            },
            b'}' if self.braced => self.braced = false,
            b')' if self.printed => self.printed = false,
            b',' | b';' => return self.separator(cx, writer, at),
            // A quote behind the call, where it does not close a string of calls, is that of a string which the call was cut
            // out of.
            b'"' | b'\'' if (at == self.at || self.list) && quoted == Quoted::No => {
                return match cx.bytes().get(cx.skip_space(at + 1)) {
                    None if !cx.eof => Some(Progress::More),
                    None | Some(b']') => done,
                    Some(_) => {
                        writer.refuse();
                        done
                    }
                };
            }
            b')' if self.list || at == self.at => match self.too_many(cx, at) {
                Look::Is(()) => writer.mend(RepairCode::Bracket, at, "a closing parenthesis too many was left out"),
                Look::More => return Some(Progress::More),
                Look::No => return done,
            },
            _ => return self.another(cx, writer, at, byte),
        }
        self.at = at + 1;
        None
    }

    /// At `at`, in a string that holds a call, stand only signs and line breaks before its `quote`: where the string ends, if an item
    /// does so there.
    fn signs_before(cx: &Reader<'_>, at: usize, quote: u8) -> Look<usize> {
        let near = cx.near(at, SIGNS);
        let sign = |byte: &u8| matches!(byte, b',' | b';' | b'.' | b'\\' | b'n' | b'r' | b' ');
        let length = near.iter().take_while(|byte| sign(byte)).count();
        let signs = cx.slice(at, at + length).replace("\\n", "").replace("\\r", "");
        match near.get(length) {
            _ if length == 0 => Look::No,
            None if cx.may_go_on(near.len(), SIGNS) => Look::More,
            Some(byte) if *byte == quote && !signs.contains(['\\', 'n', 'r']) => {
                let end = at + length + 1;
                cx.behind_space(end, end).then(|next| match cx.bytes().get(next) {
                    None | Some(b',' | b']' | b'"' | b'\'') => Look::Is(end),
                    Some(_) => Look::No,
                })
            }
            _ => Look::No,
        }
    }

    /// A comma or semicolon stands at `at`: another call follows, or it is none of the calls'.
    fn separator(&mut self, cx: &Reader<'_>, writer: &mut Writer, at: usize) -> Option<Progress> {
        let next = match if self.list { space::skip(cx, at + 1) } else { Look::Is(cx.skip_space(at + 1)) } {
            Look::Is(next) => next,
            _ => return Some(Progress::More),
        };
        if next >= cx.text.len() && !cx.eof {
            return Some(Progress::More);
        }
        if self.list && cx.bytes().get(next) == Some(&b']') {
            self.at = next;
            return None;
        }
        if self.list && cx.bytes().get(next) == Some(&b',') {
            writer.mend(RepairCode::Comma, next, "a comma too many was left out");
            self.at = next;
            return None;
        }
        // The list may go on with calls as JSON has them.
        let object = self.list && cx.bytes().get(next) == Some(&b'{');
        let braced = if object { Self::braced(cx, next) } else { Look::No };
        match if object && writer.origin.is_bare() && braced == Look::No { call_key_in(cx, next) } else { Look::No } {
            Look::Is(()) => {
                self.at = next;
                return Some(Progress::Done { end: next });
            }
            Look::More => return Some(Progress::More),
            Look::No => {}
        }
        let call = || match cx.bytes().get(next) {
            Some(quote @ (b'"' | b'\'')) if self.list => {
                Self::named_at(cx, next + 1, Some(*quote)).or(|| Self::plausible(cx, next + 1))
            }
            _ => Self::plausible(cx, next),
        };
        match braced.or(call) {
            Look::Is(()) => {
                if next > cx.skip_space(at + 1) {
                    writer.mend(RepairCode::Comment, at + 1, "a comment was left out");
                }
                self.at = next;
                self.expect = Expect::Call;
                None
            }
            Look::More => Some(Progress::More),
            Look::No => match if self.list && writer.begun > 0 { Self::no_call(cx, next) } else { Look::No } {
                Look::Is(end) => {
                    writer.pass(Piece::Span(next..end));
                    self.at = end;
                    None
                }
                Look::More => Some(Progress::More),
                // The text ends in the name of the next call, which does not make those before it text as well.
                Look::No if self.list && writer.fence.is_none() && Self::cut_name(cx, next) => {
                    writer.pass(Piece::Span(next..cx.text.len()));
                    self.at = cx.text.len();
                    Some(Progress::Done { end: self.at })
                }
                Look::No => {
                    self.at = if self.list { self.at } else { at + 1 };
                    Some(Progress::Done { end: self.at })
                }
            },
        }
    }

    /// Where the items at `at` end that are no calls, if an offered one follows behind a comma: `hmm` in `[f(a=1), hmm, g(b=2)]`.
    fn no_call(cx: &Reader<'_>, at: usize) -> Look<usize> {
        let near = cx.near(at, LONGEST_ITEMS);
        let (mut depth, mut quote) = (0_usize, None);
        for (byte, here) in near.iter().zip(at..) {
            match (byte, quote) {
                (b'\n', _) => return Look::No,
                (byte, Some(open)) if byte == open => quote = None,
                (_, Some(_)) => {}
                (b'"' | b'\'', None) => quote = Some(byte),
                (b'(' | b'[' | b'{', None) => depth += 1,
                (b')' | b']' | b'}', None) if depth == 0 => return Look::No,
                (b')' | b']' | b'}', None) => depth -= 1,
                (b',', None) if depth == 0 => {
                    let next = cx.skip_space(here + 1);
                    match Self::plausible(cx, next) {
                        Look::Is(()) if Self::may_be_meant(cx, next) => return Look::Is(here),
                        Look::More => return Look::More,
                        _ if next >= cx.text.len() && !cx.eof => return Look::More,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        cx.ran_out(near.len(), LONGEST_ITEMS)
    }

    /// The parenthesis at `at` is one too many: behind it the list goes on or ends, or the line is over.
    fn too_many(&self, cx: &Reader<'_>, at: usize) -> Look<()> {
        let rest = cx.rest(at + 1);
        let next = if self.list { rest.trim_ascii_start() } else { rest.trim_start_matches([' ', '\t', '\r']) };
        match next.bytes().next() {
            None if !cx.eof => Look::More,
            Some(b']' | b',') if self.list => Look::Is(()),
            None | Some(b'\n') if !self.list => Look::Is(()),
            _ => Look::No,
        }
    }

    /// Where the next call stands behind what joins it to the last one at `at`: `[f()] + [g()]`, `[f() + g()]`, `[f()] or [g()]`.
    fn behind_operator(&self, cx: &Reader<'_>, at: usize) -> Look<usize> {
        let rest = cx.rest(at);
        let operator = ["+", "or ", "and "].into_iter().find(|operator| rest.starts_with(operator));
        let Some(operator) = operator else {
            let begins = !cx.eof && ["or ", "and "].into_iter().any(|operator| operator.starts_with(rest));
            return if begins { Look::More } else { Look::No };
        };
        let next = cx.skip_space(at + operator.len());
        if self.list && cx.bytes().get(next) == Some(&b'[') {
            return Look::No;
        }
        match Self::plausible(cx, next) {
            Look::Is(()) if Self::may_be_meant(cx, next) => Look::Is(next),
            Look::More => Look::More,
            _ => Look::No,
        }
    }

    /// Another call stands at `at`, where `byte` is: on the next line, right behind a list, or where only the comma is missing.
    fn another(&mut self, cx: &Reader<'_>, writer: &mut Writer, at: usize, byte: u8) -> Option<Progress> {
        let done = Some(Progress::Done { end: self.at });
        let fresh_line = cx.slice(self.at, at).contains('\n');
        if !fresh_line && (self.list || at > self.at) {
            let quote = self.quoted == Quoted::Over(byte);
            match behind_wide_comma(cx, at, "") {
                Look::More => return Some(Progress::More),
                Look::Is(Item::Call) if self.list => {
                    writer.mend(RepairCode::Comma, at, "a comma of another script parts calls");
                    self.at = at + WIDE_COMMA.len();
                    self.expect = Expect::Call;
                    return None;
                }
                _ => {}
            }
            match next_item(cx, at + usize::from(quote), "") {
                Look::More => return Some(Progress::More),
                Look::Is(Item::Call) => {
                    writer.mend(RepairCode::Comma, self.at, "a missing comma was added");
                    self.at = at;
                    self.expect = Expect::Call;
                    return None;
                }
                _ => {}
            }
        }
        if !fresh_line
            && (self.list || cx.slice(0, self.at).ends_with(']'))
            && let Some(next) = told!(self.behind_operator(cx, at), Some(Progress::More))
        {
            writer.mend(RepairCode::Comma, at, "an operator between calls was left out");
            self.at = next;
            self.expect = Expect::Call;
            return None;
        }
        if !(fresh_line || byte == b'[') {
            return done;
        }
        // Up to a marker that must close them there are only calls.
        let enclosed = must_close(writer.origin.tail(cx));
        let quoted = self.list && self.quoted == Quoted::Over(byte);
        let start = at + usize::from(quoted);
        match Self::plausible(cx, start) {
            Look::Is(()) if enclosed || Self::may_be_meant(cx, start) => {
                if quoted {
                    writer.mend(RepairCode::Comma, self.at, "a missing comma was added");
                }
                self.at = at;
                self.expect = Expect::Call;
                None
            }
            Look::More => Some(Progress::More),
            _ => done,
        }
    }
}
