//! Where the head of a call stands: whether a call begins there.
use super::named::{may_lack_key, unopened_key};
use crate::char_class;
use crate::dialect::{Body, CallId, CallTemplate, Element, Row, RowId, SectionId};
use crate::engine::body::BodyState;
use crate::engine::call::CallState;
use crate::engine::context::quotation;
use crate::engine::head::{Head, LONGEST_NAME};
use crate::engine::look::{told, unless};
use crate::engine::origin::Origin;
use crate::engine::reader::floor;
use crate::engine::trace::Reason;
use crate::engine::writer::Vouching;
use crate::engine::{Doubt, Engine, Look, Mode, Reader, ReasoningCalls, Taken, UnknownTools};
use std::borrow::Cow;

/// What is to hold the call, and how it is written.
#[derive(Clone, Copy)]
struct Form<'r> {
    row: &'r Row,
    template: &'r CallTemplate,
    /// It stands in the section that its dialect asks for.
    inside: bool,
}

impl Form<'_> {
    /// An offered name has to vouch for it: a call outside the section its dialect asks for, a tag, and JSON behind a word,
    /// since the answer itself may be written as a step.
    fn is_naked(self) -> bool {
        let Self { row, template, inside } = self;
        let special = row.dialect.special_markers && template.special;
        let labelled = template.body == Body::Json && template.labelled;
        !inside && !row.sections.is_empty() && !special || row.by_name() || labelled || template.offered
    }

    /// Labels that any text may have begin a call where they begin a line, or follow a tag, and what stands behind the `head`
    /// has a parameter of the tool, or nothing, or is its only argument.
    #[cold]
    fn label_stands(self, cx: &Reader<'_>, at: usize, head: &Head) -> Look<()> {
        let begins = cx.at_line_start(at) || cx.follows_tag(at);
        let Some(tool) = head.tool(cx).filter(|_| begins) else { return Look::No };
        if self.template.body != Body::Arguments {
            return Look::Is(());
        }
        // However the object and its first key are quoted.
        let near = cx.slice(head.end, floor(cx.text, head.end + 2 * LONGEST_NAME));
        let inside = near.trim_start_matches(|c: char| c.is_ascii_whitespace() || "{\"'`\\".contains(c));
        let key = inside.get(..inside.bytes().take_while(|byte| char_class::NAME.has_ascii(*byte)).count());
        match key {
            // It may go on.
            Some(key) if key.len() == inside.len() && near.len() < 2 * LONGEST_NAME && !cx.eof => Look::More,
            Some(key) if tool.declares(key) || key.is_empty() && inside.starts_with('}') => Look::Is(()),
            _ => Look::No,
        }
    }

    /// The head has all of the name: it is not in the body, and no key is glued to it.
    fn is_named_by_head(self) -> bool {
        let Self { row, template, .. } = self;
        !matches!(template.body, Body::Json | Body::Python) && !may_lack_key(row, template)
    }

    /// What stands behind the `head` can be the body. One whose body lacks its opening marker is set right.
    fn body_follows(self, cx: &Reader<'_>, head: &mut Head) -> Look<()> {
        let Self { row, template, inside } = self;
        // A tag that stands there twice would be taken for an element: the first one is text.
        if template.body == Body::Elements {
            unless!(cx.opens(cx.skip_space(head.end), &template.head));
        }
        match BodyState::plausible(cx, row, template, head, inside) {
            // What is no more than its marker was looked at.
            Look::No if template.head.len() >= 3 => unopened_key(cx, row, template, head).map(|keyed| *head = keyed),
            look => look,
        }
    }
}

impl Engine {
    /// What stands behind a name that nothing vouches for is only looked at where somebody wants to know why it is no call.
    fn needs_offered_head(&self, form: Form<'_>) -> bool {
        form.is_naked() && !self.out.trace.is_on() && form.is_named_by_head()
    }

    /// The section that is open is one of the row's.
    pub(in crate::engine) fn in_section_of(&self, row: RowId) -> bool {
        self.section.is_some_and(|section| section.row == row)
    }

    /// A call by this `template` of `row` is none unless the name in its head is offered.
    pub(super) fn needs_offer(&self, cx: &Reader<'_>, row: RowId, template: &CallTemplate) -> bool {
        let inside = self.in_section_of(row);
        let entry = cx.dialects.row(row);
        entry.is_some_and(|row| self.needs_offered_head(Form { row, template, inside }))
    }

    /// So it is, and the name in the `head` that was read is not.
    pub(super) fn is_unoffered(&self, cx: &Reader<'_>, row: RowId, template: &CallTemplate, head: &Head) -> bool {
        head.name.is_some() && !head.twice && self.needs_offer(cx, row, template) && !head.is_offered(cx)
    }

    /// A call may begin at `at`: its head has been read. Looks at what follows and takes it if it can be the body.
    pub(super) fn begin(
        &mut self,
        cx: &Reader<'_>,
        at: usize,
        call: CallId,
        head: &mut Head,
        section: Option<SectionId>,
    ) -> Taken {
        let may_begin = self.may_begin(cx, at, call, head, section);
        may_begin.take(|vouching| self.begin_template(cx, at, call, head, section, vouching))
    }

    /// Whether a call with this `head` at `at` can begin there, and what vouches for it.
    pub(super) fn may_begin(
        &mut self,
        cx: &Reader<'_>,
        at: usize,
        call: CallId,
        head: &mut Head,
        section: Option<SectionId>,
    ) -> Look<Vouching> {
        let Some(row) = cx.dialects.row(call.row) else { return Look::No };
        let Some(template) = row.call(call) else { return Look::No };
        if told!(self.around.in_string(cx, at, head.end)).is_some() {
            self.pass(cx, at, Reason::Quoted);
            return Look::No;
        }
        let inside = section.is_some() || self.in_section_of(call.row);
        let form = Form { row, template, inside };
        let naked = form.is_naked();
        if self.needs_offered_head(form) && !head.is_offered(cx) {
            return Look::No;
        }
        if cx.tools.is_none() && head.name.is_none() && told!(is_all(cx, template, head)).is_some() {
            head.name.clone_from(&head.id);
        }
        if told!(form.body_follows(cx, head)).is_none() {
            let name = head.name(cx).filter(|name| cx.tools.is_some() && !cx.offered(name));
            // Another template's opening marker may take more for a name.
            let is_name = |name: &Cow<'_, str>| name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            if let Some(name) = name.filter(|_| cx.policy.unknown_tools == UnknownTools::Text).filter(is_name) {
                self.out.trace.refuse(Reason::NameNotOffered, &name);
            }
            return Look::No;
        }
        if template.body != Body::Json && template.body != Body::Python {
            if !head.is_named(cx) {
                return Look::No;
            }
            if cx.tools.is_none() && head.name(cx).is_some_and(|name| is_no_name(&name)) {
                self.out.trace.refuse(Reason::NoName, "");
                return Look::No;
            }
            if cx.tools.is_none() && told!(is_between(cx, head)).is_some() {
                self.out.trace.refuse(Reason::NoName, "");
                return Look::No;
            }
            if naked && let Some(name) = head.name(cx).filter(|name| !cx.offered(name)) {
                let reason = if cx.tools.is_some() { Reason::NameNotOffered } else { Reason::NoTools };
                self.out.trace.refuse(reason, &name);
                return Look::No;
            }
        } else if naked && cx.tools.is_none() {
            self.out.trace.refuse(Reason::NoTools, "");
            return Look::No;
        }
        let stands = if template.offered { form.label_stands(cx, at, head) } else { Look::Is(()) };
        stands.map(|()| if naked { Vouching::Name } else { Vouching::Markers })
    }

    /// A call by this template begins at `at` if it is the place for one.
    pub(super) fn begin_template(
        &mut self,
        cx: &Reader<'_>,
        at: usize,
        call: CallId,
        head: &Head,
        section: Option<SectionId>,
        vouching: Vouching,
    ) -> Taken {
        let Some(row) = cx.dialects.row(call.row) else { return Taken::No };
        let Some(template) = row.call(call) else { return Taken::No };
        if let Some(reason) = self.no_place(cx, at, row) {
            self.out.trace.refuse(reason, &head.name(cx).unwrap_or_default());
            return Taken::No;
        }
        let doubt = match (self.given.mode, self.inline) {
            _ if self.hold.is_some() => None,
            (Mode::Reasoning, Some(_)) => return Taken::No,
            (Mode::Reasoning, None) => match cx.policy.reasoning {
                ReasoningCalls::IfUnclosed => Some(Doubt::Reasoning),
                _ => None,
            },
            (Mode::Content, Some(_)) => Some(Doubt::InlineCode),
            (Mode::Content, None) if quotation::opens(cx, at) && !self.behind_closer(cx, at) => Some(Doubt::Quotes),
            // Labels are words, which a sentence may have.
            (Mode::Content, None) => (template.labelled && quotation::follows_word(cx, at)).then_some(Doubt::Sentence),
        };
        let before = self.remove(cx, at, head.end);
        if let Some(doubt) = doubt {
            self.hold(doubt, at, before.clone());
        }
        self.call_stands(cx, before.from..at);
        self.note_name(cx, head);
        if section.is_some() {
            self.leftover.opener_given = None;
            self.section = section;
        }
        let open = self.section.filter(|section| section.row == call.row);
        let state = CallState::new(cx, Origin::Template(call), template.body, at, head, vouching, before);
        self.begin_call(state, |call| call.in_section(open));
        Taken::Done
    }

    /// No call begins any more, whatever stands there: there are as many as there may be, none of them is in doubt, and that is said.
    /// Only whoever wants to know why something is no call has more to ask.
    pub(super) fn is_full_for_good(&self, cx: &Reader<'_>) -> bool {
        let certain = self.hold.is_none() && self.fence.is_none() && !self.out.trace.is_on();
        certain && self.out.is_full(cx) && self.out.says_full()
    }

    /// What closes the last call, or its section, ends right before `at`: what looks like a quotation mark there is its own.
    fn behind_closer(&self, cx: &Reader<'_>, at: usize) -> bool {
        let last = self.out.calls.last().filter(|_| self.fresh_at(cx, at));
        let Some(row) = last.and_then(|call| call.origin.row(cx)) else { return false };
        let tails = row.calls.iter().map(|call| &*call.tail).chain(row.section_closes());
        let mut closers = tails.flatten().filter_map(Element::literal);
        let before = cx.slice(0, at).trim_end();
        closers.any(|closer| before.ends_with(closer))
    }

    /// Why no call of this row counts at `at`, whatever stands there.
    fn no_place(&mut self, cx: &Reader<'_>, at: usize, row: &Row) -> Option<Reason> {
        if self.in_invented_turn(cx, at) {
            return Some(Reason::Runaway);
        }
        if self.out.takes_no_more(cx, at) {
            return Some(Reason::LimitReached);
        }
        let framed = row.dialect.channels.as_ref().is_some_and(|c| c.calls_to_recipients);
        if framed && self.channel.is_some_and(|c| !c.calls) {
            return Some(Reason::Channel);
        }
        let draft = self.given.mode == Mode::Reasoning && cx.policy.reasoning == ReasoningCalls::Ignore;
        draft.then_some(Reason::Draft)
    }
}

/// The `name` begins as no tool's does, or it ends a sentence: where nobody says which tools there are, no such call is meant.
fn is_no_name(name: &str) -> bool {
    name.starts_with(['=', ':', ',', ';']) || name.ends_with(['.', ':', ',', ';', '!', '?'])
}

/// The id in the `head` is all that stands in the call, which closes behind it: a name, though it has no number. Source: pattern 3 of
/// `reliable-tool-calling-architecture.md`.
fn is_all(cx: &Reader<'_>, template: &CallTemplate, head: &Head) -> Look<()> {
    let plain = |id: &std::ops::Range<usize>| cx.part(id).bytes().all(|byte| char_class::QUALIFIED_NAME.has_byte(byte));
    if template.body != Body::Arguments || !head.id.as_ref().is_some_and(plain) {
        return Look::No;
    }
    let closer = template.tail.iter().find_map(Element::literal);
    closer.map_or(Look::No, |closer| cx.literal(cx.skip_space(head.end), closer).unit())
}

/// The name in the `head`, behind which a closing marker stands, has a blank on either side: `<tool_call> and </tool_call>` are
/// words that tell two markers apart. A model that calls a tool without arguments writes them in a line of their own or glued.
fn is_between(cx: &Reader<'_>, head: &Head) -> Look<()> {
    let Some(name) = &head.name else { return Look::No };
    let byte = |at: usize| cx.bytes().get(at).copied();
    if name.start.checked_sub(1).and_then(byte) != Some(b' ') || byte(name.end) != Some(b' ') {
        return Look::No;
    }
    let next = cx.skip_space(name.end);
    match (byte(next), byte(next + 1)) {
        (Some(b'<'), None) | (None, _) if !cx.eof => Look::More,
        (Some(b'<'), Some(b'/')) => Look::when(!cx.slice(name.end, next).contains('\n')),
        _ => Look::No,
    }
}
