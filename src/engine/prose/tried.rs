//! What is known of a place where a marker is tried as the beginning of several templates' calls.
use crate::dialect::{CallTemplate, Meanings};
use crate::engine::head::{self, Head};
use crate::engine::{Look, Reader};

/// How a marker stands where it is tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::engine) enum Standing {
    #[default]
    Once,
    /// It is a word: quoted it is text.
    Word,
}

/// What is known of a place where the markers of several templates were tried.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    at: usize,
    standing: Standing,
    eof: bool,
    /// The element of the head that was tried last which does not stand there.
    pub(super) failed: Option<usize>,
    /// What heads begin with up to a name that is not offered, by its number in [`CallTemplate::beginnings`].
    pub(super) unoffered: Option<u16>,
    /// The head that stood there last, by the number of all of it, when the text was so long, if several templates have it.
    found: Option<(u16, Head)>,
    long: usize,
    /// Where the call began that was given up last.
    pub(in crate::engine) given_up: Option<usize>,
}

impl Tried {
    /// Something is tried at `at` now.
    pub(super) fn go_to(&mut self, cx: &Reader<'_>, at: usize, standing: Standing) {
        if (self.at, self.standing, self.eof) != (at, standing, cx.eof) {
            (self.at, self.standing, self.eof) = (at, standing, cx.eof);
            self.long = 0;
            self.unoffered = None;
        }
    }

    /// The last of the `meanings` is none: nor are those that fail where it did.
    pub(super) fn pass(&mut self, meanings: &mut Meanings<'_>) {
        if let Some(element) = self.failed.take() {
            meanings.fails(element);
        }
    }

    /// Fills the `head` of `template`, whose opening marker of `length` stands at `at`.
    pub(super) fn head(
        &mut self,
        cx: &Reader<'_>,
        at: usize,
        length: usize,
        template: &CallTemplate,
        head: &mut Head,
    ) -> Look<()> {
        if self.long != cx.text.len() {
            self.found = None;
            self.long = cx.text.len();
        }
        let whole = template.beginnings.last().copied();
        if let Some((_, known)) = self.found.as_ref().filter(|(number, _)| Some(*number) == whole) {
            head.clone_from(known);
            return Look::Is(());
        }
        // Only words have nobody else to ask whether the marker stands there twice.
        let fill = if self.standing == Standing::Word { head::behind_marker } else { head::behind_opener };
        let (look, reached) = fill(cx, at, length, &template.head, head);
        match look {
            Look::Is(()) if template.shares_head => self.found = whole.map(|number| (number, head.clone())),
            Look::No => self.failed = Some(reached),
            Look::Is(()) | Look::More => {}
        }
        look
    }
}
