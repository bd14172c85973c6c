//! What a whole object is: a call, an envelope of calls, or neither.
use super::definition::{describes, holds_values, is_described, names_types};
use super::frames::tell_outcome;
use super::*;
use crate::dialect::must_close;
use crate::engine::body::keys::{defines_object, first_key, schema_like};
use crate::engine::look::{seen, told};
use crate::engine::reader::floor;
use crate::json::Repaired;
use crate::schema::Tool;
use crate::turn::{Issue, IssueCode};

/// No more blanks stand between an object and the words behind it.
const FEW_BLANKS: usize = 8;

impl JsonCalls {
    /// The last frame is a whole object: it is a call, an envelope, or neither.
    pub(super) fn object(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, raw: Range<usize>) -> Flow {
        let Some(frame) = self.frames.last_mut() else { return Flow::On };
        if let Some(envelope) = frame.envelope {
            // It may be a call itself, with a list of none beside its arguments, if nothing of that had to be guessed.
            let own = frame.name.is_some() && frame.arguments.is_some();
            if cx.made || !own || envelope == Envelope::Calls {
                let counts = whole_envelope(cx, out, writer, frame, envelope);
                if !counts && envelope == Envelope::NoCalls && frame.says_something() {
                    // Among calls it is text.
                    frame.envelope = None;
                }
                if frame.wrapped && writer.is_unmarked() && holds_foreign(cx, &frame.others) {
                    writer.tear();
                }
            }
            if cx.made || !own || frame.index.is_some_and(|index| !writer.is_open(index)) {
                return Flow::On;
            }
        }
        let (named, begins) = (frame.name.is_some(), frame.start);
        if named && frame.arguments.is_none() {
            match self.is_beside(cx, writer, begins..raw.end) {
                Look::Is(()) => return Flow::On,
                Look::More => return Flow::Stop(Progress::More),
                Look::No => {}
            }
        }
        let Some(frame) = self.frames.last_mut() else { return Flow::On };
        match (named, frame.arguments.clone()) {
            (false, None) => self.named_by_keys(cx, out, writer, raw),
            (true, Some(arguments)) if self.beside_empty(cx, &arguments) => self.flat(cx, out, writer, raw),
            (true, Some(arguments)) => self.with_arguments(cx, out, writer, arguments, raw),
            _ => self.flat(cx, out, writer, raw),
        }
    }

    /// The `object`, which has a name and no arguments, stands behind what was called where nothing closes the calls, and no sign says that
    /// it goes on with them, nor has it a parameter of an offered tool, or is all the name of one with no words behind it: it is what follows.
    fn is_beside(&self, cx: &Reader<'_>, writer: &Writer, object: Range<usize>) -> Look<()> {
        if self.before.is_none_or(|(_, begun)| begun == 0) || self.frames.len() > 1 || cx.made || writer.is_unmarked() {
            return Look::No;
        }
        if cx.slice(0, object.start).trim_ascii_end().ends_with([',', ';']) || must_close(writer.closing(cx)) {
            return Look::No;
        }
        let Some(tool) = self.name(cx).and_then(|name| cx.tool(&name)) else { return Look::Is(()) };
        let others = self.frames.last().map(|frame| frame.others.as_slice()).unwrap_or_default();
        if !others.is_empty() {
            return Look::when(!others.iter().any(|other| tool.declares(other.raw_key(cx))));
        }
        let near = cx.ahead(object.end, FEW_BLANKS);
        match near.trim_start_matches([' ', '\t']).chars().next() {
            Some(next) => Look::when(next.is_alphanumeric() || matches!(next, '(' | '"' | '\'' | '`')),
            None => cx.ran_out(near.len(), FEW_BLANKS),
        }
    }

    /// Where keys name tools, the one before the object at `value` names one, though it is a word for a part of calls as well: nothing
    /// of a call stands before it, and the object begins with a parameter of that tool.
    pub(super) fn names_tool(&self, cx: &Reader<'_>, writer: &Writer, key: &str, value: usize) -> Look<()> {
        let by_key = writer.origin.row(cx).is_some_and(|row| row.dialect.name_as_key);
        let first = |frame: &Frame| frame.is_call() && frame.name.is_none() && frame.arguments.is_none();
        if !by_key || cx.bytes().get(value) != Some(&b'{') || !self.frames.last().is_some_and(first) {
            return Look::No;
        }
        let Some(tool) = cx.tool(key).filter(|tool| tool.name == key) else { return Look::No };
        cx.behind_space(value, value + 1).then(|inside| match cx.bytes().get(inside) {
            Some(b'}') if tool.parameters.is_empty() => Look::Is(()),
            _ => key_at(cx, inside, |key| tool.declares(key)),
        })
    }

    /// The last frame is a request of MCP's, and the `key` that of the call in it: `{"method": "tools/call", "params": {"name": ...}}`.
    pub(super) fn is_request(&self, cx: &Reader<'_>, key: &str) -> bool {
        let method = self.frames.last().and_then(|frame| frame.method.as_ref()).filter(|_| key == Key::PARAMS);
        method.is_some_and(|method| decode(cx.part(method)) == "tools/call")
    }

    /// What has the arguments that begin at `value`, under a key at `at`, is a tool's definition, and no call of it: how far it
    /// was read.
    pub(super) fn definition(&self, cx: &Reader<'_>, writer: &Writer, at: usize, value: usize) -> Look<usize> {
        let described = |member: &Other| member.raw_key(cx) == Key::DESCRIPTION;
        let described = || self.frames.last().is_some_and(|frame| frame.others.iter().any(described));
        if !writer.is_unmarked() {
            // Markers speak for a call, and only a whole schema against it, or types alone behind a description.
            let name = self.name(cx);
            let tool = name.as_deref().and_then(|name| cx.tool(name));
            let types = || if described() { names_types(cx, writer, value, tool) } else { Look::No };
            return defines_object(cx, value, name.as_deref()).or(types).map(|()| at);
        }
        let called = || Key::is_of_calls(cx.slice(at, value).split('"').nth(1).unwrap_or_default());
        if writer.begun == 0 && described() && !called() && told!(self.holds_value(cx, value)).is_none() {
            return Look::Is(at);
        }
        match cx.bytes().get(value) {
            Some(b'{') => schema_like(cx, value, self.name(cx).as_deref()).map(|()| value),
            _ => Look::No,
        }
    }

    /// The object at `value` begins with a parameter of the tool that is named and a value of it, a number or a truth value, or has one
    /// near. A definition says there what the parameter is, in whatever words.
    fn holds_value(&self, cx: &Reader<'_>, value: usize) -> Look<()> {
        let Some(tool) = self.name(cx).and_then(|name| cx.tool(&name)) else { return Look::No };
        if cx.bytes().get(value) != Some(&b'{') {
            return Look::No;
        }
        let first = seen!(first_key(cx, value));
        if !tool.declares(cx.part(&first)) {
            return Look::No;
        }
        let colon = seen!(cx.behind_space(first.end, first.end + 1));
        let start = seen!(cx.behind_space(first.end, colon + 1));
        match cx.bytes().get(start) {
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => Look::Is(()),
            _ => holds_values(cx, value, tool),
        }
    }

    /// The `key` is one that agents have round their call, or round a list of calls: what stands at `value`, which begins with `first`,
    /// has a call's own key at its beginning.
    pub(super) fn wraps_call(
        &self,
        cx: &Reader<'_>,
        writer: &Writer,
        key: &str,
        (value, first): (usize, u8),
    ) -> Look<Key> {
        let Some(what) = Key::round_call(key, first) else { return Look::No };
        // Such words stand in other objects as well.
        let among_own = |frame: &Frame| {
            Key::is_of_provider(key) || frame.id.is_none() && !holds_foreign(cx, &frame.others) || !writer.is_unmarked()
        };
        let fresh =
            |frame: &Frame| frame.is_call() && frame.name.is_none() && frame.arguments.is_none() && among_own(frame);
        if !self.frames.last().is_some_and(fresh) {
            return Look::No;
        }
        let object = if first == b'[' { seen!(cx.behind_space(value, value + 1)) } else { value };
        if cx.bytes().get(object) != Some(&b'{') {
            return Look::No;
        }
        begins_call(cx, object).map(|()| what)
    }

    /// `{"get_weather": {...}}`: each key that names a tool calls it.
    fn named_by_keys(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, raw: Range<usize>) -> Flow {
        let named_by_key = writer.origin.row(cx).is_some_and(|r| r.dialect.name_as_key);
        let members = self.frames.last_mut().map(|frame| std::mem::take(&mut frame.others)).unwrap_or_default();
        let mut beside = Vec::new();
        let begun = writer.begun;
        for member in &members {
            let (name, value) = (member.key(cx), member.value(cx));
            // Arguments in a string say less: between markers only an offered name does.
            let encoded = || value.starts_with("\"{") && !writer.is_unmarked() && cx.offered(&name);
            let calls = value.starts_with(['{', 'n']) && (named_by_key || cx.offered(&name)) || encoded();
            // A key alone is no evidence: in other objects it may be any word.
            let none = |tool| is_foreign(tool, value) || is_described(tool, value);
            let foreign = calls && writer.is_unmarked() && cx.tool(&name).is_some_and(none);
            if foreign {
                out.trace.refuse(Reason::NoArguments, &name);
            }
            let index = if calls && !foreign { writer.begin(cx, out, &name, None) } else { None };
            let Some(index) = index else {
                beside.push(member);
                continue;
            };
            if !cx.made {
                out.trace.note(member.key.clone(), Noted::Name);
            }
            if value.starts_with('n') {
                writer.piece(out, index, "{}");
            }
            self.tell_whole(cx, out, writer, index, &member.value);
            let lost = cx.tool(&name).is_some_and(|tool| argument_outside(cx, tool, &member.value, &members));
            self.over(cx, out, writer, index, member.value.clone(), raw.clone());
            if lost {
                writer.tear();
            }
        }
        if writer.begun > begun {
            self.read_rest(cx, out, writer, beside.into_iter());
        } else if writer.begun == 0 {
            out.trace.refuse(Reason::NoName, "");
        }
        Flow::On
    }

    /// The object has a name and, as `arguments`, what it is called with.
    fn with_arguments(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        arguments: Range<usize>,
        raw: Range<usize>,
    ) -> Flow {
        let told = self.frames.last().is_some_and(|frame| frame.index.is_some());
        if let Flow::Stop(progress) = self.begin(cx, out, writer) {
            return Flow::Stop(progress);
        }
        let index = self.frames.last().and_then(|frame| frame.index);
        if let (Some(index), false) = (index, told) {
            self.tell_whole(cx, out, writer, index, &arguments);
        }
        // In a list of its own further calls may have begun: then it was over before them.
        let Some(index) = index.filter(|index| writer.is_open(*index)) else { return Flow::On };
        let tool = cx.called(out, index);
        let beside = |frame: &Frame| tool.is_some_and(|tool| argument_outside(cx, tool, &arguments, &frame.others));
        // Without markers it may be the record of a call that was made.
        let record = |frame: &Frame| writer.is_unmarked() && tell_outcome(cx, &frame.others, tool);
        let foreign = |frame: &Frame| frame.wrapped && writer.is_unmarked() && holds_foreign(cx, &frame.others);
        let more = self.frames.last().filter(|frame| !frame.others.is_empty());
        let lost = self.is_ambiguous(cx, &arguments)
            || more.is_some_and(|frame| beside(frame) || record(frame) || foreign(frame))
            || (cx.made && self.is_torn(cx));
        self.over(cx, out, writer, index, arguments, raw);
        if lost {
            writer.tear();
        }
        if let Some(frame) = self.frames.last().filter(|frame| !frame.others.is_empty()) {
            self.read_rest(cx, out, writer, frame.others.iter());
        }
        Flow::On
    }

    /// What the last frame holds beside its call: at the top of an answer, `content` is its content, and of the other
    /// `members` an issue says what stands in them.
    fn read_rest<'m>(
        &self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &Writer,
        members: impl Iterator<Item = &'m Other>,
    ) {
        let top = writer.origin.is_bare() && self.frames.len() == 1 && !self.among;
        let is_argument = |name: Cow<'_, str>| cx.tool(&name).is_some_and(|tool| tool.declares("content"));
        let content = self.frames.last().and_then(|frame| frame.content.as_ref());
        let content = content.filter(|_| top && !self.name(cx).is_some_and(is_argument));
        if let Some(content) = content {
            let text = read_content(cx, out, content);
            out.made_content(text);
        }
        report(cx, out, writer.start, members.filter(|member| content != Some(&member.value)));
    }

    /// The object under `arguments` is empty, and parameters of the tool stand beside it: they were meant to be in it.
    fn beside_empty(&self, cx: &Reader<'_>, arguments: &Range<usize>) -> bool {
        let Some(frame) = self.frames.last().filter(|frame| !frame.others.is_empty()) else { return false };
        let text = decode(cx.part(arguments));
        if !(is_empty_object(text.trim()) || text.is_empty() || text == "null") {
            return false;
        }
        let Some(tool) = self.name(cx).and_then(|name| cx.tool(&name)) else { return false };
        let mut keys = frame.others.iter().map(|member| (member.raw_key(cx), member.key(cx)));
        keys.any(|(raw, key)| tool.declares(&key) && !Key::is_about(raw)) && !self.is_ambiguous(cx, arguments)
    }

    /// The arguments stand flat beside the name, or there are none.
    fn flat(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, raw: Range<usize>) -> Flow {
        let others = self.frames.last_mut().map(|frame| std::mem::take(&mut frame.others)).unwrap_or_default();
        let Some(name) = self.name(cx) else {
            out.trace.refuse(Reason::NoName, "");
            return Flow::On;
        };
        let tool = cx.tool(&name);
        let declared = |member: &Other| tool.is_some_and(|tool| tool.declares(&member.key(cx)));
        // Markers say that it is a call all the same.
        let schema = |member: &Other| Key::is_schema(member.raw_key(cx)) && member.value(cx).starts_with('{');
        // An empty object that was to hold them, as far as it has been told.
        let begun = self.frames.last().filter(|frame| frame.index.is_some());
        let told = begun.and_then(|frame| cx.part(frame.arguments.as_ref()?).strip_suffix('}')).unwrap_or_default();
        if writer.is_unmarked() && told.is_empty() && others.iter().any(|member| schema(member) && !declared(member)) {
            out.trace.refuse(Reason::Definition, &name);
            return Flow::On;
        }
        let described = || self.frames.last().is_some_and(|frame| describes(cx, frame, tool, &others));
        if writer.is_unmarked() && told.is_empty() && described() {
            out.trace.refuse(Reason::Definition, &name);
            return Flow::On;
        }
        let flat: Vec<_> = others.iter().filter(|member| declared(member)).collect();
        let alone = cx.tools.is_none() && self.frames.len() == 1 && others.is_empty() && !cx.made;
        // Without markers it counts as the whole answer, which is seen when what follows is.
        let whole = || {
            let takes_nothing = tool.is_some_and(|tool| tool.parameters.is_empty());
            takes_nothing && others.is_empty() && self.frames.len() == 1 && out.says_nothing() && !cx.made
        };
        let named = if writer.is_unmarked() { whole() } else { tool.is_some() || alone };
        let bare_name = flat.is_empty() && named;
        if flat.is_empty() && !bare_name {
            let offered = cx.tools.is_none() || tool.is_some();
            let reason = if offered { Reason::NoArguments } else { Reason::NameNotOffered };
            out.trace.refuse(reason, &name);
            return Flow::On;
        }
        // What is none of its arguments and says nothing of the call was meant as one: without it, it is not to be run.
        let meant = |member: &Other| {
            let key = member.raw_key(cx);
            !declared(member) && Key::of(key) == Key::Other && !Key::is_about(key)
        };
        let foreign = self.frames.last().is_some_and(|frame| frame.wrapped) && writer.is_unmarked();
        let lost = tool.is_some_and(|tool| !tool.parameters.is_empty()) && others.iter().any(meant)
            || foreign && holds_foreign(cx, &others);
        if let Flow::Stop(progress) = self.begin(cx, out, writer) {
            return Flow::Stop(progress);
        }
        let Some(index) = self.frames.last().and_then(|f| f.index) else { return Flow::On };
        let json = object_of(cx, told, &flat);
        writer.piece(out, index, json.get(told.len()..).unwrap_or_default());
        let pending = writer.over(index, Found::Json(Piece::Made(json)), raw);
        pending.repairs = std::mem::take(&mut self.repairs);
        if self.guessed || lost {
            pending.status = CallStatus::Malformed;
        }
        if !flat.is_empty() {
            pending.repairs.push(Repair::new(RepairCode::Misplaced, "the arguments stood beside the name"));
        }
        self.read_rest(cx, out, writer, others.iter().filter(|member| !declared(member)));
        Flow::On
    }

    /// The calls of an envelope are over, and it is not: what that says before them is content all the same, or told.
    pub(super) fn envelope_is_left(&self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) {
        let open = |frame: &&Frame| frame.envelope == Some(Envelope::Calls) && frame.says_something();
        if let Some(frame) = self.frames.iter().find(open).filter(|_| writer.begun > 0 && !cx.made) {
            whole_envelope(cx, out, writer, frame, Envelope::Calls);
        }
    }

    /// The last frame is an envelope whose calls are over, and what stands beside them had to be repaired: its `text`, which begins at
    /// `start`, from `from` on.
    pub(super) fn mended_envelope(
        &mut self,
        out: &mut Output,
        writer: &mut Writer,
        envelope: Envelope,
        (text, start, from): (&str, usize, usize),
        mended: &Repaired<'_>,
    ) {
        let json: &str = &mended.json;
        let mut scanner = Scanner::new(0, usize::MAX);
        scanner.scan(json.as_bytes(), true);
        let (mut content, mut unfinished, mut issues) = (None, false, Vec::new());
        for member in scanner.members() {
            let (key, value) = (unescaped(json.get(member.key.clone()).unwrap_or_default()), member.value());
            let value = value.and_then(|value| json.get(value)).unwrap_or_default();
            match Key::of(&key) {
                Key::Content if content.is_none() && value.starts_with('"') => {
                    content = Some(decode(value).into_owned())
                }
                Key::Calls if !value.starts_with('"') => {}
                Key::NeedsMoreWork if value == "true" => unfinished = true,
                // It stands there alone.
                _ if value == "null" && !has_value(text, &key) => issues.push(beside_calls(from, &key)),
                _ => issues.extend(issue_of(&key, value, from)),
            }
        }
        if !counts(out, writer, envelope, content.is_some()) {
            if envelope == Envelope::NoCalls {
                // Among calls it is text.
                self.pass(writer, Piece::Span(start..start + text.len()));
            }
            return;
        }
        out.made_content(content.unwrap_or_default());
        issues.into_iter().for_each(|issue| out.issue(issue));
        let beside = |repair: &&Repair| repair.offset.is_none_or(|at| start + at >= from);
        tell_left_out(out, (text, start), from, json);
        if unfinished && envelope == Envelope::NoCalls {
            out.issue(Issue::more_work(from));
        }
        if let Some(pending) = &mut writer.pending {
            pending.repairs.extend(mended.repairs.iter().filter(beside).cloned());
        }
    }

    /// The last frame, whose call has these arguments, says another call as well: its name, its arguments or both.
    fn is_ambiguous(&self, cx: &Reader<'_>, arguments: &Range<usize>) -> bool {
        let Some(frame) = self.frames.last().filter(|frame| frame.ambiguous || !frame.others.is_empty()) else {
            return false;
        };
        let Some(name) = self.name(cx) else { return false };
        let declared = |key: &str| cx.tool(&name).is_some_and(|t| t.declares(key));
        let another = |member: &Other| {
            let (key, value) = (member.key(cx), member.value(cx));
            let object = value.starts_with('{') || value.starts_with("\"{");
            match Key::of(&key) {
                _ if declared(&key) => false,
                _ if object && Key::round_call(&key, b'{').is_some() => {
                    cx.offered(&key) || begins_call(cx, member.value.start) == Look::Is(())
                }
                Key::Name | Key::Function => decode(value) != name && cx.offered(&decode(value)),
                Key::Arguments => object && !is_empty(value) && value != cx.part(arguments),
                _ => object && cx.offered(&key),
            }
        };
        frame.ambiguous || frame.others.iter().any(another)
    }
}

/// Among these members is one that agents do not have beside their call.
fn holds_foreign(cx: &Reader<'_>, members: &[Other]) -> bool {
    members.iter().any(|member| !Key::is_of_agent(member.raw_key(cx)))
}

/// The object at `at` begins with a key of a call.
fn begins_call(cx: &Reader<'_>, at: usize) -> Look<()> {
    let own = |key: &str| matches!(Key::of(key), Key::Name | Key::Function | Key::Id);
    first_key(cx, at).then(|key| Look::when(own(cx.part(&key))))
}

/// Gives out what an envelope holds beside its calls: content, and what is worth an issue. Returns whether it counts.
pub(super) fn whole_envelope(
    cx: &Reader<'_>,
    out: &mut Output,
    writer: &mut Writer,
    frame: &Frame,
    envelope: Envelope,
) -> bool {
    let content = frame.content.as_ref();
    if !counts(out, writer, envelope, content.is_some()) {
        return false;
    }
    if let Some(content) = content {
        let text = read_content(cx, out, content);
        out.made_content(text);
    }
    report(cx, out, writer.start, frame.others.iter().filter(|member| content != Some(&member.value)));
    // Half a call is none.
    let half =
        |key, value: &Range<usize>| issue_of(key, cx.part(value), if cx.made { writer.start } else { value.start });
    if frame.index.is_none() {
        let parts = [("name", &frame.name), ("arguments", &frame.arguments)];
        let parts = parts.into_iter().filter_map(|(key, value)| half(key, value.as_ref()?));
        parts.for_each(|issue| out.issue(issue));
    }
    let unfinished = |member: &Other| Key::of(member.raw_key(cx)) == Key::NeedsMoreWork && member.value(cx) == "true";
    if envelope == Envelope::NoCalls && frame.others.iter().any(unfinished) {
        out.issue(Issue::more_work(if cx.made { writer.start } else { frame.start }));
    }
    true
}

/// The envelope says something that counts. Else it stays as it is written.
fn counts(out: &mut Output, writer: &mut Writer, envelope: Envelope, has_content: bool) -> bool {
    if envelope == Envelope::Calls && writer.begun == 0 {
        return false;
    }
    if envelope == Envelope::NoCalls {
        // Behind other text it is an example, or a message that is shown.
        if !has_content || !out.says_nothing() {
            return false;
        }
        writer.answered = true;
    }
    out.enveloped = true;
    true
}

/// The string at `content`, which is one of what is said.
fn read_content(cx: &Reader<'_>, out: &mut Output, content: &Range<usize>) -> String {
    if !cx.made {
        out.trace.note(content.clone(), Noted::Content);
    }
    decode(cx.part(content)).into_owned()
}

/// An object of these members, which begins with what was `told` of it.
fn object_of(cx: &Reader<'_>, told: &str, members: &[&Other]) -> String {
    let mut json = String::from(if told.is_empty() { "{" } else { told });
    for (i, member) in members.iter().enumerate() {
        if i > 0 {
            json.push_str(", ");
        }
        json.push('"');
        json.push_str(member.raw_key(cx));
        json.push_str("\": ");
        json.push_str(member.value(cx));
    }
    json.push('}');
    json
}

impl Frame {
    /// It holds more than its calls.
    fn says_something(&self) -> bool {
        self.content.is_some() || !self.others.is_empty()
    }

    /// The object under `function` is over: what it says is said of this call.
    pub(super) fn take_in(&mut self, cx: &Reader<'_>, nested: &Self) {
        let text = |range: &Range<usize>| decode(cx.part(range));
        if let (Some(own), Some(other)) = (&self.name, &nested.name) {
            self.ambiguous |= text(own) != text(other) && cx.offered(&text(own));
        }
        // One of them is the call's, the other perhaps a declaration's.
        let both = self.arguments.is_some() && nested.arguments.is_some();
        self.ambiguous |= nested.ambiguous || both;
        if !both || nested.name.is_some() {
            self.arguments = nested.arguments.clone().or(self.arguments.take());
        }
        self.name = nested.name.clone().or(self.name.take());
        self.index = nested.index.or(self.index);
        self.id = self.id.take().or(nested.id.clone());
    }
}

/// The object holds members, and none is a parameter of the tool, which has some.
fn is_foreign(tool: &Tool, object: &str) -> bool {
    let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(object).unwrap_or_default();
    !members.is_empty() && !tool.parameters.is_empty() && !members.keys().any(|key| tool.declares(key))
}

/// A parameter that the tool has is among the members beside the `arguments`, and not in them, or with another value: they
/// closed too early, or nobody can tell which is meant.
fn argument_outside(cx: &Reader<'_>, tool: &Tool, arguments: &Range<usize>, members: &[Other]) -> bool {
    let mut outside = (members.iter())
        .filter(|member| !Key::is_about(member.raw_key(cx)))
        .map(|member| (member.key(cx), member.value(cx)))
        .filter(|(key, _)| tool.declares(key))
        .peekable();
    if outside.peek().is_none() {
        return false;
    }
    let inside: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&decode(cx.part(arguments))).unwrap_or_default();
    outside.any(|(key, value)| {
        let value = serde_json::from_str(value).ok();
        inside.get(&*key).is_none_or(|same| value.as_ref() != Some(same))
    })
}

/// Says what stands in these members, which are neither content nor a part of a call. `start`: where the calls begin.
fn report<'m>(cx: &Reader<'_>, out: &mut Output, start: usize, members: impl Iterator<Item = &'m Other>) {
    for member in members {
        let at = if cx.made { start } else { member.key.start };
        let (key, value) = (member.raw_key(cx), member.value(cx));
        // Repair made a value for a word without one.
        let word = cx.made && value == "null" && Key::of(key) == Key::Other && !Key::is_of_message(key);
        let issue = if word { Some(beside_calls(at, key)) } else { issue_of(key, value, at) };
        issue.into_iter().for_each(|issue| out.issue(issue));
    }
}

/// What a member beside the calls says, if it is more than what every message has.
fn issue_of(key: &str, value: &str, at: usize) -> Option<Issue> {
    let says_whether = Key::of(key) == Key::NeedsMoreWork && matches!(value, "true" | "false");
    if Key::is_of_message(key) || says_whether {
        return None;
    }
    let text = decode(value);
    let says = match value.as_bytes().first() {
        Some(b'"') => !text.is_empty(),
        Some(b'{' | b'[') => !is_empty(value),
        first => first != Some(&b'n'),
    };
    let what = || format!("beside the calls stands {key}, which is no content: {text}");
    says.then(|| Issue::at(IssueCode::EnvelopeMember, at, what()))
}

/// In `text` a value stands behind the last `key`.
fn has_value(text: &str, key: &str) -> bool {
    let behind = text.rfind(key).and_then(|at| text.get(at + key.len()..)).unwrap_or_default();
    behind.trim_start_matches(['"', '\'', ' ']).starts_with([':', '='])
}

/// These `words` stand at `at` beside calls.
pub(super) fn beside_calls(at: usize, words: &str) -> Issue {
    Issue::at(IssueCode::EnvelopeMember, at, format!("beside the calls stands what is no content: {words}"))
}

/// A word that repair kept is looked for no further on in what it made.
const FARTHEST: usize = 4096;

/// Reports the words of `text`, which begins at `start`, that are missing in the `json` that repair made of it, from `from` on. What
/// repair keeps, it keeps in its order, and between two words it adds a few signs, or escapes.
pub(super) fn tell_left_out(out: &mut Output, (text, start): (&str, usize), from: usize, json: &str) {
    let from = from.saturating_sub(start);
    let (mut made, mut kept, mut left_out) = (json, 0, None::<Range<usize>>);
    let mut at = 0;
    while let Some(word) = next_word(text, at) {
        at = word.end;
        let written = text.get(word.clone()).unwrap_or_default();
        let far = (64 + 6 * (word.end - kept)).min(FARTHEST).max(written.len());
        let near = made.get(..floor(made, far.min(made.len()))).unwrap_or_default();
        if let Some(place) = near.find(written) {
            made = made.get(place + written.len()..).unwrap_or_default();
            kept = word.end;
        } else if word.start >= from {
            left_out = Some(left_out.map_or(word.start, |range| range.start)..word.end);
        }
    }
    if let Some(range) = left_out {
        out.issue(beside_calls(start + range.start, text.get(range).unwrap_or_default()));
    }
}

/// Returns the next run of letters and digits at or after `at`, without the letter of an escape.
fn next_word(text: &str, at: usize) -> Option<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric();
    let mut start = at + text.get(at..)?.find(is_word)?;
    if text.get(..start)?.ends_with('\\') && text.as_bytes().get(start)?.is_ascii() {
        start += 1;
    }
    let rest = text.get(start..)?;
    Some(start..start + rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
}

fn is_empty(object: &str) -> bool {
    object.bytes().all(|byte| matches!(byte, b'{' | b'}' | b'[' | b']' | b'"') || byte.is_ascii_whitespace())
}
