//! What was observed on routes: counts that fade, and what servers said about themselves.
use super::{Capability, Date, Finding, Route, ServerInfo, Source, Support};
use crate::turn::words;
use crate::{Error, ErrorCode};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

words! {
    /// What became of a request that took a capability.
    Outcome {
        /// The route did what was asked.
        Success => "success",
        /// The server refused, for want of the capability. A model that answers badly is no such failure.
        Failure => "failure",
        /// The server answered with 200 and did not do what was asked: a required call that never came.
        Ignored => "ignored",
    }
}

/// Counts of outcomes. Each halves every half-life, and with each outcome that contradicts it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tally {
    success: f64,
    failure: f64,
    ignored: f64,
    /// When the last outcome was counted, in seconds since 1970.
    at: u64,
}

impl Tally {
    /// The highest count. A higher one would take longer to contradict than it took to learn.
    const MOST: f64 = 2.0;
    /// Counts below this are ignored: what two contradictions leave of one outcome.
    const FADED: f64 = 0.3;
    /// The number of half-lives until what was learned is forgotten.
    const HALF_LIVES: f64 = 4.0;

    fn faded(self, now: u64, ttl: u64) -> Self {
        let passed = now.saturating_sub(self.at) as f64;
        let left = 0.5_f64.powf(passed * Self::HALF_LIVES / ttl.max(1) as f64);
        Self { success: self.success * left, failure: self.failure * left, ignored: self.ignored * left, at: self.at }
    }

    fn count(&mut self, outcome: Outcome, now: u64, ttl: u64) {
        let mut tally = self.faded(now, ttl);
        // A clock that was set back makes nothing younger.
        tally.at = now.max(self.at);
        let [one, other] = [&mut tally.failure, &mut tally.ignored];
        match outcome {
            Outcome::Success => {
                tally.success = (tally.success + 1.0).min(Self::MOST);
                *one /= 2.0;
                *other /= 2.0;
            }
            Outcome::Failure => *one = (*one + 1.0).min(Self::MOST),
            Outcome::Ignored => *other = (*other + 1.0).min(Self::MOST),
        }
        if outcome != Outcome::Success {
            tally.success /= 2.0;
        }
        *self = tally;
    }

    /// Returns what the counts come to, or `None` if nothing was observed within `ttl` seconds.
    ///
    /// A first refusal decides; after successes it takes two or three in a row. A success always decides.
    fn verdict(self, now: u64, ttl: u64) -> Option<Support> {
        if now.saturating_sub(self.at) > ttl {
            return None;
        }
        // All counts fade alike, so that what they come to does not depend on when it is asked.
        let against = self.failure + self.ignored;
        if self.success < Self::FADED && against >= Self::FADED {
            return Some(if self.ignored > self.failure { Support::Ignored } else { Support::No });
        }
        (self.success >= Self::FADED).then_some(Support::Yes)
    }
}

/// What was learned of one route, and what its server says.
#[derive(Debug, Clone, Default, PartialEq)]
struct Known {
    tallies: [Option<Tally>; Capability::ALL.len()],
    info: Option<(ServerInfo, u64)>,
}

/// What was learned of routes, in memory. Times are seconds since 1970, passed in.
#[derive(Debug, Clone)]
pub struct Store {
    ttl: u64,
    routes: HashMap<String, Known>,
}

impl Store {
    /// How long what was learned counts if nothing else is said: a day.
    pub const TTL: u64 = 24 * 60 * 60;

    /// An empty store that forgets what it has not seen for `ttl` seconds.
    pub fn new(ttl: u64) -> Self {
        Self { ttl, routes: HashMap::new() }
    }

    /// Counts what became of a request.
    pub fn record(&mut self, route: &Route, capability: Capability, outcome: Outcome, now: u64) {
        let known = self.routes.entry(route.key()).or_default();
        let tally = known.tallies[capability as usize].get_or_insert_default();
        tally.count(outcome, now, self.ttl);
    }

    /// Keeps what a server said of the route.
    pub fn tell(&mut self, route: &Route, info: ServerInfo, now: u64) {
        let known = self.routes.entry(route.key()).or_default();
        known.info = Some(match known.info.take() {
            Some((before, at)) if now.saturating_sub(at) <= self.ttl => (before.with(info), now),
            _ => (info, now),
        });
    }

    /// Forgets a route.
    pub fn forget(&mut self, route: &Route) {
        self.routes.remove(&route.key());
    }

    /// Returns what was learned of a capability and still counts.
    pub(super) fn learned(&self, route: &Route, capability: Capability, now: u64) -> Option<Finding<Support>> {
        let tally = self.routes.get(&route.key())?.tallies[capability as usize]?;
        let value = tally.verdict(now, self.ttl)?;
        Some(Finding { value, source: Source::Learned, date: Some(Date::from_unix(tally.at)) })
    }

    /// Returns what the server said and still counts, and when.
    pub(super) fn info(&self, route: &Route, now: u64) -> Option<(&ServerInfo, Date)> {
        let (info, at) = self.routes.get(&route.key())?.info.as_ref()?;
        (now.saturating_sub(*at) <= self.ttl).then_some((info, Date::from_unix(*at)))
    }

    /// Returns what is known of a route as JSON, to be kept elsewhere; `None` if nothing is.
    pub fn dump(&self, route: &Route) -> Option<Value> {
        let known = self.routes.get(&route.key())?;
        let mut counts = Map::new();
        for (capability, tally) in Capability::ALL.iter().zip(known.tallies) {
            if let Some(Tally { success, failure, ignored, at }) = tally {
                counts.insert(capability.as_str().to_owned(), json!([success, failure, ignored, at]));
            }
        }
        let info = known.info.as_ref().map(|(info, at)| json!({ "at": at, "facts": info.to_value() }));
        Some(json!({ "counts": counts, "info": info }))
    }

    /// Loads the output of [`Store::dump`].
    ///
    /// # Errors
    /// [`ErrorCode::BadOption`] if it is something else.
    pub fn load(&mut self, route: &Route, value: &Value) -> Result<(), Error> {
        let bad = || Error::at(ErrorCode::BadOption, route.key(), "this is nothing that a capability store wrote");
        let mut known = Known::default();
        let counts = value.get("counts").and_then(Value::as_object).ok_or_else(bad)?;
        for (name, counts) in counts {
            // A later version may know more capabilities.
            let Some(capability) = Capability::from_word(name) else { continue };
            let number = |at: usize| counts.get(at).and_then(Value::as_f64).filter(|n| n.is_finite()).ok_or_else(bad);
            let at = counts.get(3).and_then(Value::as_u64).ok_or_else(bad)?;
            let tally = Tally { success: number(0)?, failure: number(1)?, ignored: number(2)?, at };
            known.tallies[capability as usize] = Some(tally);
        }
        if let Some(info) = value.get("info").filter(|info| !info.is_null()) {
            let at = info.get("at").and_then(Value::as_u64).ok_or_else(bad)?;
            let facts = info.get("facts").and_then(ServerInfo::from_value).ok_or_else(bad)?;
            known.info = Some((facts, at));
        }
        self.routes.insert(route.key(), known);
        Ok(())
    }
}

impl Default for Store {
    fn default() -> Self {
        Self::new(Self::TTL)
    }
}
