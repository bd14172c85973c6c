//! Native calls: announced as soon as they are certain, settled once nothing follows for them.
use super::super::calls::{CallPiece, Calls, Extent, Offered, Piece, Said};
use super::super::node::Node;
use super::super::{arguments, settle};
use super::Assembly;
use super::text::TextCalls;
use crate::turn::{CallStatus, Event, Issue, IssueCode, StopReason, ToolCall};
use crate::turn::{Ids, TextHash, derived_call_id, new_call_id};
use std::borrow::Cow;

impl Assembly {
    pub(super) fn native(&self) -> bool {
        !self.calls.slots.is_empty()
    }

    fn came(&mut self) {
        self.last_is_call = true;
        if matches!(self.text_calls, TextCalls::Announced(_)) {
            self.reread();
        }
    }

    /// A piece of a native call, keyed as well as the provider knows how. Returns its slot.
    pub(in crate::provider) fn call(&mut self, piece: CallPiece<'_>) -> Option<usize> {
        let (tools, names) = (self.reading.tools.clone(), self.reading.options.policy.names);
        let at = self.calls.piece(piece, Offered(tools.as_deref(), names))?;
        self.came();
        self.pump(Some(at));
        Some(at)
    }

    /// As [`Self::call`], of a piece that was read from `function`. A whole call without arguments may have them under a key
    /// that nobody knows: it is unreadable then.
    pub(in crate::provider) fn whole_or_piece(&mut self, piece: CallPiece<'_>, function: &Node<'_>) -> Option<usize> {
        let whole = piece.extent != Extent::Part && matches!(piece.arguments, Piece::Absent);
        let Some(found) = whole.then(|| arguments::misplaced(function)).flatten() else { return self.call(piece) };
        let at = self.call(CallPiece { arguments: Piece::Whole(found), ..piece })?;
        if let Some(slot) = self.calls.slots.get_mut(at) {
            slot.said = Said::Unread;
        }
        let message = "no arguments stand where an API has them, and an object under a key that is not known";
        self.issue(Issue::of(IssueCode::ProviderField, format!("/tool_calls/{at}"), message));
        Some(at)
    }

    /// A native call that is announced as a new one; its pieces come by [`Assembly::arguments`].
    pub(in crate::provider) fn call_start(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = self.calls.start(index, id, name)?;
        self.came();
        Some(at)
    }

    pub(in crate::provider) fn arguments(&mut self, at: usize, piece: &str) {
        self.last_is_call = true;
        self.calls.append(at, piece);
        self.pump(Some(at));
    }

    /// Nothing follows for the call at `at`.
    pub(in crate::provider) fn call_end(&mut self, at: usize) {
        if let Some(slot) = self.calls.slots.get_mut(at) {
            slot.ended = true;
        }
        self.pump(Some(at));
    }

    /// Announces and sends what is certain.
    fn pump(&mut self, touched: Option<usize>) {
        if !self.listen {
            return;
        }
        while let Some(slot) = self.calls.slots.get(self.next) {
            let ready = !slot.name.is_empty()
                && !slot.id.is_empty()
                && !slot.twin
                && !slot.custom
                && !slot.ambiguous()
                && slot.text.trim_start().starts_with('{')
                && !settle::is_parallel(&slot.name, self.reading.tools.as_deref());
            if ready {
                self.announce(self.next);
            } else if slot.ended {
                self.end(self.next, false);
            } else {
                break;
            }
            self.next += 1;
        }
        if let Some(at) = touched {
            self.send(at);
            let Some(slot) = self.calls.slots.get(at) else { return };
            if slot.ended && slot.started.is_some() {
                self.end(at, false);
            }
        }
    }

    /// An id for the native call at `at`.
    fn made_id(&self, at: usize) -> String {
        match self.reading.options.policy.ids {
            Ids::Random => new_call_id(),
            Ids::Derived => {
                let name = self.calls.slots.get(at).map_or("", |slot| &slot.name);
                derived_call_id(TextHash::default(), at, name)
            }
        }
    }

    /// Gives the call an id if it came without one.
    pub(in crate::provider) fn give_id(&mut self, at: usize) {
        if self.calls.slots.get(at).is_some_and(|slot| slot.id.is_empty()) {
            let id = self.made_id(at);
            self.calls.slots.get_mut(at).into_iter().for_each(|slot| slot.id.clone_from(&id));
        }
    }

    /// Gives the call its event index and its final id.
    fn announce(&mut self, at: usize) -> Option<usize> {
        let slot = self.calls.slots.get(at)?;
        if let Some(index) = slot.started {
            return Some(index);
        }
        self.give_id(at);
        if self.calls.slots.get(at).is_some_and(|slot| self.used_ids.contains(&slot.id)) {
            let id = self.made_id(at);
            let slot = self.calls.slots.get_mut(at)?;
            let message = "an earlier call has the same id; this one got another";
            slot.shared_id = Some(std::mem::replace(&mut slot.id, id));
            let place = format!("/tool_calls/{}", self.announced.saturating_sub(self.withdrawn));
            self.issue(Issue::of(IssueCode::ProviderField, place, message));
        }
        let slot = self.calls.slots.get_mut(at)?;
        self.used_ids.push(slot.id.clone());
        let index = self.announced;
        self.announced += 1;
        slot.started = Some(index);
        if self.listen {
            let name = settle::name(&slot.name, self.reading.tools.as_deref(), self.reading.options.policy.names).name;
            self.events.push(Event::CallStarted { index, id: slot.id.clone(), name });
        }
        self.send(at);
        Some(index)
    }

    fn send(&mut self, at: usize) {
        let Some(slot) = self.calls.slots.get_mut(at) else { return };
        let Some(index) = slot.started else { return };
        let waits = slot.ambiguous() || slot.is_placeholder();
        if !self.listen || slot.custom || waits || !slot.text.trim_start().starts_with('{') {
            return;
        }
        let until = slot.scanner.position();
        if let Some(text) = slot.text.get(slot.sent..until).filter(|text| !text.is_empty()) {
            self.events.push(Event::Arguments { index, text: text.to_owned() });
            slot.sent = until;
        }
    }

    /// Nothing follows for this call: settles it, once.
    fn end(&mut self, at: usize, cut: bool) {
        if self.finals.len() <= at {
            self.finals.resize(at + 1, None);
        }
        if self.finals.get(at).copied().flatten().is_some() {
            return;
        }
        let Some(slot) = self.calls.slots.get_mut(at) else { return };
        slot.close();
        let offered = Offered(self.reading.tools.as_deref(), self.reading.options.policy.names);
        if std::mem::take(&mut slot.twin)
            && let Some(first) = self.calls.repeated(at, offered)
        {
            let message = "the call came twice with the same id; it is kept once";
            self.finals[at] = self.finals.get(first).copied().flatten();
            self.issue(Issue::of(IssueCode::ProviderField, format!("/tool_calls/{at}"), message));
            return;
        }
        let Some(slot) = self.calls.slots.get(at) else { return };
        if slot.name.is_empty() && slot.id.is_empty() && slot.text.trim().is_empty() {
            if slot.extra.is_some() {
                let message = "a call without name, id and arguments was left out";
                self.issue(Issue::of(IssueCode::ProviderField, "/tool_calls", message));
            }
            return;
        }
        let parallel = settle::is_parallel(&slot.name, self.reading.tools.as_deref());
        let mut call = settle::call(slot, cut, &self.reading);
        if parallel && call.id.is_empty() {
            call.id = Cow::Owned(self.made_id(at));
        }
        if parallel
            && call.status.readable()
            && let Some(calls) = settle::expand(&call)
        {
            return self.expand(at, &call, calls);
        }
        if call.status == CallStatus::Malformed
            && let Some(calls) = self.in_a_row(at)
        {
            return self.part(at, calls);
        }
        let announced_before = slot.started.is_some();
        let Some(index) = self.announce(at) else { return };
        let Some(slot) = self.calls.slots.get(at) else { return };
        call.id = Cow::Owned(slot.id.clone());
        if self.listen {
            let json = call.arguments.to_json();
            let rest = if announced_before || slot.sent > 0 {
                if call.status == CallStatus::Ok { slot.text.get(slot.sent..).unwrap_or_default() } else { "" }
            } else {
                &json
            };
            if !rest.is_empty() && call.status.readable() {
                let text = rest.to_owned();
                self.events.push(Event::Arguments { index, text });
            }
        }
        self.finals[at] = Some(index);
        self.settle(index, call);
    }

    /// The calls that the objects are which stand in a row where the arguments of one belong: proxies write several calls of a
    /// tool so. `None` unless each is whole and may run.
    fn in_a_row(&self, at: usize) -> Option<Vec<(ToolCall<'static>, String)>> {
        let slot = self.calls.slots.get(at).filter(|slot| !slot.custom)?;
        let policy = &self.reading.options.policy;
        let objects = settle::objects_in_a_row(&slot.text, policy.max_depth)?;
        let mut calls = Vec::with_capacity(objects.len());
        for object in objects {
            let mut inner = Calls::new(1, policy.max_depth, usize::MAX);
            let inner_at = inner.start(None, "", &slot.name)?;
            inner.append(inner_at, &object);
            let inner = inner.slots.get_mut(inner_at)?;
            inner.close();
            let call = settle::call(inner, false, &self.reading);
            if !matches!(call.status, CallStatus::Ok | CallStatus::Repaired) {
                return None;
            }
            calls.push((call, object));
        }
        (calls.len() <= policy.max_calls.saturating_sub(self.announced)).then_some(calls)
    }

    /// Settles one call of the provider's as several: the first one has its id.
    fn part(&mut self, at: usize, calls: Vec<(ToolCall<'static>, String)>) {
        let Some(first) = self.announce(at) else { return };
        let (id, sent) = self.calls.slots.get(at).map(|slot| (slot.id.clone(), slot.sent)).unwrap_or_default();
        let message = "the arguments are several objects in a row; each is a call";
        let place = format!("/tool_calls/{}", first.saturating_sub(self.withdrawn));
        self.issue(Issue::of(IssueCode::ProviderField, place, message));
        for (number, (mut call, object)) in calls.into_iter().enumerate() {
            let (index, text) = if number == 0 {
                (first, object.get(sent..).unwrap_or_default().to_owned())
            } else {
                let index = self.announced;
                self.announced += 1;
                (index, object)
            };
            let own = if number == 0 { id.clone() } else { format!("{id}_{}", number + 1) };
            call.id = Cow::Owned(own.clone());
            if number > 0 {
                self.event(|| Event::CallStarted { index, id: own.clone(), name: call.name.to_string() });
                self.used_ids.push(own);
            }
            if !text.is_empty() {
                self.event(|| Event::Arguments { index, text });
            }
            self.settle(index, call);
        }
        if let Some(last) = self.finals.get_mut(at) {
            *last = Some(first);
        }
    }

    fn expand(&mut self, at: usize, wrapper: &ToolCall<'static>, calls: Vec<(String, String)>) {
        let first = self.announced;
        for (i, (name, arguments)) in calls.into_iter().enumerate() {
            let id = if i == 0 { wrapper.id.to_string() } else { format!("{}_{}", wrapper.id, i + 1) };
            let mut inner = Calls::new(1, self.reading.options.policy.max_depth, usize::MAX);
            let Some(slot_at) = inner.start(None, &id, &name) else { continue };
            inner.append(slot_at, &arguments);
            let Some(slot) = inner.slots.get_mut(slot_at) else { continue };
            slot.close();
            let call = settle::call(slot, false, &self.reading);
            let index = self.announced;
            self.announced += 1;
            self.used_ids.push(id);
            self.event(|| Event::CallStarted { index, id: call.id.to_string(), name: call.name.to_string() });
            let json = call.arguments.to_json().into_owned();
            self.event(|| Event::Arguments { index, text: json });
            self.settle(index, call);
        }
        self.finals[at] = Some(first);
    }

    fn settle(&mut self, index: usize, call: ToolCall<'static>) {
        if self.settled.len() <= index {
            self.settled.resize(index + 1, None);
        }
        let issue = call_issue(index.saturating_sub(self.withdrawn), &call);
        self.event(|| Event::CallEnded { index, call: Box::new(call.clone()) });
        if let Some(issue) = issue {
            self.issue(issue);
        }
        if let Some(place) = self.settled.get_mut(index) {
            *place = Some(call);
        }
    }

    /// The answer is over, and so are its calls.
    pub(in crate::provider) fn end_calls(&mut self) {
        let reason = self.finish.as_ref().and_then(|finish| finish.reason);
        // The answer was taken from the model in the middle of it.
        let taken = matches!(reason, Some(StopReason::Length | StopReason::ContentFilter | StopReason::Refusal));
        let paused = matches!(reason, Some(StopReason::Pause | StopReason::Error));
        let broken = self.error.is_some() || taken || paused || (self.finish.is_none() && !self.done);
        let count = self.calls.slots.len();
        for at in 0..count {
            let last = at + 1 == count;
            let empty = self.calls.slots.get(at).is_some_and(|slot| slot.text.trim().is_empty() && !slot.ended);
            // Nothing in a free text shows that it goes on.
            let open = self.listen && self.calls.slots.get(at).is_some_and(|slot| slot.custom && !slot.ended);
            // What is no JSON shows no end of its own either: repair would find one where the text was cut.
            let broken_off = self.calls.slots.get(at).is_some_and(|slot| !slot.custom && !slot.complete());
            let cut =
                last && (((empty || open || broken_off) && broken) || (self.objects && taken && self.last_is_call));
            self.end(at, cut);
            self.next = self.next.max(at + 1);
        }
        if count == 0 {
            self.count_text_calls();
        }
    }
}

fn call_issue(index: usize, call: &ToolCall<'_>) -> Option<Issue> {
    let place = format!("/tool_calls/{index}");
    let name = &call.name;
    let (code, message) = match call.status {
        CallStatus::Ok | CallStatus::Repaired => return None,
        CallStatus::Invalid => {
            (IssueCode::InvalidArguments, format!("the arguments of `{name}` do not fit its schema"))
        }
        CallStatus::Malformed => {
            (IssueCode::MalformedCall, format!("the arguments of `{name}` are no JSON, or longer than the limit"))
        }
        CallStatus::Incomplete => (IssueCode::IncompleteCall, format!("the call of `{name}` is cut off")),
        CallStatus::UnknownTool => (IssueCode::UnknownTool, format!("no tool `{name}` is offered")),
    };
    Some(Issue::of(code, place, message))
}
