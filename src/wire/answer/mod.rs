//! Whole answers: a backend's body as the client's.
mod anthropic;
mod chat;
mod responses;

use super::error::{WireCode, WireError};
use super::estimate::Cost;
use super::request::{Asked, Kind};
use super::sequence::reason;
use super::{ClientApi, Translation};
use crate::provider::{Node, normalize_choices_node};
use crate::turn::{Issue, IssueCode, Source, StopReason, Turn};
use std::collections::HashSet;

/// What the client is to be answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The HTTP status.
    pub status: u16,
    /// The JSON.
    pub body: Vec<u8>,
    /// What was read, if the backend answered.
    pub turn: Option<Turn<'static>>,
    /// What is odd about the answer that the client's API has no place for.
    pub issues: Vec<Issue>,
    /// Which error it is, if it is one.
    pub error: Option<WireError>,
}

/// A call as the client gets it.
pub(super) struct ReplyCall<'t> {
    pub(super) id: String,
    pub(super) name: &'t str,
    pub(super) kind: Option<&'t Kind>,
    pub(super) arguments: std::borrow::Cow<'t, str>,
}

/// A turn as the client gets it.
pub(super) struct Reply<'t> {
    pub(super) turn: &'t Turn<'static>,
    pub(super) calls: Vec<ReplyCall<'t>>,
    pub(super) reason: StopReason,
    pub(super) cost: Cost,
    /// Something of it is not as the backend sent it: calls that stood in text, names, ids, arguments.
    pub(super) changed: bool,
    pub(super) asked: &'t Asked,
}

impl Translation {
    /// Turns the backend's answer, with its HTTP status, into the client's.
    ///
    /// Errors are worded in the client's API. What a model wrote and a server refused (Groq's `failed_generation`) is an answer.
    pub fn answer(&self, status: u16, body: &[u8]) -> Answered {
        match self.read(status, body) {
            Ok(answered) => answered,
            Err(error) => self.failed(error),
        }
    }

    /// The client's error where the backend cannot be reached.
    pub fn unreachable(&self) -> Answered {
        self.failed(WireError::backend(WireCode::BackendUnreachable))
    }

    fn failed(&self, error: WireError) -> Answered {
        let (status, body) = (error.status, error.body(self.asked.client));
        Answered { status, body, turn: None, issues: Vec::new(), error: Some(error) }
    }

    fn read(&self, status: u16, body: &[u8]) -> Result<Answered, WireError> {
        let asked = &*self.asked;
        let failed = !(200..300).contains(&status);
        let body = String::from_utf8_lossy(body);
        let text = body.strip_prefix('\u{feff}').unwrap_or(&body).trim_ascii();
        let Ok(node) = Node::parse(text.as_bytes()) else {
            return Err(asked.failure(
                status,
                if failed { WireCode::BackendError } else { WireCode::BackendBadAnswer },
                None,
            ));
        };
        let turns = normalize_choices_node(&node, Some(asked.backend.provider()), &asked.reading);
        let turns = match turns {
            Ok(turns) if !failed || turns.iter().any(|turn| turn.source == Source::FailedGeneration) => turns,
            Ok(_) => return Err(asked.failure(status, WireCode::BackendError, Some(said(&node)))),
            Err(error) => {
                let code = if failed || node.get("error").is_some() {
                    WireCode::BackendError
                } else {
                    WireCode::BackendBadAnswer
                };
                let detail = if code == WireCode::BackendError { said(&node) } else { error.to_string() };
                return Err(asked.failure(status, code, Some(detail)));
            }
        };
        let Some(first) = turns.first() else {
            return Err(asked.failure(status, WireCode::BackendBadAnswer, None));
        };
        if first.stop_reason == StopReason::Error && first.source != Source::FailedGeneration {
            return Err(asked.failure(status, WireCode::BackendError, None));
        }
        let mut issues = Vec::new();
        let mut used = HashSet::new();
        let replies: Vec<Reply<'_>> = turns.iter().map(|turn| asked.reply(turn, &mut used, &mut issues)).collect();
        let same = asked.client.as_backend() == asked.backend;
        // A body in place of another API's is written anew; an error's is no answer of any.
        let own = Some(&node).filter(|_| same && !failed && first.source != Source::FailedGeneration);
        let unchanged = own.filter(|_| has_usage(own)).is_some_and(|own| {
            replies.iter().all(|reply| !reply.changed) && says_the_same(own, asked.client, &replies)
        });
        let body = if unchanged {
            text.as_bytes().to_vec()
        } else {
            let body = match asked.client {
                ClientApi::Chat => chat::write(&replies, own),
                ClientApi::Anthropic => anthropic::write(&replies, own),
                ClientApi::Responses => responses::write(&replies, own),
            };
            body.to_string().into_bytes()
        };
        drop(replies);
        Ok(Answered { status: 200, body, turn: turns.into_iter().next(), issues, error: None })
    }
}

/// The backend's body, where it passes, says what the answer cost.
fn has_usage(own: Option<&Node<'_>>) -> bool {
    own.and_then(|own| own.get("usage")).is_some_and(Node::is_object)
}

/// A body of the client's own API says just what was read: the same text, and calls with the same ids.
fn says_the_same(own: &Node<'_>, api: ClientApi, replies: &[Reply<'_>]) -> bool {
    let same = |text: Option<&str>, ids: Vec<&str>, reply: &Reply<'_>| {
        text.is_none_or(|text| text == reply.turn.content)
            && ids.iter().copied().eq(reply.calls.iter().map(|call| call.id.as_str()))
    };
    let with = |items: &'_ [Node<'_>], kinds: &[&str]| -> Vec<usize> {
        let kind = |item: &Node<'_>| item.text("type").is_some_and(|kind| kinds.contains(&kind));
        (0..items.len()).filter(|at| items.get(*at).is_some_and(kind)).collect()
    };
    match (api, replies) {
        (ClientApi::Chat, _) => {
            let mut choices: Vec<&Node<'_>> = own.list("choices").iter().filter(|choice| choice.is_object()).collect();
            choices.sort_by_key(|choice| choice.count("index").unwrap_or_default());
            choices.len() == replies.len()
                && choices.iter().zip(replies).all(|(choice, reply)| {
                    let Some(message) = choice.get("message") else { return false };
                    let ids = message.list("tool_calls").iter().map(|call| call.text("id").unwrap_or_default());
                    same(message.text("content"), ids.collect(), reply)
                })
        }
        (ClientApi::Anthropic, [reply]) => {
            let blocks = own.list("content");
            let at = |place: &usize| blocks.get(*place);
            let texts = with(blocks, &["text"]);
            let text = match texts.as_slice() {
                [place] => at(place).and_then(|block| block.text("text")),
                _ => None,
            };
            let ids = with(blocks, &["tool_use"]);
            same(text, ids.iter().filter_map(at).filter_map(|block| block.text("id")).collect(), reply)
        }
        (ClientApi::Responses, [reply]) => {
            let items = own.list("output");
            let calls = with(items, &["function_call", "custom_tool_call"]);
            let ids = calls.iter().filter_map(|place| items.get(*place)?.text("call_id")).collect();
            let messages = with(items, &["message"]);
            let text = match messages.as_slice() {
                [place] => items.get(*place).map(|message| message.list("content")).and_then(|parts| match parts {
                    [part] => part.text("text"),
                    _ => None,
                }),
                _ => None,
            };
            same(text, ids, reply)
        }
        _ => false,
    }
}

/// What a backend says of its error, without its codes.
fn said(node: &Node<'_>) -> String {
    let inner = node.get("error").unwrap_or(node);
    let inner = inner.items().first().and_then(|item| item.get("error")).unwrap_or(inner);
    let text = inner.text("message").or_else(|| inner.str()).or_else(|| node.text("detail"));
    text.unwrap_or_default().chars().take(2000).collect()
}

impl Asked {
    /// The client's error for one of the backend. `detail`: the backend's text.
    fn failure(&self, status: u16, code: WireCode, detail: Option<String>) -> WireError {
        let mut error = WireError::backend(code);
        if (400..600).contains(&status) {
            error.status = status;
        }
        let passes = (400..500).contains(&status) || self.options.show_errors;
        error.detail = detail.unwrap_or_default();
        if passes && !error.detail.is_empty() {
            error.message.clone_from(&error.detail);
        }
        error
    }

    /// What of a turn the client gets.
    fn reply<'t>(&'t self, turn: &'t Turn<'static>, used: &mut HashSet<String>, issues: &mut Vec<Issue>) -> Reply<'t> {
        let mut calls = Vec::new();
        let mut changed = matches!(turn.source, Source::Text | Source::Reasoning | Source::FailedGeneration);
        let mut cut = false;
        for call in &turn.tool_calls {
            if !call.status.readable() {
                (cut, changed) = (true, true);
                continue;
            }
            if self.withholds(&call.name, calls.len()) {
                let message = format!("a call of `{}` is not allowed by the request; it was left out", call.name);
                issues.push(Issue::of(IssueCode::Converted, "tool_choice", message));
                changed = true;
                continue;
            }
            let id = self.fresh_id(&call.id, used);
            changed |= id != call.id || !call.repairs.is_empty();
            calls.push(ReplyCall {
                id,
                name: &call.name,
                kind: self.kinds.get(&*call.name),
                arguments: self.client.call_arguments(call.arguments.to_json()),
            });
        }
        if self.wanted.choice.is_required() && calls.is_empty() {
            issues.push(Issue::of(IssueCode::Converted, "tool_choice", "a call was required, and none came"));
        }
        let reason = reason(turn, calls.len(), cut);
        // What stood in the text as reasoning, or as markers, is not there any more.
        changed |= reason != turn.stop_reason || self.functions || turn.dialect.is_some();
        changed |= turn.issues.iter().any(|issue| issue.code == IssueCode::StopReason);
        Reply { turn, calls, reason, cost: Cost::of(turn, self.input_tokens), changed, asked: self }
    }
}
