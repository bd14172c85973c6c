//! What follows from an answer: what it shows of the route, and what is tried next.
//!
//! The order, within the budget: regenerate the arguments of one call under its tool's schema, send the model a correction, try the
//! next mode, try the next endpoint. Repair and coercion need no request; they happen when the answer is read.
use super::capability::{Capability, Outcome};
use super::machine::{Exchange, Regenerated};
use super::mode::Mode;
use super::verdict::{Verdict, Why};
use crate::provider::{Answer, Message, Part, Role, turn_message};
use crate::schema::ToolSet;
use crate::schema::convert::Target;
use crate::turn::{CallStatus, Source, Turn};

/// The most corrections of an exchange.
const CORRECTIONS: usize = 2;
/// Seconds before the first retry of a request that failed; doubled for each further retry.
const PAUSE: f64 = 0.5;
/// The longest wait in seconds. A server that asks for more is skipped.
const LONGEST_PAUSE: f64 = 60.0;

impl Exchange {
    pub(super) fn learn(&mut self, mode: Mode, verdict: Verdict, denied: Option<Capability>, turn: Option<&Turn<'_>>) {
        if let Some(capability) = denied {
            self.learned(capability, Outcome::Failure);
        }
        let Some(turn) = turn else { return };
        match mode {
            Mode::Native if turn.source == Source::Native => self.learned(Capability::NativeTools, Outcome::Success),
            Mode::Native if turn.source == Source::Text => self.learned(Capability::TextCalls, Outcome::Success),
            Mode::Native if verdict == Verdict::NoCall => {
                self.learned(Capability::NativeTools, Outcome::Ignored);
                self.learned(Capability::ToolChoice, Outcome::Ignored);
            }
            Mode::JsonSchema | Mode::JsonObject => {
                let kept = !turn.tool_calls.is_empty() || turn.source != Source::None;
                if let Some(capability) = mode.needs().filter(|_| kept) {
                    self.learned(capability, Outcome::Success);
                }
            }
            _ => {}
        }
    }

    pub(super) fn follow(
        &mut self,
        verdict: Verdict,
        denied: Option<Capability>,
        turn: Option<Turn<'static>>,
        retry_after: Option<f64>,
        now: f64,
    ) {
        if matches!(verdict, Verdict::Usable | Verdict::Incomplete) || self.given || self.is_spent() {
            self.keep(turn, verdict == Verdict::Usable);
            self.done = true;
            return;
        }
        let tried = self.attempts.len() - self.before;
        let retries = self.endpoints.get(self.at).map_or(0, |endpoint| endpoint.config.max_retries);
        if tried > retries {
            self.keep(turn, false);
            self.next_endpoint();
            return;
        }
        if verdict == Verdict::BadCalls
            && let Some(turn) = turn
        {
            self.mend(turn);
            return;
        }
        self.keep(turn, false);
        match verdict {
            Verdict::Denied | Verdict::BadRequest => self.next_endpoint(),
            // The mode stays; the option that was refused is left out.
            Verdict::Refused if denied == Some(Capability::ToolChoice) && self.says_choice => {
                self.says_choice = false;
                self.why = Why::Refused;
            }
            Verdict::Refused if denied == Some(Capability::ParallelCalls) && self.says_parallel => {
                self.says_parallel = false;
                self.options.extra.shift_remove("parallel_tool_calls");
                self.why = Why::Refused;
            }
            Verdict::Empty | Verdict::NoAnswer if !self.again => {
                self.again = true;
                self.why = Why::Again;
            }
            Verdict::RateLimited | Verdict::Unavailable | Verdict::Broken => {
                let pause = retry_after.unwrap_or(PAUSE * f64::from(1_u32 << self.pauses.min(10)));
                self.pauses += 1;
                self.why = Why::Again;
                if pause > LONGEST_PAUSE {
                    self.next_endpoint();
                } else {
                    self.pause = Some(now + pause);
                }
            }
            _ => self.next_mode(),
        }
    }

    /// Returns whether the budget allows no further request.
    fn is_spent(&self) -> bool {
        let tokens = self.attempts.iter().filter_map(|attempt| {
            let usage = attempt.usage?;
            let both = usage.input_tokens.unwrap_or_default() + usage.output_tokens.unwrap_or_default();
            Some(usage.total_tokens.unwrap_or(both))
        });
        tokens.sum::<u64>() >= self.options.tokens
            || self.options.requests.is_some_and(|requests| self.attempts.len() >= requests)
    }

    /// Chooses what follows a turn with calls that may not run: new arguments, a correction, or the next mode.
    pub(super) fn mend(&mut self, turn: Turn<'static>) {
        let mut bad = turn.tool_calls.iter().enumerate().filter(|(_, call)| !call.status.runnable());
        let only = match (bad.next(), bad.next()) {
            (Some((call, bad)), None) if bad.status != CallStatus::UnknownTool => {
                self.tools.get(&bad.name).map(|_| call)
            }
            _ => None,
        };
        let able = self.endpoints.get(self.at).is_some_and(super::Endpoint::keeps_to_schemas);
        if let Some(call) = only.filter(|_| able && !self.regenerated) {
            self.regenerated = true;
            self.why = Why::Arguments;
            self.keep(Some(turn.clone()), false);
            self.regenerate = Some(Regenerated { turn, call });
        } else if self.corrections < CORRECTIONS {
            self.corrections += 1;
            self.why = Why::Correction;
            let target = match self.modes.last() {
                Some(Mode::Native) => self.endpoints.get(self.at).map(super::Endpoint::target),
                _ => None,
            };
            self.messages.extend(correction(&turn, &self.tools, target.as_ref()));
            self.keep(Some(turn), false);
        } else {
            self.keep(Some(turn), false);
            self.next_mode();
        }
    }

    /// Keeps the better of the turns: a usable one, else one that can be run, else the last.
    fn keep(&mut self, turn: Option<Turn<'static>>, usable: bool) {
        let Some(turn) = turn else { return };
        let better = self.best.as_ref().is_none_or(|best| !best.needs_more_work() || turn.needs_more_work());
        if usable || better {
            self.best = Some(turn);
        }
    }

    pub(super) fn next_mode(&mut self) {
        self.again = false;
        self.modes.pop();
        self.why = Why::NextMode;
        if self.modes.is_empty() {
            self.next_endpoint();
        }
    }

    pub(super) fn next_endpoint(&mut self) {
        self.at += 1;
        if self.at >= self.endpoints.len() {
            self.at = self.endpoints.len().saturating_sub(1);
            self.done = true;
            return;
        }
        self.before = self.attempts.len();
        self.why = Why::NextModel;
        (self.again, self.says_choice, self.says_parallel) = (false, true, true);
        (self.pause, self.pauses, self.regenerated) = (None, 0, false);
        self.open();
    }
}

/// Returns the messages of a correction: the answer itself, and an error result for each of its calls.
pub(super) fn correction(turn: &Turn<'_>, tools: &ToolSet, target: Option<&Target>) -> Vec<Message> {
    let (mut answers, mut rest) = (Vec::new(), Vec::new());
    for call in &turn.tool_calls {
        let said = tools.error_message(call, target);
        let why = said.unwrap_or_else(|| "Not run, for another call of this answer is wrong. Call again.".to_owned());
        if call.name.is_empty() {
            rest.push(Part::Text(why));
            continue;
        }
        let (id, name, custom) = (call.id.to_string(), call.name.to_string(), call.freeform);
        answers.push(Part::Answer(Answer { id, name, parts: vec![Part::Text(why)], is_error: true, custom }));
    }
    let mut answer = turn_message(turn);
    answer.parts.retain(|part| !matches!(part, Part::Call(call) if call.name.is_empty()));
    let mut out = Vec::new();
    if !answer.parts.is_empty() {
        out.push(answer);
    }
    if !answers.is_empty() {
        out.push(Message::new(Role::Tool, answers));
    }
    if !rest.is_empty() {
        out.push(Message::new(Role::User, rest));
    }
    out
}
