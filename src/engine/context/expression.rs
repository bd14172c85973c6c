//! A call that is a part of something: an expression or a sentence goes on right behind it, in its line.
//!
//! Source: outputs published with BFCL, 23 of which hold `f(a) * g(b)`, `f(x)["key"]` or `f(x) for x in ...`: a program, whose parts
//! nobody calls alone.
use crate::engine::look::seen;
use crate::engine::reader::floor;
use crate::engine::{Look, Reader};

/// A longer call is no part of a sentence, and a stream need not hold it back until its end.
pub(in crate::engine) const LONGEST_CALL: usize = 256;

/// The call that ends at `at` goes on there, before `limit`: with an operator, an attribute, an index or a small letter. Not so an object
/// with a letter: that begins what is said next.
pub(in crate::engine) fn goes_on(cx: &Reader<'_>, at: usize, limit: usize) -> Look<()> {
    let object = cx.slice(0, at).ends_with('}');
    // The character at a place, or what is known without it.
    let char_at = |at: usize| match cx.rest(at).chars().next() {
        Some(next) if at < limit => Look::Is(next),
        None if cx.may_go_on(at, limit) => Look::More,
        _ => Look::No,
    };
    let near = cx.slice(at, floor(cx.text, limit).max(at));
    let next = at + near.len() - near.trim_start_matches([' ', '\t']).len();
    let attached = next == at;
    let sign = seen!(char_at(next));
    let behind = next + sign.len_utf8();
    let followed_by = |is: &dyn Fn(char) -> bool| char_at(behind).then(|next| Look::when(is(next)));
    match sign {
        letter if letter.is_alphabetic() => Look::when(!letter.is_uppercase() && !object),
        '=' => Look::Is(()),
        '.' if attached => followed_by(&|next| next.is_lowercase() || next == '_'),
        // That of a list is its own: models take the first of the results that they ask for.
        '[' if attached && !cx.slice(0, at).ends_with(']') => {
            followed_by(&|next| next.is_ascii_digit() || matches!(next, '"' | '\'' | '-' | ':'))
        }
        '(' if attached => followed_by(&|next| !next.is_whitespace()),
        '!' => followed_by(&|next| next == '='),
        '+' | '/' | '%' if attached => followed_by(&|next| next.is_alphanumeric() || next == '_'),
        '<' | '>' if !attached => followed_by(&|next| matches!(next, ' ' | '=')),
        '-' if !attached => followed_by(&|next| matches!(next, ' ' | '>')),
        '+' | '*' | '/' | '%' | '|' | '&' if !attached => {
            followed_by(&|next| next == ' ' || next == sign && next != '/')
        }
        _ => Look::No,
    }
}
