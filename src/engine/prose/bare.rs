//! Calls without markers: where they may stand, and what vouches for them.
use super::flow::name_before;
use super::named::{first_member, printed};
use crate::char_class;
use crate::dialect::{Body, Key, may_end_name};
use crate::engine::body::BodyState;
use crate::engine::body::keys::no_call;
use crate::engine::call::{CallState, LONGEST_ECHO};
use crate::engine::context::quotation;
use crate::engine::head::{self, Head, without_escapes};
use crate::engine::look::{seen, taken, told, unless};
use crate::engine::origin::Origin;
use crate::engine::trace::Reason;
use crate::engine::writer::Vouching;
use crate::engine::{BareCalls, Doubt, Engine, Look, Reader, Taken};
use crate::turn::{Issue, IssueCode};

/// What ends a sentence, in the scripts that models write.
const ENDS_SENTENCE: [char; 8] = ['.', '!', '?', '。', '！', '？', '।', '؟'];

/// No tag that is named after a tool is longer.
const LONGEST_TAG: usize = 128;

/// No label before a call is longer, with the white space behind it.
const LONGEST_LABEL: usize = 64;

impl Engine {
    /// `get_weather(city="Paris")` with nothing round it: an offered name at the start of a line, and a parenthesis.
    pub(super) fn bare_call(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        if cx.tools.is_none() || cx.dialects.bare_python.is_none() || self.drafts(cx) || self.inline.is_some() {
            return Taken::No;
        }
        // At the end of what came, every parenthesis is looked at.
        if !at.checked_sub(1).and_then(|i| cx.bytes().get(i)).is_some_and(|byte| may_end_name(*byte)) {
            return Taken::No;
        }
        let before = cx.slice(self.given.from, at);
        let start = at - name_before(before);
        if cx.policy.bare == BareCalls::Off {
            self.pass(cx, start, Reason::BarePolicy);
            return Taken::No;
        }
        let name = without_escapes(cx.slice(start, at));
        let leads = || cx.tools.is_some_and(|tools| tools.leads_to(&name));
        if cx.offered(&name)
            && let Some(start) = printed(cx, self.given.from, start, at)
            && told!(self.refuses(cx, start)).is_none()
        {
            return self.begin_bare(cx, start, Body::Python);
        }
        let begins = self.begins_line(cx, start);
        if start == at || !cx.offered(&name) || !begins || !leads() {
            let offered = self.out.trace.is_on() && cx.offered(&name);
            if start < at && (offered || begins) {
                self.pass(cx, start, if offered { Reason::Place } else { Reason::NameNotOffered });
            }
            return Taken::No;
        }
        if self.runs_away(cx, start) {
            self.pass(cx, start, Reason::Runaway);
            return Taken::No;
        }
        unless!(self.is_shown(cx, start).map(|()| self.pass(cx, start, Reason::Quoted)));
        self.begin_bare(cx, start, Body::Python)
    }

    /// `<read_file><path>a.py</path></read_file>`, `<read_file>{"path": "a.py"}</read_file>`: a tag named after an offered
    /// tool at the start of a line, and in it one named after a parameter of it, or an object that begins with one.
    pub(in crate::engine) fn bare_element(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let (Some(tools), Some(row_id)) = (cx.tools, cx.dialects.elements) else { return Taken::No };
        let Some(row) = cx.dialects.row(row_id) else { return Taken::No };
        let Some(call) = row.calls.first() else { return Taken::No };
        let behind_another = self.behind_removed(cx, at);
        if self.inline.is_some() || self.section.is_some() || !(behind_another || cx.at_line_start(at)) {
            return Taken::No;
        }
        let tag = |at: usize| {
            let length = char_class::ELEMENT.length(cx.near(at + 1, LONGEST_TAG));
            (cx.slice(at + 1, at + 1 + length), cx.bytes().get(at + 1 + length).copied())
        };
        let may_begin =
            |written: &str, name: &str| name.get(..written.len()).is_some_and(|n| n.eq_ignore_ascii_case(written));
        // What nobody can know to be a tool's name before it is whole does not wait, so it is none when it is.
        let leads = |name: &str| !cx.dialects.auto || tools.leads_to(name);
        let tool = match tag(at) {
            (name, Some(b'>')) => cx.tool(name).filter(|_| leads(name)),
            (name, None) if cx.may_go_on(name.len(), LONGEST_TAG) && leads(name) => return Taken::More,
            _ => None,
        };
        let Some(tool) = tool else { return Taken::No };
        let quoted = self.is_shown(cx, at);
        unless!(quoted.map(|()| self.pass(cx, at, Reason::Quoted)));
        let mut head = seen!(head::head(cx, at, &call.head));
        let mut inside = seen!(cx.behind_space(at, head.end));
        let parameters = || tool.parameters.iter().map(|(name, _)| name);
        // The opening tag may stand there twice.
        if !parameters().any(|parameter| parameter == tag(at).0) {
            let again = cx.literal(inside, cx.slice(at, head.end));
            let again = again.then(|end| cx.behind_space(inside, end).map(|next| (end, next)));
            if let Some((end, next)) = told!(again) {
                (head.end, head.twice, inside) = (end, true, next);
            }
        }
        match cx.bytes().get(inside) {
            Some(b'<') => {}
            Some(b'{') => {
                let body = seen!(first_member(cx, tag(at).0, inside));
                let object = row.calls.iter().position(|c| c.head == call.head && c.body == body);
                return object.map_or(Taken::No, |call| self.begin(cx, at, row_id.call(call), &mut head, None));
            }
            _ => return Taken::No,
        }
        let closing = format!("</{}>", tag(at).0);
        match tag(inside) {
            // A tool without parameters has nothing else to show.
            _ if tool.parameters.is_empty() => _ = seen!(cx.literal(inside, &closing)),
            (name, Some(b'>')) if parameters().any(|p| p == name) => {}
            (name, None) if !cx.eof && parameters().any(|p| may_begin(name, p)) => return Taken::More,
            _ => return Taken::No,
        }
        self.begin(cx, at, row_id.call(0), &mut head, None)
    }

    /// Calls without a marker, where calls stand and the evidence is there.
    pub(super) fn bare(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let draft = self.drafts(cx);
        if draft || self.inline.is_some() || self.section.is_some() {
            if self.inline.is_none() {
                self.pass(cx, at, if draft { Reason::Draft } else { Reason::Place });
            }
            return Taken::No;
        }
        let body = BodyState::bare(cx, at);
        if !self.may_stand(cx, at, body) {
            taken!(self.repeated(cx, at));
            let reason = match cx.tools {
                None => Reason::NoTools,
                Some(_) if self.out.trace.is_on() && self.is_shown(cx, at) == Look::Is(()) => Reason::Quoted,
                Some(_) => Reason::Place,
            };
            self.pass(cx, at, reason);
            return Taken::No;
        }
        // Nothing is said of what begins no call, or may yet: a stream looks at more such places than a whole text does.
        let body = match body {
            Look::Is(Body::Json) if cx.tools.is_none() && cx.dialects.bare_json.is_none() => {
                self.pass(cx, at, Reason::NoTools);
                return Taken::No;
            }
            Look::Is(body) => body,
            Look::No => return Taken::No,
            Look::More => return Taken::More,
        };
        if self.runs_away(cx, at) {
            self.pass(cx, at, Reason::Runaway);
            return Taken::No;
        }
        if self.is_full_for_good(cx) && !self.behind_removed(cx, at) {
            return Taken::No;
        }
        let quoted = self.is_shown(cx, at);
        if told!(quoted.or(|| self.around.in_string(cx, at, at))).is_some() {
            self.pass(cx, at, Reason::Quoted);
            return Taken::No;
        }
        taken!(self.repeated(cx, at));
        if cx.bytes().get(at) == Some(&b'{')
            && self.hold.is_none()
            && self.fence.is_none()
            && !self.out.is_full(cx)
            && let Some(error) = told!(no_call(cx, at))
        {
            // Nothing is begun that would be given up.
            self.out.trace.kept(at..error, None, Reason::NotReadable);
            (self.leftover.unclosed, self.body, self.at) = (None, 0..0, error);
            return Taken::Done;
        }
        let before = cx.slice(0, at).trim_end();
        let alone = self.fresh_at(cx, at) || cx.at_line_start(at);
        let doubt = match () {
            () if cx.dialects.auto || alone => None,
            () if before.ends_with(|c: char| c.is_alphanumeric()) => Some(Doubt::Sentence),
            () => quotation::opens(cx, at).then_some(Doubt::Quotes),
        };
        if let Some(doubt) = doubt.filter(|_| self.hold.is_none() && !self.out.is_full(cx)) {
            let before = self.remove(cx, at, at);
            self.hold(doubt, at, before);
        }
        self.begin_bare(cx, at, body)
    }

    /// A call without a marker may begin with the `body` at `at`, for the place where that stands.
    fn may_stand(&self, cx: &Reader<'_>, at: usize, body: Look<Body>) -> bool {
        let list = cx.bytes().get(at) == Some(&b'[') && matches!(body, Look::Is(Body::Python) | Look::More);
        // In the middle of a line a list of calls stands behind the end of a sentence or a colon, an object and a list of them behind
        // a sentence alone: a colon announces an example as well.
        let object = matches!(body, Look::Is(Body::Json) | Look::More) && cx.bytes().get(at) == Some(&b'{');
        let objects = body == Look::Is(Body::Json) && cx.bytes().get(at) == Some(&b'[');
        let before = cx.slice(0, at).trim_end();
        let colon = !object && !objects && before.ends_with([':', '：']);
        let sentence = before.ends_with(ENDS_SENTENCE) || colon;
        // Mostly no colon stands there, with signs of bold text or without.
        let label = before.ends_with([':', '*']);
        if !cx.dialects.auto
            || label && (labelled(cx, at) || behind_label(cx, at))
            || ((list || object || objects) && cx.tools.is_some() && sentence)
            || (list && cx.at_line_start(at) && (cx.tools.is_some() || self.begins_paragraph(cx, at)))
        {
            true
        } else if self.fence.is_some() || cx.tools.is_some() {
            self.fresh_at(cx, at) || cx.at_line_start(at) || behind_lone_token(cx, at)
        } else {
            (self.fresh_at(cx, at) && self.out.says_nothing()) || cx.first_in_text(at)
        }
    }

    /// Nothing, a blank line or a marker that was taken out stands before the line of `at`, which it begins. Without tools, a list that
    /// ends a sentence of prose or an assignment is Python as any other.
    fn begins_paragraph(&self, cx: &Reader<'_>, at: usize) -> bool {
        let mut lines = cx.slice(0, at).rsplit('\n').skip(1);
        lines.next().is_none_or(|line| line.trim_ascii().is_empty()) || self.behind_removed(cx, at)
    }

    /// Right behind a call, its body once more and without the opening marker: an echo, not another call.
    fn repeated(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let body = cx.part(&self.body);
        let behind = self.behind_removed(cx, at);
        let rest = cx.bytes().get(at..).unwrap_or_default();
        // Longer ones are not waited for.
        if body.is_empty() || body.len() > LONGEST_ECHO || !behind || self.hold.is_some() {
            return Taken::No;
        }
        if !rest.starts_with(body.as_bytes()) {
            let begins = !cx.eof && body.as_bytes().starts_with(rest);
            return if begins { Taken::More } else { Taken::No };
        }
        let end = at + body.len();
        let message = "the model wrote the body of its call once more, without the opening marker";
        self.out.issue(Issue::at(IssueCode::RepeatedCall, at, message));
        self.remove(cx, at, end);
        Taken::Done
    }

    pub(in crate::engine) fn begin_bare(&mut self, cx: &Reader<'_>, at: usize, body: Body) -> Taken {
        self.begin_bare_by(cx, at, &Head { end: at, ..Head::default() }, body)
    }

    /// A call with markers stands behind a quotation mark that has not closed yet.
    fn holds_marked(&self) -> bool {
        let hold = self.hold.as_ref().filter(|hold| hold.doubt == Doubt::Quotes);
        let first = hold.and_then(|hold| self.out.calls.get(hold.mark.calls()));
        first.is_some_and(|call| !call.origin.is_bare())
    }

    /// A call without markers begins at `at`, whose body stands behind `head`.
    pub(super) fn begin_bare_by(&mut self, cx: &Reader<'_>, at: usize, head: &Head, body: Body) -> Taken {
        if self.out.takes_no_more(cx, at) {
            self.pass(cx, at, Reason::LimitReached);
            return Taken::No;
        }
        if self.holds_marked() {
            // This one is not between the same quotation marks: alone, it may be none.
            self.keep(Doubt::Quotes);
        }
        let before = self.remove(cx, at, at);
        if self.hold.is_none() {
            self.hold(Doubt::Bare, at, before.clone());
        }
        self.call_stands(cx, before.from..at);
        let fence = self.fence.map(|fence| fence.closer());
        let state = CallState::new(cx, Origin::Bare(body), body, at, head, Vouching::Name, before);
        self.begin_call(state, |call| {
            if let Some(closer) = fence {
                call.in_fence(closer);
            }
        });
        Taken::Done
    }
}

/// What stands before a colon before `at` says that a call follows: `function_call: {...}`, or all of a line, or of what stands
/// behind a tag: `Tool Call: {...}`.
fn labelled(cx: &Reader<'_>, at: usize) -> bool {
    let near = cx.before(at, LONGEST_LABEL);
    let Some(before) = near.trim_end_matches([' ', '\t', '*']).strip_suffix(':') else { return false };
    // Mostly it is the key of a member.
    if before.ends_with(['"', '\'']) {
        return false;
    }
    let word = before.get(before.len() - name_before(before)..).unwrap_or_default();
    let line = memchr::memrchr2(b'\n', b'>', before.as_bytes()).map_or(0, |i| i + 1);
    let label = before.get(line..).unwrap_or_default().trim_matches([' ', '\t', '*', '#']);
    let says = |spelling: &&str| {
        let alike =
            |(a, b): ((&str, &str), (&str, &str))| a.0.eq_ignore_ascii_case(b.0) && a.1.eq_ignore_ascii_case(b.1);
        // Mostly the line is longer than any.
        spelling.len() == label.len()
            && (spelling.eq_ignore_ascii_case(label)
                || spelling.split_once('_').zip(label.split_once(' ')).is_some_and(alike))
    };
    let mut spellings = Key::Function.spellings().iter().filter(|spelling| spelling.len() > "function".len());
    spellings.clone().any(|spelling| *spelling == word) || spellings.any(says)
}

/// Nothing but a token stands before `at` in the text: what a header or a marker has left (`<|im_start|>{...}`).
fn behind_lone_token(cx: &Reader<'_>, at: usize) -> bool {
    at <= LONGEST_TOKEN && LONE_TOKENS.contains(&cx.slice(0, at).trim())
}

/// What headers begin and end with, and answers.
const LONE_TOKENS: [&str; 7] =
    ["<|im_start|>", "<|start_header_id|>", "<|end_header_id|>", "<|assistant|>", "<|message|>", "<|eot_id|>", "<s>"];

/// A longer special token says more than that it is one.
const LONGEST_TOKEN: usize = 32;

/// What opens calls in a dialect of plain words stands before `at`, where its line begins or behind a tag: `Action: {...}`.
fn behind_label(cx: &Reader<'_>, at: usize) -> bool {
    let near = cx.before(at, LONGEST_LABEL);
    let before = near.trim_end_matches([' ', '\t']);
    let end = at - near.len() + before.len();
    let begins = |at: usize| cx.at_line_start(at) || cx.follows_tag(at);
    let stands = |label: &String| before.ends_with(label.as_str()) && begins(end - label.len());
    before.ends_with(':') && cx.dialects.labels.iter().any(stands)
}
