//! What a whole object is: a call, an envelope of calls, or neither.
use super::*;
use crate::json::Repaired;
use crate::schema::Tool;
use crate::turn::{Issue, IssueCode};

impl JsonCalls {
    /// The last frame is a whole object: it is a call, an envelope, or neither.
    pub(super) fn object(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, raw: Range<usize>) -> Flow {
        let Some(frame) = self.frames.last_mut() else { return Flow::On };
        if let Some(envelope) = frame.envelope {
            // It may be a call itself, with a list of none beside its arguments, if nothing of that had to be guessed.
            let own = frame.name.is_some() && frame.arguments.is_some();
            if cx.made || !own || envelope == Envelope::Calls {
                whole_envelope(cx, out, writer, frame, envelope);
            }
            if cx.made || !own || frame.index.is_some_and(|index| !writer.is_open(index)) {
                return Flow::On;
            }
        }
        match (&frame.name, frame.arguments.clone()) {
            (None, None) => self.named_by_keys(cx, out, writer, raw),
            (Some(_), Some(arguments)) => self.with_arguments(cx, out, writer, arguments, raw),
            _ => self.flat(cx, out, writer, raw),
        }
    }

    /// `{"get_weather": {...}}`: each key that names a tool calls it.
    fn named_by_keys(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, raw: Range<usize>) -> Flow {
        let named_by_key = writer.origin.row(cx).is_some_and(|r| r.dialect.name_as_key);
        let members = self.frames.last_mut().map(|frame| std::mem::take(&mut frame.others)).unwrap_or_default();
        for (key, value) in members.iter().cloned() {
            let name = unescaped(cx.slice(key.start, key.end)).into_owned();
            let object = matches!(cx.bytes().get(value.start), Some(b'{' | b'n'));
            if !object || !(named_by_key || cx.offered(&name)) {
                continue;
            }
            let Some(index) = writer.begin(cx, out, &name, None) else { continue };
            if !cx.made {
                out.trace.note(key, Noted::Name);
            }
            let null = cx.bytes().get(value.start) == Some(&b'n');
            writer.piece(out, index, if null { "{}" } else { cx.slice(value.start, value.end) });
            let lost = cx.tool(&name).is_some_and(|tool| argument_outside(cx, tool, &value, &members));
            self.over(cx, writer, index, value, raw.clone());
            if lost {
                tear(writer);
            }
        }
        if writer.begun == 0 {
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
        if let (Some(index), false, true) = (index, told, cx.bytes().get(arguments.start) == Some(&b'{')) {
            writer.piece(out, index, cx.slice(arguments.start, arguments.end));
        }
        // In a list of its own further calls may have begun: then it was over before them.
        let Some(index) = index.filter(|index| writer.is_open(*index)) else { return Flow::On };
        let beside = |frame: &Frame| {
            let tool = self.name(cx).and_then(|name| cx.tool(&name));
            tool.is_some_and(|tool| argument_outside(cx, tool, &arguments, &frame.others))
        };
        let lost = self.is_ambiguous(cx, &arguments)
            || self.frames.last().is_some_and(beside)
            || (cx.made && self.is_torn(cx));
        self.over(cx, writer, index, arguments, raw);
        if lost {
            tear(writer);
        }
        if let Some(frame) = self.frames.last().filter(|frame| !frame.others.is_empty()) {
            self.beside_call(cx, out, writer, frame.others.iter());
        }
        Flow::On
    }

    /// What the last frame holds beside its call: at the top of an answer, `content` is its content.
    fn beside_call<'m>(
        &self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &Writer,
        members: impl Iterator<Item = &'m (Range<usize>, Range<usize>)>,
    ) {
        let top = writer.origin.is_bare() && self.frames.len() == 1;
        let is_argument = |name: Cow<'_, str>| cx.tool(&name).is_some_and(|tool| tool.declares("content"));
        let content = self.frames.last().and_then(|frame| frame.content.clone());
        let content = content.filter(|_| top && !self.name(cx).is_some_and(is_argument));
        if let Some(content) = content.clone() {
            if !cx.made {
                out.trace.note(content.clone(), Noted::Content);
            }
            out.made_content(decode(cx.slice(content.start, content.end)).into_owned());
        }
        beside_calls(cx, out, writer.start, members.filter(|(_, value)| content.as_ref() != Some(value)));
    }

    /// The arguments stand flat beside the name, or there are none.
    fn flat(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, raw: Range<usize>) -> Flow {
        let others = self.frames.last_mut().map(|frame| std::mem::take(&mut frame.others)).unwrap_or_default();
        let Some(name) = self.name(cx) else {
            out.trace.refuse(Reason::NoName, "");
            return Flow::On;
        };
        let tool = cx.tool(&name);
        let declared =
            |key: &Range<usize>| tool.is_some_and(|tool| tool.declares(&unescaped(cx.slice(key.start, key.end))));
        let flat: Vec<_> = others.iter().filter(|(key, _)| declared(key)).collect();
        let alone = cx.tools.is_none() && self.frames.len() == 1 && others.is_empty() && !cx.made;
        let bare_name = flat.is_empty() && !writer.bare && (tool.is_some() || alone);
        if flat.is_empty() && !bare_name {
            let offered = cx.tools.is_none() || tool.is_some();
            let reason = if offered { Reason::NoArguments } else { Reason::NameNotOffered };
            out.trace.refuse(reason, &name);
            return Flow::On;
        }
        // What was meant as its arguments has a key that says nothing: without them it is not to be run.
        let meant = |(key, _): &(Range<usize>, Range<usize>)| !Key::is_about(cx.slice(key.start, key.end));
        let lost = flat.is_empty() && tool.is_some_and(|tool| !tool.parameters.is_empty()) && others.iter().any(meant);
        if let Flow::Stop(progress) = self.begin(cx, out, writer) {
            return Flow::Stop(progress);
        }
        let Some(index) = self.frames.last().and_then(|f| f.index) else { return Flow::On };
        let json = object_of(cx, &flat);
        writer.piece(out, index, &json);
        let pending = writer.over(index, Found::Json(Piece::Made(json)), raw);
        if self.guessed || lost {
            pending.status = CallStatus::Malformed;
        }
        if !flat.is_empty() {
            pending.repairs.push(Repair::new(RepairCode::Misplaced, "the arguments stood beside the name"));
        }
        self.beside_call(cx, out, writer, others.iter().filter(|(key, _)| !declared(key)));
        Flow::On
    }

    /// The last frame is an envelope whose calls are over, and what stands beside them had to be repaired, at `from`.
    pub(super) fn mended_envelope(
        &mut self,
        out: &mut Output,
        writer: &mut Writer,
        envelope: Envelope,
        from: usize,
        mended: &Repaired<'_>,
    ) {
        let members: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&mended.json).unwrap_or_default();
        let (mut content, mut goes_on, mut issues) = (None, false, Vec::new());
        for (key, value) in members {
            match (Key::of(&key), value) {
                (Key::Content, serde_json::Value::String(text)) if content.is_none() => content = Some(text),
                (Key::Calls, _) => {}
                (Key::NeedsMoreWork, more) => goes_on |= more == true,
                (_, value) => issues.extend(beside(&key, &value.to_string(), from)),
            }
        }
        if !says(out, writer, envelope, content) {
            return;
        }
        issues.into_iter().for_each(|issue| out.issue(issue));
        if goes_on && envelope == Envelope::NoCalls {
            out.issue(unfinished(from));
        }
        if let Some(pending) = &mut writer.pending {
            let beside = |repair: &Repair| repair.offset.is_none_or(|at| at >= from);
            pending.repairs.extend(mended.repairs.iter().filter(|repair| beside(repair)).cloned());
        }
    }

    /// The last frame, whose call has these arguments, says another call as well: its name, its arguments or both.
    fn is_ambiguous(&self, cx: &Reader<'_>, arguments: &Range<usize>) -> bool {
        let (Some(frame), Some(name)) = (self.frames.last(), self.name(cx)) else { return false };
        let declared = |key: &str| cx.tool(&name).is_some_and(|t| t.declares(key));
        let another = |(key, value): &(Range<usize>, Range<usize>)| {
            let (key, value) = (unescaped(cx.slice(key.start, key.end)), cx.slice(value.start, value.end));
            let object = value.starts_with('{') || value.starts_with("\"{");
            match Key::of(&key) {
                _ if declared(&key) => false,
                Key::Name | Key::Function => decode(value) != name && cx.offered(&decode(value)),
                Key::Arguments => object && !is_empty(value) && value != cx.slice(arguments.start, arguments.end),
                _ => object && cx.offered(&key),
            }
        };
        frame.ambiguous || frame.others.iter().any(another)
    }
}

/// What an envelope holds beside its calls: content, and what is worth an issue.
fn whole_envelope(cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, frame: &Frame, envelope: Envelope) {
    let content = frame.content.as_ref().map(|content| decode(cx.slice(content.start, content.end)));
    if !says(out, writer, envelope, content.map(Cow::into_owned)) {
        return;
    }
    if let Some(content) = frame.content.clone().filter(|_| !cx.made) {
        out.trace.note(content, Noted::Content);
    }
    let others = frame.others.iter().filter(|(_, value)| frame.content.as_ref() != Some(value));
    beside_calls(cx, out, writer.start, others);
    let text = |range: &Range<usize>| cx.slice(range.start, range.end);
    let goes_on = |(key, value): &(_, _)| Key::of(text(key)) == Key::NeedsMoreWork && text(value) == "true";
    if envelope == Envelope::NoCalls && frame.others.iter().any(goes_on) {
        out.issue(unfinished(if cx.made { writer.start } else { frame.start }));
    }
}

/// An envelope without calls says that there is more to do.
fn unfinished(at: usize) -> Issue {
    Issue::at(IssueCode::EnvelopeMember, at, "there are no calls, and the envelope says that more work is needed")
}

/// An object of these members, keys and values.
fn object_of(cx: &Reader<'_>, members: &[&(Range<usize>, Range<usize>)]) -> String {
    let mut json = String::from("{");
    for (key, value) in members {
        if json.len() > 1 {
            json.push_str(", ");
        }
        json.push('"');
        json.push_str(cx.slice(key.start, key.end));
        json.push_str("\": ");
        json.push_str(cx.slice(value.start, value.end));
    }
    json.push('}');
    json
}

impl Frame {
    /// The object under `function` is over: what it says is said of this call.
    pub(super) fn take_in(&mut self, cx: &Reader<'_>, nested: &Self) {
        let text = |range: &Range<usize>| decode(cx.slice(range.start, range.end));
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

/// A parameter that the tool has is among the members beside the `arguments`, and not in them, or with another value: they
/// closed too early, or nobody can tell which is meant.
fn argument_outside(
    cx: &Reader<'_>,
    tool: &Tool,
    arguments: &Range<usize>,
    members: &[(Range<usize>, Range<usize>)],
) -> bool {
    let text = |range: &Range<usize>| cx.slice(range.start, range.end);
    let mut outside = (members.iter())
        .filter(|(key, _)| !Key::is_about(text(key)))
        .map(|(key, value)| (unescaped(text(key)), value))
        .filter(|(key, _)| tool.declares(key))
        .peekable();
    if outside.peek().is_none() {
        return false;
    }
    let inside: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&decode(text(arguments))).unwrap_or_default();
    outside.any(|(key, value)| {
        let value = serde_json::from_str(text(value)).ok();
        inside.get(&*key).is_none_or(|same| value.as_ref() != Some(same))
    })
}

/// What an envelope says in its `content`. `false`: it says nothing that counts, and stays as it is written.
fn says(out: &mut Output, writer: &mut Writer, envelope: Envelope, content: Option<String>) -> bool {
    if envelope == Envelope::NoCalls {
        // Behind other text it is an example, or a message that is shown.
        if content.is_none() || !out.says_nothing() {
            return false;
        }
        writer.answered = true;
    }
    out.enveloped = true;
    out.made_content(content.unwrap_or_default());
    true
}

/// Says what stands in these members, which are neither content nor a part of a call. `start`: where the calls begin.
fn beside_calls<'m>(
    cx: &Reader<'_>,
    out: &mut Output,
    start: usize,
    members: impl Iterator<Item = &'m (Range<usize>, Range<usize>)>,
) {
    for (key, value) in members {
        let at = if cx.made { start } else { key.start };
        if let Some(issue) = beside(cx.slice(key.start, key.end), cx.slice(value.start, value.end), at) {
            out.issue(issue);
        }
    }
}

/// What a member beside the calls says, if it is more than what every message has.
fn beside(key: &str, value: &str, at: usize) -> Option<Issue> {
    let usual = ["type", "id", "index", "role", "status", "object", "model", "finish_reason", "strict"];
    if usual.contains(&key) || Key::of(key) == Key::NeedsMoreWork {
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

fn is_empty(object: &str) -> bool {
    object.bytes().all(|byte| matches!(byte, b'{' | b'}' | b'[' | b']' | b'"') || byte.is_ascii_whitespace())
}
