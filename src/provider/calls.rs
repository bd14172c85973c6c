//! Collects native calls from whatever pieces a provider sends them in.
//!
//! A piece belongs to a call by its id, else by its index, else by its position; what servers do wrong with each of
//! them is undone here. The rules are few: an id not seen before is a new call, unless a call without an id waits for
//! it at that index; a name on a call whose arguments are whole is a new call, and so is another name; everything else
//! goes on with the latest call of its id or index, or with the last one. In a complete response each entry is a call.
use super::node::Node;
use super::settle;
use crate::json::{ScanResult, Scanner};
use crate::schema::{self, Resolution, ToolSet};
use serde_json::{Map, Value};
use std::cell::OnceCell;

/// The arguments that a piece of a call carries.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece<'n> {
    /// No such key, or null.
    Absent,
    /// A piece of JSON text.
    Text(&'n str),
    /// A whole value: the provider sends arguments as an object.
    Whole(&'n Node<'n>),
}

impl<'n> Piece<'n> {
    /// The arguments at `node`, as a string or as any other value.
    pub(super) fn of(node: Option<&'n Node<'n>>) -> Self {
        match node {
            None | Some(Node::Null) => Self::Absent,
            Some(Node::String(text)) => Self::Text(text),
            Some(other) => Self::Whole(other),
        }
    }
}

/// How much of a call a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Some of it: others may have come before, and may follow.
    Part,
    /// All of it. What is the same under the same id is sent once more.
    Whole,
    /// All of it, in a list that has each call once: what is the same was called twice.
    Entry,
}

/// A piece of a call, as a provider sends it.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallPiece<'n> {
    pub(super) id: Option<&'n str>,
    pub(super) index: Option<u64>,
    pub(super) name: Option<&'n str>,
    pub(super) arguments: Piece<'n>,
    /// The call is of a free-text tool: what it carries is no JSON.
    pub(super) custom: bool,
    pub(super) extent: Extent,
}

/// What names mean among the offered tools, if any were given, and which spellings count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offered<'t>(pub(super) Option<&'t ToolSet>, pub(super) schema::Names);

impl Offered<'_> {
    /// Two pieces of a name make one offered name (`Some(true)`), are two offered names (`Some(false)`), or neither is
    /// known: without an offered tool of either name there is nothing to go by.
    fn joined(self, first: &str, second: &str) -> Option<bool> {
        let tools = self.0?;
        let offered = |name: &str| matches!(tools.resolve(name), Resolution::Exact(_));
        if offered(&format!("{first}{second}")) {
            Some(true)
        } else if offered(first) || offered(second) {
            Some(false)
        } else {
            None
        }
    }

    /// Both say the same tool, however they are spelt, and are no pieces of one name.
    fn same(self, first: &str, second: &str) -> bool {
        first == second
            || !first.is_empty() && !second.is_empty() && self.joined(first, second) != Some(true) && {
                let (first, second) = (settle::name(first, self.0, self.1), settle::name(second, self.0, self.1));
                !first.unknown && !second.unknown && first.name == second.name
            }
    }
}

/// What the provider itself says of a call's arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing: they are what was sent.
    #[default]
    Nothing,
    /// They break off, whatever they look like.
    Cut,
    /// It could not read them, so what it sent is not what the model wrote.
    Unread,
}

/// What the spelling of a number in a call's arguments says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// The model wrote it so.
    Written,
    /// Nothing: the wire knows floats alone, so that a whole number may come as `4.0`.
    Floats,
}

/// One call as far as it was sent.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) id: String,
    /// The id that it was sent with, where another call has that and this one got its own.
    pub(super) shared_id: Option<String>,
    index: Option<u64>,
    pub(super) name: String,
    /// The arguments' pieces, joined.
    pub(super) text: String,
    pub(super) scanner: Scanner,
    pub(super) scan: ScanResult,
    /// The arguments came as a value, not as text.
    pub(super) whole: bool,
    /// A key for the arguments was there, if only with an empty string.
    keyed: bool,
    /// The latest piece, while each began with the one before: perhaps each is all of the arguments so far.
    snapshot: Option<String>,
    pieces: usize,
    /// It is certain that each piece is all of the arguments so far.
    cumulative: bool,
    /// The call may repeat an earlier one of its id: it counts only if it turns out different from each.
    pub(super) twin: bool,
    /// The provider said that the call is whole.
    pub(super) ended: bool,
    pub(super) said: Said,
    /// A free-text tool: the arguments are its input, not JSON.
    pub(super) custom: bool,
    pub(super) numbers: Numbers,
    /// The arguments are longer than the limit, and `text` is not all of them.
    pub(super) too_long: bool,
    /// What must go back with the call.
    pub(super) extra: Option<Map<String, Value>>,
    /// The event index, once the call was announced.
    pub(super) started: Option<usize>,
    /// How much of `text` was sent as events.
    pub(super) sent: usize,
    /// The provider sent other arguments after some of these had been sent on.
    pub(super) rewritten: bool,
    /// The arguments as an object, where another call was compared with this one.
    object: OnceCell<Option<Map<String, Value>>>,
}

impl Slot {
    fn new(index: Option<u64>, max_depth: usize) -> Self {
        Self {
            id: String::new(),
            shared_id: None,
            index,
            name: String::new(),
            text: String::new(),
            scanner: Scanner::new(0, max_depth),
            scan: ScanResult::Incomplete,
            whole: false,
            keyed: false,
            snapshot: None,
            pieces: 0,
            cumulative: false,
            twin: false,
            ended: false,
            said: Said::Nothing,
            custom: false,
            numbers: Numbers::Written,
            too_long: false,
            extra: None,
            started: None,
            sent: 0,
            rewritten: false,
            object: OnceCell::new(),
        }
    }

    /// It was sent with this id.
    fn has_id(&self, id: &str) -> bool {
        self.shared_id.as_deref().unwrap_or(&self.id) == id
    }

    /// The arguments, where none are an empty object, as they are when they are read.
    fn said(&self) -> &str {
        match self.text.trim() {
            "" | "null" if !self.custom => "{}",
            text => text,
        }
    }

    /// The arguments are those of the `other` call: a server that sends them once more may write them anew.
    fn says_as(&self, other: &Self) -> bool {
        let object = |slot: &Self| slot.object.get_or_init(|| serde_json::from_str(slot.said()).ok()).is_some();
        let plain = !self.custom && !other.custom;
        self.said() == other.said() || plain && object(self) && object(other) && self.object == other.object
    }

    /// The arguments so far are one whole JSON value.
    pub(super) fn complete(&self) -> bool {
        matches!(self.scan, ScanResult::Complete { .. })
    }

    /// `arguments` cannot go on with the value so far: it is whole, or it is if its pieces were snapshots, and what comes
    /// begins an object, which could not follow in the other reading.
    fn over(&self, arguments: Piece<'_>) -> bool {
        if self.complete() {
            return true;
        }
        let snapshot = self.snapshot.as_deref().filter(|_| begins_object(arguments) && self.pieces > 1);
        snapshot.is_some_and(|text| {
            let whole = matches!(Scanner::new(0, 512).scan(text.as_bytes(), true), ScanResult::Complete { .. });
            whole && !matches!(arguments, Piece::Text(piece) if piece.starts_with(text))
        })
    }

    /// The arguments have begun, and `arguments` may go on with them.
    fn under_way(&self, arguments: Piece<'_>) -> bool {
        !self.text.trim().is_empty() && !self.over(arguments)
    }

    /// The arguments so far, a whole object, are a part of `node`: that is more of them, or all of them once more.
    fn is_within(&self, node: &Node<'_>) -> bool {
        let Ok(known) = serde_json::from_str::<Map<String, Value>>(&self.text) else { return true };
        known.keys().all(|key| node.get(key).is_some())
    }

    /// They are the empty object that stands in for arguments to come, perhaps.
    pub(super) fn is_placeholder(&self) -> bool {
        !self.ended && self.text.trim() == "{}"
    }

    /// More than one reading of the arguments is open: nothing of them may be sent.
    pub(super) fn ambiguous(&self) -> bool {
        self.pieces > 1 && self.snapshot.is_some()
    }

    /// Whether `piece` may be added. Behind one that was left out nothing is: it would close the gap.
    fn room(&mut self, piece: &str, max_bytes: usize) -> bool {
        self.too_long |= self.text.len() + piece.len() > max_bytes;
        !self.too_long
    }

    fn append(&mut self, piece: &str, max_bytes: usize) {
        if piece.is_empty() || !self.room(piece, max_bytes) {
            return;
        }
        if self.sent == 0 && self.is_placeholder() && piece.trim_start().starts_with('{') {
            self.pieces = 0;
            self.replace("");
        }
        self.pieces += 1;
        if self.pieces == 1 {
            self.snapshot = Some(piece.to_owned());
        } else if let Some(previous) = &mut self.snapshot {
            if !piece.starts_with(previous.as_str()) {
                self.snapshot = None;
            } else {
                previous.clear();
                previous.push_str(piece);
                if self.complete() {
                    // The whole arguments once more, or the rest of them after a whole value: a snapshot.
                    return self.replace(piece);
                }
            }
        }
        self.text.push_str(piece);
        self.object.take();
        self.scan = self.scanner.scan(self.text.as_bytes(), false);
        if self.pieces > 1
            && matches!(self.scan, ScanResult::Error { .. })
            && let Some(snapshot) = self.snapshot.clone()
        {
            self.cumulative = true;
            self.replace(&snapshot);
        }
    }

    fn replace(&mut self, text: &str) {
        self.too_long = false;
        if self.text.get(..self.sent).is_none_or(|sent| !text.starts_with(sent)) {
            self.rewritten = true;
            self.sent = text.len();
        }
        self.text.clear();
        self.text.push_str(text);
        self.object.take();
        self.scanner.restart(0);
        self.scan = self.scanner.scan(self.text.as_bytes(), false);
    }

    /// Nothing follows: of two readings the one that is whole counts.
    pub(super) fn close(&mut self) {
        if self.custom {
            return;
        }
        self.scan = self.scanner.scan(self.text.as_bytes(), true);
        if self.ambiguous()
            && !self.complete()
            && let Some(snapshot) = self.snapshot.take()
        {
            let mut scanner = Scanner::new(0, 512);
            if let ScanResult::Complete { .. } = scanner.scan(snapshot.as_bytes(), true) {
                self.replace(&snapshot);
            }
        }
        self.snapshot = None;
    }
}

/// The calls of one answer, in the order of their first appearance.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) slots: Vec<Slot>,
    max_depth: usize,
    max_bytes: usize,
    max_calls: usize,
    /// Calls beyond the limit were dropped.
    pub(super) overflow: bool,
}

impl Calls {
    pub(super) fn new(max_calls: usize, max_depth: usize, max_bytes: usize) -> Self {
        Self { slots: Vec::new(), max_depth, max_bytes, max_calls, overflow: false }
    }

    /// Takes a piece; returns the slot it went to.
    pub(super) fn piece(&mut self, piece: CallPiece<'_>, names: Offered<'_>) -> Option<usize> {
        let id = piece.id.filter(|id| !id.is_empty() && *id != "null").unwrap_or_default();
        let name = piece.name.unwrap_or_default();
        let route = match piece.extent {
            // A text alone was to go on with the one before: who collected the pieces of a stream has not joined them.
            Extent::Entry if id.is_empty() && name.is_empty() && matches!(piece.arguments, Piece::Text(_)) => {
                self.route(id, piece.index, name, piece.arguments, names)
            }
            Extent::Entry => Route::New,
            Extent::Whole => self.sent_with(id, piece.index).map_or(Route::New, |_| Route::Twin),
            Extent::Part => self.route(id, piece.index, name, piece.arguments, names),
        };
        let at = match route {
            Route::Slot(at) => at,
            Route::New => self.open(piece.index)?,
            Route::Twin => {
                let at = self.open(piece.index)?;
                self.slots.get_mut(at)?.twin = true;
                at
            }
        };
        let (max_bytes, slot) = (self.max_bytes, self.slots.get_mut(at)?);
        if slot.id.is_empty() {
            slot.id.push_str(id);
        }
        if slot.index.is_none() {
            slot.index = piece.index;
        }
        // The first name counts; another one before any arguments is its second half.
        let more = || slot.text.is_empty() && slot.started.is_none() && !names.same(&slot.name, name);
        if slot.name.is_empty() || more() {
            slot.name.push_str(name);
        }
        slot.custom |= piece.custom;
        match piece.arguments {
            Piece::Absent => {}
            Piece::Text(text) if slot.custom => {
                if slot.room(text, max_bytes) {
                    slot.text.push_str(text);
                }
            }
            Piece::Text(text) => {
                slot.keyed = true;
                slot.append(text, max_bytes);
            }
            Piece::Whole(node) => {
                slot.keyed = true;
                if slot.whole && !slot.is_within(node) {
                    slot.said = Said::Unread;
                }
                slot.whole = true;
                slot.snapshot = None;
                slot.replace(&node.to_json());
            }
        }
        Some(at)
    }

    /// A call that the provider announces as a new one under `index`, and whose pieces it keys by that index alone.
    pub(super) fn start(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = self.open(index)?;
        let slot = self.slots.get_mut(at)?;
        slot.id.push_str(id);
        slot.name.push_str(name);
        Some(at)
    }

    /// The latest call announced under `index`.
    pub(super) fn find(&self, index: u64) -> Option<usize> {
        self.slots.iter().rposition(|slot| slot.index == Some(index))
    }

    /// More of the arguments of the call at `at`.
    pub(super) fn append(&mut self, at: usize, piece: &str) {
        if let Some(slot) = self.slots.get_mut(at) {
            // Who keys by an index of its own sends no snapshots.
            slot.pieces += 1;
            slot.append(piece, self.max_bytes);
            slot.snapshot = None;
        }
    }

    /// The whole arguments of the call at `at`, whatever was sent of them before.
    pub(super) fn set(&mut self, at: usize, text: &str) {
        let Some(slot) = self.slots.get_mut(at) else { return };
        slot.too_long = text.len() > self.max_bytes;
        if !slot.too_long && slot.text != text {
            slot.snapshot = None;
            slot.replace(text);
        }
    }

    /// The whole arguments of the call at `at`, as a value.
    pub(super) fn set_whole(&mut self, at: usize, node: &Node<'_>) {
        if let Some(slot) = self.slots.get_mut(at) {
            slot.whole = true;
            slot.replace(&node.to_json());
        }
    }

    fn open(&mut self, index: Option<u64>) -> Option<usize> {
        if self.slots.len() >= self.max_calls {
            self.overflow = true;
            return None;
        }
        self.slots.push(Slot::new(index, self.max_depth));
        Some(self.slots.len() - 1)
    }

    /// The latest call that was sent with this id, if it can be under this index.
    fn sent_with(&self, id: &str, index: Option<u64>) -> Option<usize> {
        let here = |slot: &Slot| slot.has_id(id) && (index.is_none() || slot.index == index);
        let known = if id.is_empty() { None } else { self.slots.iter().rposition(here) };
        known.or_else(|| self.slots.iter().rposition(|slot| !id.is_empty() && slot.has_id(id)))
    }

    /// The first call that the one at `at` says once more: of its id and name, with its arguments.
    pub(super) fn repeated(&self, at: usize, names: Offered<'_>) -> Option<usize> {
        let slot = self.slots.get(at).filter(|slot| !slot.id.is_empty())?;
        let same = |other: &Slot| other.has_id(&slot.id) && names.same(&other.name, &slot.name) && other.says_as(slot);
        self.slots.iter().take(at).position(same)
    }

    fn route(&self, id: &str, index: Option<u64>, name: &str, arguments: Piece<'_>, names: Offered<'_>) -> Route {
        let Some(last) = self.slots.len().checked_sub(1) else { return Route::New };
        let slot = |at: usize| self.slots.get(at);
        if !id.is_empty() {
            if let Some(at) = self.sent_with(id, index) {
                let Some(known) = slot(at) else { return Route::New };
                let elsewhere = matches!((index, known.index), (Some(a), Some(b)) if a != b);
                let other = !name.is_empty() && !known.name.is_empty() && !names.same(&known.name, name);
                if known.complete() && !name.is_empty() && (elsewhere || other || starts_anew(known, name, arguments)) {
                    return Route::Twin;
                }
                // Another name says another tool, unless it can be the second half of the first.
                let half = known.text.is_empty() && !elsewhere && names.joined(&known.name, name) != Some(false);
                let again = |slot: &Slot| slot.has_id(id) && names.same(&slot.name, name);
                return match other && !half {
                    true if self.slots.iter().any(again) => Route::Twin,
                    true => Route::New,
                    false => Route::Slot(at),
                };
            }
            let waiting = match index {
                Some(index) => self.slots.iter().rposition(|s| s.index == Some(index)),
                None => Some(last),
            };
            return match waiting.and_then(|at| Some((at, slot(at)?))) {
                Some((at, known))
                    if known.id.is_empty()
                        && (index.is_some()
                            || name.is_empty()
                            || known.name.is_empty()
                            || known.under_way(arguments))
                        && (name.is_empty() || known.name.is_empty() || name == known.name)
                        && !starts_anew(known, name, arguments) =>
                {
                    Route::Slot(at)
                }
                // Some servers make up an id for every piece.
                Some((at, known))
                    if index.is_some()
                        && known.under_way(arguments)
                        && (name.is_empty() || name == known.name && !begins_object(arguments)) =>
                {
                    Route::Slot(at)
                }
                _ => Route::New,
            };
        }
        if let Some(index) = index {
            let at = match self.slots.iter().rposition(|s| s.index == Some(index)) {
                Some(at) => at,
                // A piece of arguments alone at an index of its own, after a call without any index.
                None if name.is_empty() && slot(last).is_some_and(|s| s.index.is_none()) => last,
                None => return Route::New,
            };
            let Some(known) = slot(at) else { return Route::New };
            return if goes_on(known, name, arguments, names) { Route::Slot(at) } else { Route::New };
        }
        match slot(last) {
            Some(known) if name.is_empty() || known.name.is_empty() => Route::Slot(last),
            // A name without id and index: more of the call only if its arguments are under way or the name is.
            Some(known) if name == known.name && known.under_way(arguments) => Route::Slot(last),
            Some(known) if known.text.is_empty() && names.joined(&known.name, name) == Some(true) => Route::Slot(last),
            _ => Route::New,
        }
    }
}

/// An object begins with `arguments`.
fn begins_object(arguments: Piece<'_>) -> bool {
    match arguments {
        Piece::Absent => false,
        Piece::Text(text) => text.trim_start().starts_with('{'),
        Piece::Whole(_) => true,
    }
}

enum Route {
    Slot(usize),
    New,
    /// A new call that counts only if it is none of its id again.
    Twin,
}

/// `piece` carries arguments of its own although `known` is whole, and they are not the same ones once more.
fn starts_anew(known: &Slot, name: &str, arguments: Piece<'_>) -> bool {
    if name.is_empty() || !known.over(arguments) {
        return false;
    }
    match arguments {
        Piece::Absent => false,
        Piece::Text(text) => {
            !text.trim().is_empty() && !known.snapshot.as_deref().is_some_and(|snapshot| text.starts_with(snapshot))
        }
        Piece::Whole(node) => node.to_json() != known.text,
    }
}

/// A piece without an id goes on with `known`, which has its index.
fn goes_on(known: &Slot, name: &str, arguments: Piece<'_>, names: Offered<'_>) -> bool {
    if name.is_empty() || known.name.is_empty() {
        return true;
    }
    if known.cumulative && matches!(arguments, Piece::Text(text) if name == known.name && text.starts_with(&known.text))
    {
        return true;
    }
    if known.over(arguments) {
        // The arguments are whole; a name with nothing new is an echo, all else is the next call.
        let nothing = match arguments {
            Piece::Absent => true,
            Piece::Text(text) => text.trim().is_empty(),
            Piece::Whole(_) => false,
        };
        return name == known.name && nothing;
    }
    if name == known.name {
        return true;
    }
    if !known.text.is_empty() {
        return false;
    }
    // Two different names before any arguments: two pieces of one, or two calls without arguments.
    names.joined(&known.name, name).unwrap_or_else(|| {
        !known.keyed
            || !matches!(arguments, Piece::Whole(_)) && !matches!(arguments, Piece::Text(t) if t.starts_with('{'))
    })
}
