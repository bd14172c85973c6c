//! The arguments of one streamed call: JSON as the model writes it in, JSON in the schema's types out.
//!
//! Whole answers are settled when they are whole. What a client has got cannot be taken back, so that here each value leaves
//! only as the settled call will have it: a string of a string parameter as it is written, a scalar once it is whole, and a
//! value that the other arguments decide about with the end of the call.
use crate::json::{Kind, Member, ScanResult, Scanner, push_escaped, push_string, unescaped};
use crate::schema::{Flow, Place, Settled, Tool};
use serde_json::Value;

/// Levels of objects and lists whose parts leave one by one; deeper ones leave whole.
const LEVELS: usize = 6;
/// Nesting that is read.
const DEPTH: usize = 512;

/// An object or a list that is being written.
#[derive(Debug)]
struct Level {
    scanner: Scanner,
    /// Its schema; `None` where nothing is said of it.
    place: Option<Place>,
    is_list: bool,
    /// How many of its members are dealt with.
    done: usize,
    /// How many of them left.
    left: usize,
    /// What of the text is dealt with.
    read: usize,
    /// The member at hand, once its value has begun.
    current: Option<Current>,
}

/// A member whose value is being written.
#[derive(Debug)]
struct Current {
    /// How it leaves.
    flow: Flow,
    /// Its schema; `None` where nothing is said of it.
    place: Option<Place>,
}

impl Level {
    fn new(start: usize, is_list: bool, place: Option<Place>) -> Self {
        let scanner = Scanner::new(start, DEPTH).noting_items();
        Self { scanner, place, is_list, done: 0, left: 0, read: start + 1, current: None }
    }
}

/// The arguments of a call on their way to the client.
#[derive(Debug)]
pub(super) struct Arguments {
    /// What the model has written.
    written: String,
    /// What the client has.
    sent: String,
    /// The objects and lists that are open, from the outermost.
    levels: Vec<Level>,
    /// The schema of all arguments; without one they leave as they are written.
    root: Option<Place>,
    /// All of it, where there are no levels.
    scanner: Scanner,
    /// A value waits for the end of the call.
    waits: bool,
    /// Nothing more leaves before the end of the call.
    held: bool,
    complete: bool,
}

impl Arguments {
    /// Those of a call of `tool`, if it is offered.
    pub(super) fn new(tool: Option<&Tool>) -> Self {
        let root = tool.and_then(Tool::arguments_place);
        Self {
            written: String::new(),
            sent: String::new(),
            levels: Vec::new(),
            // Where a tool's arguments have to be whole to be read, none leave before.
            held: tool.is_some() && root.is_none(),
            root,
            scanner: Scanner::new(0, DEPTH),
            waits: false,
            complete: false,
        }
    }

    /// What the client has.
    pub(super) fn sent(&self) -> &str {
        &self.sent
    }

    /// The client has a whole value.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Takes a piece as the model writes it, and returns what leaves now.
    pub(super) fn push(&mut self, tool: Option<&Tool>, piece: &str) -> &str {
        let before = self.sent.len();
        self.written.push_str(piece);
        match (tool, &self.root) {
            _ if self.held || self.complete => {}
            (Some(tool), Some(_)) => {
                if !self.levels.is_empty() || self.begin() {
                    self.advance(tool);
                }
            }
            _ => {
                self.sent.push_str(piece);
                self.complete = matches!(self.scanner.scan(self.sent.as_bytes(), false), ScanResult::Complete { .. });
            }
        }
        self.sent.get(before..).unwrap_or_default()
    }

    /// Opens the outermost object; `false` if there is none yet, or something else.
    fn begin(&mut self) -> bool {
        let start = self.written.len() - self.written.trim_ascii_start().len();
        match self.written.as_bytes().get(start) {
            None => false,
            Some(b'{') => {
                self.sent.push('{');
                self.levels.push(Level::new(start, false, self.root.clone()));
                true
            }
            Some(_) => {
                self.held = true;
                false
            }
        }
    }

    /// Reads on, and lets leave what may.
    fn advance(&mut self, tool: &Tool) {
        while let Some(level) = self.levels.last_mut() {
            let result = level.scanner.scan(self.written.as_bytes(), false);
            let Some(member) = level.scanner.members().get(level.done).cloned() else {
                match result {
                    ScanResult::Complete { end } if !self.waits => self.close(end),
                    _ => return,
                }
                continue;
            };
            if !self.member(tool, &member) {
                return;
            }
        }
    }

    /// The innermost object or list is over.
    fn close(&mut self, end: usize) {
        let Some(level) = self.levels.pop() else { return };
        self.sent.push_str(self.written.get(level.read..end).unwrap_or_default());
        match self.levels.last_mut() {
            Some(outer) => {
                outer.done += 1;
                outer.read = end;
                outer.current = None;
            }
            None => self.complete = true,
        }
    }

    /// Lets leave what may of the member at hand; whether to go on behind it, or inside.
    fn member(&mut self, tool: &Tool, member: &Member) -> bool {
        if self.levels.last().is_some_and(|level| level.current.is_none()) && !self.begin_member(tool, member) {
            return false;
        }
        let Some(level) = self.levels.last_mut() else { return false };
        let Some(current) = &level.current else { return false };
        match (current.flow, member.value_end) {
            (Flow::InParts, _) => {
                let inner = Level::new(member.value_start, member.kind == Kind::Array, current.place.clone());
                self.lead(member.value_start + 1);
                self.levels.push(inner);
                true
            }
            (Flow::AsWritten, end) => {
                let until = end.unwrap_or(level.scanner.position());
                if until <= member.value_start {
                    return false;
                }
                if level.read <= member.value_start {
                    self.lead(member.value_start);
                }
                let Some(level) = self.levels.last_mut() else { return false };
                self.sent.push_str(self.written.get(level.read..until).unwrap_or_default());
                level.read = level.read.max(until);
                self.ends(end)
            }
            (Flow::Whole, None) => false,
            (Flow::Whole, Some(end)) => {
                let json = self.written.get(member.value_start..end).unwrap_or_default();
                let settled = current.place.as_ref().map(|place| {
                    let key =
                        (!level.is_list).then(|| unescaped(self.written.get(member.key.clone()).unwrap_or_default()));
                    tool.settle_part(place, level.place.as_ref().zip(key.as_deref()), json)
                });
                match settled.unwrap_or(Settled::As(json.into())) {
                    Settled::As(json) => {
                        let json = json.into_owned();
                        self.lead(member.value_start);
                        self.sent.push_str(&json);
                    }
                    Settled::Open => self.waits = true,
                }
                if let Some(level) = self.levels.last_mut() {
                    level.read = end;
                }
                self.ends(Some(end))
            }
        }
    }

    /// The value of a member has begun: how it leaves. `false` where it may hold all arguments, which only the whole call shows.
    fn begin_member(&mut self, tool: &Tool, member: &Member) -> bool {
        let depth = self.levels.len();
        let Some(level) = self.levels.last_mut() else { return false };
        let key = (!level.is_list).then(|| unescaped(self.written.get(member.key.clone()).unwrap_or_default()));
        if depth == 1 && level.done == 0 && key.as_deref().is_some_and(|key| tool.may_wrap(key)) {
            self.held = true;
            return false;
        }
        let place = level.place.as_ref().and_then(|place| match &key {
            Some(key) => tool.member_place(place, key),
            None => tool.item_place(place),
        });
        let flow = place.as_ref().map_or(Flow::AsWritten, |place| tool.flow(place, member.kind));
        let flow = if flow == Flow::InParts && depth >= LEVELS { Flow::Whole } else { flow };
        level.current = Some(Current { flow, place });
        true
    }

    /// The member at hand is over, if it has an end.
    fn ends(&mut self, end: Option<usize>) -> bool {
        if let (Some(_), Some(level)) = (end, self.levels.last_mut()) {
            level.done += 1;
            level.current = None;
        }
        end.is_some()
    }

    /// Sends the text before a value, up to `until`: a comma and a key. The first member that leaves has no comma before it.
    fn lead(&mut self, until: usize) {
        let Some(level) = self.levels.last_mut() else { return };
        let lead = self.written.get(level.read..until).unwrap_or_default();
        let first = level.left == 0 && level.done > 0;
        let bare = || lead.trim_ascii_start().strip_prefix(',').map_or(lead, str::trim_ascii_start);
        self.sent.push_str(if first { bare() } else { lead });
        level.left += 1;
        level.read = until;
    }

    /// The call is over, with these arguments: returns what is left to send, or `None` if what the client has is not its beginning.
    pub(super) fn finish(&mut self, arguments: &str) -> Option<&str> {
        let before = self.sent.len();
        if let Some(rest) = arguments.strip_prefix(self.sent.as_str()) {
            self.sent.push_str(rest);
        } else {
            let whole: Value = serde_json::from_str(arguments).ok()?;
            let mut sent = self.sent.clone();
            if !self.complete {
                complete(&mut sent, &whole)?;
            }
            if serde_json::from_str::<Value>(&sent).ok()? != whole {
                return None;
            }
            self.sent = sent;
        }
        self.complete = true;
        self.sent.get(before..)
    }
}

/// Continues JSON that is cut off, so that it is `value`; `None` if it begins otherwise.
fn complete(json: &mut String, value: &Value) -> Option<()> {
    complete_from(json, 0, value)
}

/// The same for the value that begins at byte `start`.
fn complete_from(json: &mut String, start: usize, value: &Value) -> Option<()> {
    let begun = json.get(start..)?;
    match value {
        _ if begun.is_empty() => json.push_str(&value.to_string()),
        Value::Object(members) => {
            let mut scanner = Scanner::new(start, DEPTH);
            scanner.scan(json.as_bytes(), false);
            let known = scanner.take_members();
            let keys: Vec<String> = known
                .iter()
                .map(|member| unescaped(json.get(member.key.clone()).unwrap_or_default()).into_owned())
                .collect();
            if let (Some(last), Some(key)) = (known.last().filter(|last| last.value_end.is_none()), keys.last()) {
                complete_from(json, last.value_start, members.get(key)?)?;
            }
            let mut first = known.is_empty();
            for (key, value) in members.iter().filter(|(key, _)| !keys.contains(key)) {
                json.push_str(if std::mem::take(&mut first) { "" } else { "," });
                push_string(json, key);
                json.push(':');
                json.push_str(&value.to_string());
            }
            json.push('}');
        }
        Value::Array(items) => {
            let mut scanner = Scanner::new(start, DEPTH).noting_items();
            scanner.scan(json.as_bytes(), false);
            let known = scanner.take_members();
            if let Some(last) = known.last().filter(|last| last.value_end.is_none()) {
                complete_from(json, last.value_start, items.get(known.len() - 1)?)?;
            }
            let mut first = known.is_empty();
            for item in items.iter().skip(known.len()) {
                json.push_str(if std::mem::take(&mut first) { "" } else { "," });
                json.push_str(&item.to_string());
            }
            json.push(']');
        }
        Value::String(text) => {
            let rest = text.strip_prefix(&*unescaped(begun.strip_prefix('"')?))?.to_owned();
            push_escaped(json, &rest);
            json.push('"');
        }
        scalar => {
            let scalar = scalar.to_string();
            json.push_str(scalar.strip_prefix(begun)?);
        }
    }
    Some(())
}
