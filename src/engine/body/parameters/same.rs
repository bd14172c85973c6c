//! Elements in a value that are named as its parameter is, where closing markers hold the name: `<content scope="x">a</content>` in
//! a file that is written as `<content>`. What closes them does not close the value.
use super::open::Closer;
use super::*;
use crate::engine::look::seen;

/// An opening tag that is longer is none.
const LONGEST: usize = 512;

/// The elements of its own name that a value holds, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Same {
    /// How many are open.
    open: usize,
    /// The first closing tag that was taken for that of such an element, though what follows it may follow the value.
    taken: Option<usize>,
}

impl Same {
    /// One is open.
    pub(super) const fn is_open(&self) -> bool {
        self.open > 0
    }

    /// A closing tag stands there that does not close the value.
    pub(super) fn close(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// An opening one stands there.
    pub(super) fn open(&mut self) {
        self.open += 1;
    }
}

impl OpenValue {
    /// An opening tag of its own name stands at `hit`, with attributes or without.
    pub(super) fn opens_same(&self, cx: &Reader<'_>, parameter: &Parameter, hit: usize) -> Look<()> {
        if !self.closes_by_key() {
            return Look::No;
        }
        let name = |at: usize| cx.literal(at, self.key(cx));
        let end = seen!(cx.literal(hit, &parameter.opener).then(name));
        let near = cx.near(end, LONGEST);
        match near.first() {
            Some(b'>') => return Look::Is(()),
            Some(byte) if byte.is_ascii_whitespace() => {}
            None if !cx.eof => return Look::More,
            _ => return Look::No,
        }
        match memchr::memchr2(b'<', b'>', near).map(|length| near.split_at(length)) {
            // One that ends in a slash opens nothing.
            Some((tag, rest)) if rest.starts_with(b">") && !tag.ends_with(b"/") => Look::Is(()),
            None if cx.may_go_on(near.len(), LONGEST) => Look::More,
            _ => Look::No,
        }
    }

    /// Its closing tag stands at `own`, and `next` behind it. It closes an element that the value holds, if one is open: should
    /// the value's own never come, it was that all the same.
    pub(super) fn closes_same(&mut self, next: &Next, own: Closer) -> bool {
        let closes = self.same.open > 0 && matches!(next, Next::Parameter(_));
        if closes {
            self.same.close();
            self.same.taken.get_or_insert(own.at);
            self.ends.doubtful = Some(own);
            self.searched = own.at + 1;
        }
        closes
    }

    /// It ends at `end`, where it would not if each of these elements were closed.
    pub(super) fn ends_early(&self, end: usize) -> bool {
        self.same.taken.is_some() && (self.same.open > 0 || self.ends.doubtful.is_some_and(|own| own.at == end))
    }

    /// And it may end elsewhere as well.
    pub(super) fn ends_anywhere(&self, end: usize) -> bool {
        self.ends_early(end) && self.same.taken != Some(end)
    }
}
