//! The set of tools offered in one turn.
use super::Tool;
use super::convert::{self, Converted, Declarations, Target};
use super::input::Reader;
use super::names::{self, Names, Spellings};
use super::problems;
use super::settle::settle;
use crate::bytes::same;
use crate::error::{Error, ErrorCode};
use crate::json::{self, RepairOptions, ScanResult, Scanner};
use crate::turn::{Arguments, CallStatus, Repair, RepairCode, ToolCall};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What a name written by a model means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Resolution<'t> {
    /// An offered tool, spelt as offered.
    Exact(&'t Tool),
    /// The one offered tool that the spelling can mean.
    Resolved(&'t Tool),
    /// No tool, or more than one.
    Unknown,
}

/// The tools offered in one turn.
///
/// Everything that a turn asks of them is worked out once, here; share the set (`Arc`) rather than cloning it.
#[derive(Debug, Clone, Default)]
pub struct ToolSet {
    tools: Vec<Tool>,
    by_name: HashMap<String, usize>,
    safe_names: Vec<String>,
    /// Made when a name is first looked up that is not an offered one.
    spellings: OnceLock<Spellings>,
    /// What was wrong with the items.
    bad_items: Vec<Error>,
    /// The same and what is wrong with the schemas, which is looked for when somebody asks.
    problems: OnceLock<Vec<Error>>,
    /// What was converted before: serving it again costs nothing.
    converted: Arc<Mutex<Vec<Arc<Converted>>>>,
}

/// Up to this many tools comparing is faster than hashing.
const FEW: usize = 8;

impl ToolSet {
    /// Reads tools in any known shape: OpenAI (Chat and Responses), MCP, Anthropic, Gemini, Bedrock, Ollama, Mistral,
    /// Cohere, and the registry entry `{name, server, enabled, definition}`. The shape is told item by item.
    ///
    /// An item that cannot be read is left out and reported in [`ToolSet::problems`]; disabled tools are left out.
    ///
    /// # Errors
    /// If there are items and not one of them is a tool: the first problem.
    ///
    /// ```
    /// # use serde_json::json;
    /// let tools = toolglot::schema::ToolSet::from_values(&[
    ///     json!({"name": "read", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}),
    ///     json!({"type": "function", "function": {"name": "now"}}),
    /// ])?;
    /// assert_eq!(tools.tools().len(), 2);
    /// # Ok::<(), toolglot::Error>(())
    /// ```
    pub fn from_values(items: &[Value]) -> Result<Self, Error> {
        Self::from_sources([(None, items)])
    }

    /// Reads the tools of a JSON text: a list of them, or an object that holds one.
    ///
    /// # Errors
    /// [`ErrorCode::BadJson`], and as [`ToolSet::from_values`].
    pub fn from_json(json: &str) -> Result<Self, Error> {
        let value: Value = serde_json::from_str(json).map_err(|e| Error::new(ErrorCode::BadJson, e.to_string()))?;
        let items = match value {
            Value::Array(items) => items,
            one => vec![one],
        };
        let mut builder = Builder::default();
        items.into_iter().for_each(|item| builder.item(None, Ok(item)));
        builder.finish()
    }

    /// Reads the tools of several sources (MCP servers). A name that two servers offer becomes `server:name` for both.
    ///
    /// # Errors
    /// As [`ToolSet::from_values`].
    pub fn from_sources<'v>(sources: impl IntoIterator<Item = (Option<&'v str>, &'v [Value])>) -> Result<Self, Error> {
        let mut builder = Builder::default();
        for (server, items) in sources {
            items.iter().for_each(|item| builder.item(server, Ok(item.clone())));
        }
        builder.finish()
    }

    fn from_tools(tools: Vec<Tool>, mut problems: Vec<Error>) -> Result<Self, Error> {
        if tools.is_empty()
            && let Some(first) = problems.first()
        {
            return Err(first.clone());
        }
        let mut set = Self::default();
        for tool in separate(tools) {
            let name = tool.name.clone();
            match set.by_name.get(&name).and_then(|i| set.tools.get(*i)) {
                None => {
                    set.by_name.insert(name, set.tools.len());
                    set.tools.push(tool);
                }
                Some(first) if *first == tool => {}
                Some(_) => problems.push(Error::at(
                    ErrorCode::BadTool,
                    &name,
                    format!("two different tools are called {name:?}; the first is offered"),
                )),
            }
        }
        set.safe_names = names::safe_names(&set.tools);
        set.bad_items = problems;
        Ok(set)
    }

    /// The tools, in the order in which they were given.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// What was wrong with the declarations: items left out (`bad_tool`) and parts of schemas that mean nothing
    /// (`bad_schema`), each with its place.
    pub fn problems(&self) -> &[Error] {
        self.problems.get_or_init(|| {
            let mut problems = self.bad_items.clone();
            self.tools.iter().for_each(|tool| problems::of_schema(tool, &mut problems));
            problems
        })
    }

    /// The tool of exactly that name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.position(name).and_then(|i| self.tools.get(i))
    }

    /// The tool of that name, however it is spelt, takes free text ([`Tool::is_freeform`]).
    pub fn takes_text(&self, name: &str) -> bool {
        let freeform =
            || matches!(self.resolve(name), Resolution::Exact(tool) | Resolution::Resolved(tool) if tool.is_freeform());
        self.tools.iter().any(Tool::is_freeform) && freeform()
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        if self.tools.len() <= FEW {
            return self.tools.iter().position(|tool| same(tool.name.as_bytes(), name.as_bytes()));
        }
        self.by_name.get(name).copied()
    }

    /// What `written` means: an offered name, another spelling of exactly one, or nothing.
    ///
    /// Other spellings are: how a provider had to be told the name; other case or separators; the name's own namespace or
    /// server dropped, doubled or put before; and the few prefixes that formats and models put before every name
    /// (`functions.`, `default_api:`, `proxy_`). Any other prefix makes another name of it (`dry_run.read`), and so does
    /// any other character, visible or not. Likeness never counts.
    ///
    /// ```
    /// # use serde_json::json;
    /// use toolglot::schema::{Resolution, ToolSet};
    /// let tools = ToolSet::from_values(&[json!({"name": "delete_file"})])?;
    /// assert!(matches!(tools.resolve("functions.deleteFile"), Resolution::Resolved(_)));
    /// assert_eq!(tools.resolve("dry_run.delete_file"), Resolution::Unknown);
    /// # Ok::<(), toolglot::Error>(())
    /// ```
    pub fn resolve(&self, written: &str) -> Resolution<'_> {
        self.resolve_by(written, Names::Resolve)
    }

    /// As [`Self::resolve`], where `names` says which spellings count.
    pub fn resolve_by(&self, written: &str, names: Names) -> Resolution<'_> {
        let Some((position, exact)) = self.find(written, names) else { return Resolution::Unknown };
        match self.tools.get(position) {
            Some(tool) if exact => Resolution::Exact(tool),
            Some(tool) => Resolution::Resolved(tool),
            None => Resolution::Unknown,
        }
    }

    /// Whether providers are told `tool` as `written`, who do not take its own name.
    pub(crate) fn is_told_as(&self, tool: &Tool, written: &str) -> bool {
        self.position(&tool.name).and_then(|position| self.safe_name(position)) == Some(written)
    }

    /// [`Self::resolve_by`] as the tool's position, and whether `written` is its name as offered.
    pub(crate) fn find(&self, written: &str, names: Names) -> Option<(usize, bool)> {
        if let Some(position) = self.position(written) {
            return Some((position, true));
        }
        let found = match names {
            Names::Resolve => names::resolve(self, self.spellings(), written),
            Names::Exact => names::resolve_exact(self, self.spellings(), written),
        };
        found.map(|position| (position, false))
    }

    fn spellings(&self) -> &Spellings {
        self.spellings.get_or_init(|| Spellings::new(&self.tools, &self.safe_names))
    }

    /// What is `written` may go on to a name that means a tool. A stream waits for such a word, and for no other.
    pub(crate) fn leads_to(&self, written: &str) -> bool {
        self.tools.iter().any(|tool| names::begins(&tool.name, written)) || self.spellings().lead_on(written)
    }

    /// The name of the tool at `position` that every provider takes.
    pub(super) fn safe_name(&self, position: usize) -> Option<&str> {
        self.safe_names.get(position).map(String::as_str)
    }

    /// The tools as `target` wants them, and what was lost on the way. Converted once; asked again it is only handed out.
    ///
    /// ```
    /// # use serde_json::json;
    /// use toolglot::schema::{ToolSet, convert::{Format, Target}};
    /// let tools = ToolSet::from_values(&[json!({"name": "files:read", "inputSchema": {"type": "object"}})])?;
    /// let target = Target::new(Format::OpenAi);
    /// assert_eq!(tools.declarations(&tools.to(&target)).to_value()[0]["function"]["name"], "files_read");
    /// # Ok::<(), toolglot::Error>(())
    /// ```
    pub fn to(&self, target: &Target) -> Arc<Converted> {
        let find = |known: &[Arc<Converted>]| known.iter().find(|c| c.target == *target).cloned();
        if let Some(known) = find(&self.converted.lock().unwrap_or_else(PoisonError::into_inner)) {
            return known;
        }
        // Converting is not done under the lock: two threads may do it twice, and the first result stays.
        let converted = Arc::new(convert::convert(self, target));
        let mut known = self.converted.lock().unwrap_or_else(PoisonError::into_inner);
        find(&known).unwrap_or_else(|| {
            known.push(converted.clone());
            converted
        })
    }

    /// A conversion of this set as the list that goes into a request.
    pub fn declarations<'c>(&'c self, converted: &'c Converted) -> Declarations<'c> {
        Declarations::new(self, converted)
    }

    /// The names that `target` is told, each with the tool's real name.
    pub fn names(&self, target: &Target) -> Vec<(&str, &str)> {
        self.tools.iter().enumerate().map(|(i, tool)| (target.spelling(self, i), tool.name.as_str())).collect()
    }

    /// A call of `name` with arguments as JSON text, settled as a model's would be: the name resolved, the arguments
    /// repaired where they are no JSON, coerced and judged by the schema.
    pub fn check(&self, name: &str, arguments: &str, id: Option<String>) -> ToolCall<'static> {
        let id = id.unwrap_or_else(crate::turn::new_call_id);
        let mut call = ToolCall::new(id, name.to_owned(), Arguments::Json(arguments.to_owned().into()));
        let empty = arguments.trim().is_empty();
        if empty {
            call.arguments = Arguments::default();
        } else if !is_json(arguments) {
            match json::repair(arguments, &RepairOptions::default()) {
                Ok(repaired) if repaired.complete() && !repaired.guessed => {
                    call.arguments = Arguments::Json(repaired.json.into_owned().into());
                    call.repairs = repaired.repairs;
                    call.status = CallStatus::Repaired;
                }
                repaired => {
                    // What was cut off is not closed and run, and what cannot be read is in `raw` alone.
                    let cut = repaired.is_ok_and(|repaired| !repaired.complete() && repaired.json.starts_with('{'));
                    call.status = if cut { CallStatus::Incomplete } else { CallStatus::Malformed };
                    call.arguments = match json::parse_cut(arguments) {
                        Ok(partial) if cut && partial.json.starts_with('{') => {
                            Arguments::Json(partial.json.into_owned().into())
                        }
                        _ => Arguments::default(),
                    };
                    call.raw = arguments.to_owned().into();
                }
            }
        }
        match self.resolve(name) {
            Resolution::Exact(tool) => drop(settle(tool, &mut call)),
            Resolution::Resolved(tool) => {
                call.name = tool.name.clone().into();
                if !self.is_told_as(tool, name) {
                    call.repairs.push(Repair::new(RepairCode::Name, format!("{name:?} means {:?}", tool.name)));
                    if call.status == CallStatus::Ok {
                        call.status = CallStatus::Repaired;
                    }
                }
                settle(tool, &mut call);
            }
            Resolution::Unknown => call.status = CallStatus::UnknownTool,
        }
        if call.status == CallStatus::Malformed {
            call.raw = arguments.to_owned().into();
        }
        call
    }

    /// Up to three offered names that look like `written`, for messages to the model.
    pub fn nearest(&self, written: &str) -> Vec<&str> {
        names::nearest(&self.tools, written, 3)
    }
}

fn is_json(text: &str) -> bool {
    let scanned = Scanner::new(0, RepairOptions::default().max_depth).scan(text.as_bytes(), true);
    matches!(scanned, ScanResult::Complete { end } if text.get(end..).is_some_and(|rest| rest.trim().is_empty()))
}

/// Builds a [`ToolSet`] item by item; an item that could not even be read is a problem like any other.
#[derive(Debug, Default)]
pub struct Builder {
    reader: Reader,
    server: Option<String>,
    position: usize,
}

impl Builder {
    /// The next item of `server`'s tools; items are counted for the places in problems.
    pub fn item(&mut self, server: Option<&str>, item: Result<Value, Error>) {
        if self.server.as_deref() != server {
            self.server = server.map(str::to_owned);
            self.position = 0;
        }
        let place =
            server.map_or_else(|| format!("/{}", self.position), |server| format!("{server}/{}", self.position));
        self.position += 1;
        match item {
            Ok(item) => self.reader.read(item, server, &place),
            Err(error) => {
                let inner = if error.place.is_empty() { place } else { format!("{place}{}", error.place) };
                self.reader.problems.push(Error { place: inner, ..error });
            }
        }
    }

    /// How many tools were read.
    pub(super) fn len(&self) -> usize {
        self.reader.tools.len()
    }

    /// The set.
    ///
    /// # Errors
    /// As [`ToolSet::from_values`].
    pub fn finish(self) -> Result<ToolSet, Error> {
        ToolSet::from_tools(self.reader.tools, self.reader.problems)
    }
}

/// Gives tools of different servers that share a name the name `server:name`.
fn separate(mut tools: Vec<Tool>) -> Vec<Tool> {
    let mut servers: HashMap<String, Vec<Option<String>>> = HashMap::new();
    for tool in &tools {
        let seen = servers.entry(tool.name.clone()).or_default();
        if !seen.contains(&tool.source.server) {
            seen.push(tool.source.server.clone());
        }
    }
    for tool in &mut tools {
        if servers.get(&tool.name).is_some_and(|seen| seen.len() > 1)
            && let Some(server) = &tool.source.server
        {
            let qualified = format!("{server}:{}", tool.name);
            tool.source.original = Some(std::mem::replace(&mut tool.name, qualified));
        }
    }
    tools
}
