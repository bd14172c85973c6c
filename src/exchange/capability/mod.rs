//! What a route can do, from whom that is known, and since when.
//!
//! Four kinds of knowledge, and the first that has an answer wins:
//!
//! 1. what was learned on the route itself ([`Store::record`]),
//! 2. what its server says of the model ([`ServerInfo::read`]),
//! 3. what is listed of the route: own rows of `rows.json`, then the table made of two packages,
//! 4. what is known of the model's family, wherever it is.
//!
//! Without any knowledge the value is [`Support::Unknown`], which is worth a try.

mod date;
mod learned;
mod name;
mod probe;
mod refusal;
mod route;
mod rows;
mod server_info;
mod table;

pub use date::Date;
pub use learned::{Outcome, Store};
pub use probe::{Method, Observed, Probe, Request};
pub use refusal::refused;
pub use route::Route;
pub use rows::Provider;
pub use server_info::{Server, ServerInfo};
pub use table::Votes;

use crate::turn::{codes, words};
use rows::Scope;
use table::Said;

words! {
    /// Whether a route has a capability.
    Support {
        /// It does what is asked.
        Yes => "yes",
        /// It refuses.
        No => "no",
        /// It accepts what is asked, with status 200, and does not do it.
        Ignored => "ignored",
        /// Nobody knows, or those who should contradict each other.
        Unknown => "unknown",
    }
}

impl Support {
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.as_str() == word)
    }
}

codes! {
    /// What a route may be capable of.
    Capability {
        /// Tools of the API's own.
        NativeTools => "native_tools",
        /// Several calls in one answer.
        ParallelCalls => "parallel_calls",
        /// A call that is required, or one of a name.
        ToolChoice => "tool_choice",
        /// Answers constrained to a JSON Schema.
        JsonSchema => "json_schema",
        /// Answers that are any JSON object.
        JsonObject => "json_object",
        /// Arguments constrained to the tool's schema.
        Strict => "strict",
        /// Calls while the answer streams, not only after it.
        StreamedTools => "streamed_tools",
        /// Not an ability but a habit: the model writes calls into its text, tools or no tools.
        TextCalls => "text_calls",
        /// Reasoning apart from the answer.
        Reasoning => "reasoning",
    }
}

impl Capability {
    /// The capability of this spelling.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.as_str() == word)
    }
}

words! {
    /// The kinds of knowledge, the strongest first.
    Layer {
        /// Observed on the route.
        Learned => "learned",
        /// Said by the server.
        Server => "server",
        /// Listed of the route.
        Table => "table",
        /// Known of the model's family.
        Family => "family",
        /// Nothing is known.
        Default => "default",
    }
}

/// From whom a value is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Requests on the route.
    Learned,
    /// The server's own description.
    ServerInfo(Server),
    /// An own row about the route, with its source.
    RouteRow(&'static str),
    /// What packages list of the route.
    RouteTable(Votes),
    /// Packages that contradict each other about the route.
    RouteDoubt,
    /// An own row about a family of models, with its source.
    FamilyRow(&'static str),
    /// What packages list of the model on other routes.
    FamilyTable(Votes),
    /// Lists of other routes that contradict each other.
    FamilyDoubt,
    /// The catalogue of dialects.
    Catalogue,
    /// Nobody.
    Nobody,
}

impl Source {
    /// Which kind of knowledge it is.
    pub const fn layer(self) -> Layer {
        match self {
            Self::Learned => Layer::Learned,
            Self::ServerInfo(_) => Layer::Server,
            Self::RouteRow(_) | Self::RouteTable(_) | Self::RouteDoubt => Layer::Table,
            Self::FamilyRow(_) | Self::FamilyTable(_) | Self::FamilyDoubt | Self::Catalogue => Layer::Family,
            Self::Nobody => Layer::Default,
        }
    }

    /// Returns the source in words, for people.
    pub fn detail(self) -> String {
        match self {
            Self::Learned => "requests on this route".to_owned(),
            Self::ServerInfo(server) => server.as_str().to_owned(),
            Self::RouteRow(source) | Self::FamilyRow(source) => source.to_owned(),
            Self::RouteTable(votes) => votes.names(),
            Self::FamilyTable(votes) => format!("{} on other routes", votes.names()),
            Self::RouteDoubt => format!("{} contradict each other", Votes::Both.names()),
            Self::FamilyDoubt => "lists of other routes contradict each other".to_owned(),
            Self::Catalogue => "the catalogue of dialects".to_owned(),
            Self::Nobody => String::new(),
        }
    }
}

/// A value, and from whom and since when it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding<T> {
    /// What is known.
    pub value: T,
    /// From whom.
    pub source: Source,
    /// Since when; `None` where nothing is known.
    pub date: Option<Date>,
}

impl<T> Finding<T> {
    const fn nothing(value: T) -> Self {
        Self { value, source: Source::Nobody, date: None }
    }
}

/// What a route can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Whose they are.
    pub route: Route,
    /// The API or server that answers there, where that is known.
    pub provider: Option<Provider>,
    supports: [Finding<Support>; Capability::ALL.len()],
    /// How the model's family spells calls in text, by the catalogue of dialects.
    pub dialect: Finding<Option<&'static str>>,
    /// How many tokens go into a request and its answer.
    pub context_size: Finding<Option<u64>>,
}

impl Capabilities {
    /// Whether the route has a capability.
    pub const fn get(&self, capability: Capability) -> Finding<Support> {
        self.supports[capability as usize]
    }
}

/// Returns what is known of a route at `now`, in seconds since 1970.
///
/// ```
/// use toolglot::exchange::capability::{Capability, Outcome, Route, Store, Support, capabilities};
///
/// let route = Route::new(Some("http://localhost:8000/v1"), "Qwen/Qwen3-8B");
/// let mut store = Store::default();
/// assert_eq!(capabilities(&route, Some(&store), 0).get(Capability::NativeTools).value, Support::Yes);
/// store.record(&route, Capability::NativeTools, Outcome::Failure, 0);
/// assert_eq!(capabilities(&route, Some(&store), 0).get(Capability::NativeTools).value, Support::No);
/// ```
pub fn capabilities(route: &Route, store: Option<&Store>, now: u64) -> Capabilities {
    let info = store.and_then(|store| store.info(route, now));
    let provider = route.provider().or_else(|| info.map(|(info, _)| info.server.provider()));
    let bare = name::bare(route.model());
    let listed = provider.and_then(|provider| table::route(provider, route.model()));
    let pooled = table::model(route.model());

    let rows = rows::fitting(provider, &bare);
    let row = |scope, capability| {
        let (value, source) = rows.said(scope, capability)?;
        let source = if scope == Scope::Family { Source::FamilyRow(source) } else { Source::RouteRow(source) };
        Some(Finding { value, source, date: rows::date() })
    };
    let said = |row: Option<table::Row>, capability, source: fn(Votes) -> Source, doubt| {
        Some(match row?.get(capability)? {
            Said::Value(value, votes) => Finding { value, source: source(votes), date: votes.date() },
            Said::Doubt => Finding { value: Support::Unknown, source: doubt, date: Votes::Both.date() },
        })
    };
    let by_server = |capability| {
        let (info, date) = info?;
        Some(Finding { value: info.get(capability)?, source: Source::ServerInfo(info.server), date: Some(date) })
    };
    let find = |capability| {
        store
            .and_then(|store| store.learned(route, capability, now))
            .or_else(|| by_server(capability))
            .or_else(|| row(Scope::Here, capability))
            .or_else(|| said(listed, capability, Source::RouteTable, Source::RouteDoubt))
            .or_else(|| row(Scope::Server, capability))
            .or_else(|| row(Scope::Family, capability))
            .or_else(|| said(pooled, capability, Source::FamilyTable, Source::FamilyDoubt))
            .unwrap_or(Finding::nothing(Support::Unknown))
    };
    let mut supports = [Finding::nothing(Support::Unknown); Capability::ALL.len()];
    for capability in Capability::ALL {
        supports[*capability as usize] = find(*capability);
    }

    let size = |row: Option<table::Row>, source: fn(Votes) -> Source| {
        let (size, votes) = row?.context?;
        Some(Finding { value: Some(size), source: source(votes), date: votes.date() })
    };
    let context_size = info
        .and_then(|(info, date)| {
            let size = info.context_size?;
            Some(Finding { value: Some(size), source: Source::ServerInfo(info.server), date: Some(date) })
        })
        .or_else(|| size(listed, Source::RouteTable))
        .or_else(|| size(pooled, Source::FamilyTable))
        .unwrap_or(Finding::nothing(None));

    let dialect = match crate::dialect::of_model(route.model()) {
        Some(name) => Finding { value: Some(name), source: Source::Catalogue, date: rows::date() },
        None => Finding::nothing(None),
    };
    Capabilities { route: route.clone(), provider, supports, dialect, context_size }
}
