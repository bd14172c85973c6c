//! The words that the rules of this room look for, by what they say. A list is what one rule takes for it, as the cases and the
//! texts without calls have shown, so several have members in common and are not the same.
//!
//! They are in small letters and without the signs round them, unless a list shows other ones.

/// Words that say the same.
pub(super) type Words = &'static [&'static str];

// Where a clause begins.

/// What a clause begins behind, and a blank: what ends the sentence before it as well.
pub(super) const PARTS: Words = &[".", "!", "?", ";", ":", ",", " so", " but", " and", " then", " –", " —"];

/// The same where all of it is one sentence.
pub(super) const PARTS_IN_SENTENCE: Words = &[",", ";", ":", " so", " but", " and", " –", " —"];

/// The same where the sentence is about an example.
pub(super) const PARTS_ROUND_MENTION: Words = &[",", ";", ":", "!", " so", " but", " and", " then", " –", " —"];

// An example follows, or something that is only shown.

/// What says that an example follows, in the languages that models answer in most.
pub(super) const SAYS_EXAMPLE: Words = &[
    "example",
    "examples",
    "e.g.",
    "for instance",
    "looks like",
    "calls look like",
    "would look like",
    "could look like",
    "might look like",
    "may look like",
    "can look like",
    "something like this",
    "response like this",
    "output like this",
    "sieht so aus",
    "ressemble à",
    "se ve así",
    "beispiel",
    "ejemplo",
    "exemple",
    "exemplo",
    "esempio",
    "пример",
    "например",
    "z.b.",
    "voorbeeld",
    "bijvoorbeeld",
    "przykład",
    "contoh",
    "örnek",
    "مثال",
    "उदाहरण",
];

/// The same in languages that do not part words, or glue others to them.
pub(super) const SAYS_EXAMPLE_UNPARTED: Words =
    &["例如", "比如", "示例", "举例", "舉例", "例子", "範例", "たとえば", "例えば", "예를 들어", "예시"];

/// What announces an example as a heading of its own: in a sentence some of these words are of a file, or say where.
pub(super) const HEADINGS: Words = &[
    "usage",
    "syntax",
    "signature",
    "sample",
    "例",
    "예",
    "available tools",
    "available functions",
    "tool definitions",
    "eg",
    "exempel",
    "till exempel",
    "eksempel",
    "for eksempel",
    "esimerkki",
    "esimerkiksi",
    "příklad",
    "például",
    "παράδειγμα",
    "για παράδειγμα",
    "örneğin",
    "ví dụ",
];

/// What else stands in a heading that announces an example.
pub(super) const OF_EXAMPLES: Words = &[
    "request", "response", "call", "calls", "output", "tool", "of", "for", "a", "an", "the", "use", "more", "some",
    "another", "simple", "basic", "full", "complete", "usage",
];

/// And what it says of the call.
pub(super) const JUDGES: Words = &["good", "bad", "correct", "incorrect", "right", "wrong", "valid", "invalid"];

/// What may stand before the label of a list of examples.
pub(super) const HERE_ARE: Words = &["Here are ", "here are ", "Here is ", "Below are "];

/// What a report of a bug has as headings: what stands below was seen, or was to be.
pub(super) const REPORTS: Words = &[
    "expected",
    "actual",
    "got",
    "expected behavior",
    "expected behaviour",
    "actual behavior",
    "actual behaviour",
    "current behavior",
    "current behaviour",
    "observed behavior",
    "observed behaviour",
    "expected output",
    "actual output",
    "expected result",
    "expected results",
    "actual result",
    "actual results",
    "expected response",
    "actual response",
    "expected call",
    "expected calls",
    "expected tool call",
    "expected tool calls",
    "expected function call",
    "expected function calls",
    "sample call",
    "sample tool call",
    "sample function call",
    "sample output",
    "sample request",
    "sample response",
];

/// Headings of calls that are shown as wrong.
pub(super) const WRONG: Words =
    &["wrong", "incorrect", "bad", "invalid", "malformed", "broken", "avoid", "avoid this", "not this"];

/// What else stands in them.
pub(super) const OF_WRONG: Words = &["call", "calls", "format", "way", "usage"];

// Who speaks.

/// How whoever writes begins to say what they do.
pub(super) const FIRST_PERSON: Words =
    &["me", "us", "let's", "lets", "i", "i'll", "i'm", "i'd", "we", "we'll", "we're", "we'd"];

/// What stands beside it there, and what does where it is done at once.
pub(super) const BESIDE_FIRST_PERSON: Words = &[
    "let", "am", "are", "will", "going", "to", "gonna", "need", "have", "want", "must", "should", "like", "now",
    "first", "next", "then", "so", "ok", "okay", "also", "just", "again", "quickly",
];

/// Who speaks of their own call, or hands one over.
pub(super) const OWN_CALL: Words = &[
    "i", "i'll", "i'm", "i've", "i'd", "we", "we'll", "we're", "let", "let's", "me", "my", "our", "here", "here's",
    "now", "us", "above",
];

/// How somebody says that they do something: that is no condition.
pub(super) const OWN_STEPS: Words = &["i'll", "i will ", "i can ", "i'm ", "let me", "let's", "we can ", "we'll"];

/// How the sentence begins in which somebody says what they do next, with its capital letter.
pub(super) const STEPS: Words = &["I'll ", "I’ll ", "I will ", "I'm ", "I’m ", "I am ", "Let me ", "Let's ", "Let’s "];

/// Who is no other side: what is said of others says nothing of what these do.
pub(super) const PERSONS: Words = &["i", "we", "you", "he", "she", "they"];

/// Who may do something with a call, or be told to.
pub(super) const WHO_ACTS: Words = &["i", "we", "you", "please", "nobody", "never", "don't", "do", "one", "they"];

/// Who may deny that they make a call, or is told not to: others may fail to do something else.
pub(super) const WHO_DENIES: Words = &["i", "i'm", "i'll", "i'd", "we", "we're", "we'll", "we'd", "you", "please"];

// What is done with a call, and what it is called.

/// What is done with calls: as it is told, where it has been done, and while it is.
pub(super) const VERBS: &[[&str; 3]] = &[
    ["run", "ran", "running"],
    ["call", "called", "calling"],
    ["execute", "executed", "executing"],
    ["send", "sent", "sending"],
    ["use", "used", "using"],
    ["do", "did", "doing"],
    ["make", "made", "making"],
    ["invoke", "invoked", "invoking"],
    ["perform", "performed", "performing"],
    ["issue", "issued", "issuing"],
    ["emit", "emitted", "emitting"],
    ["submit", "submitted", "submitting"],
];

/// What somebody does with a call.
pub(super) const ACTS_ON_CALL: Words = &[
    "run", "execute", "try", "send", "call", "use", "write", "issue", "emit", "invoke", "submit", "type", "paste",
    "repeat",
];

/// So many of these need nobody who does so: a test runs as well.
pub(super) const ACTS_ALONE: usize = 3;

/// What others did with a call, or do.
pub(super) const DONE_TO_CALL: Words = &[
    "ran",
    "executed",
    "tried",
    "sent",
    "called",
    "used",
    "wrote",
    "issued",
    "emitted",
    "invoked",
    "submitted",
    "typed",
    "pasted",
    "repeated",
    "runs",
    "sends",
    "calls",
    "uses",
    "writes",
    "issues",
    "emits",
    "submits",
    "types",
    "answers",
];

/// What stands between what is done with a call and the call.
pub(super) const BEFORE_CALL: Words = &["with", "this", "that", "anything", "something", "like"];

/// What stands before a noun.
pub(super) const BEFORE_NOUN: Words = &["the", "a", "an", "my", "your", "any", "this", "that", "its"];

/// What stands before a passive.
pub(super) const BEFORE_PASSIVE: Words = &["is", "are", "was", "were", "be", "been", "get", "got"];

/// What a call is called.
pub(super) const CALLED: Words = &["call", "command", "object", "line", "message", "request", "json", "code", "text"];

/// What may stand for the call at the end of a sentence, behind its verb.
pub(super) const STANDS_FOR_CALL: Words = &[
    "this",
    "that",
    "it",
    "these",
    "them",
    "the",
    "a",
    "any",
    "following",
    "call",
    "calls",
    "tool",
    "tools",
    "function",
    "functions",
    "command",
    "commands",
    "anything",
];

/// What stands for the call below alone, and for none that something else was said of.
pub(super) const SUCH_CALLS: Words = &["this", "these", "following", "call", "calls"];

/// What joins a call to the words before it.
pub(super) const JOINS: &[[&str; 2]] = &[
    ["such", "as"],
    ["instead", "of"],
    ["rather", "than"],
    ["looks", "like"],
    ["look", "like"],
    ["something", "like"],
    ["anything", "like"],
    ["call", "like"],
];

// It is not done, or only might be.

/// What says that something is not done.
pub(super) const NOT: Words = &["not", "never", "nobody", "cannot", "wrong", "dangerous", "unsafe", "bad"];

/// What says, close to a verb, that it only might be done.
pub(super) const MIGHT: Words = &["would", "could", "might"];

/// Negations that may stand at the end of a line, before what they are of.
pub(super) const LAST_NOT: Words = &["not", "never", "nicht", "nie", "niemals", "jamais", "nunca"];

/// What denies that a call is made.
pub(super) const NEVER: Words =
    &["never", "don't", "won't", "can't", "cannot", "mustn't", "shouldn't", "wouldn't", "couldn't", "aren't", "not"];

/// The same where a verb follows.
pub(super) const REFUSES: Words =
    &["refuse", "decline", "unable", "unwilling", "reluctant", "hesitant", "forbidden", "refused"];

/// What is not done with a call that is made.
pub(super) const FORGETS: Words = &["forget", "hesitate", "fail"];

/// Between "not" and a verb these deny nothing.
pub(super) const DENIES_NOTHING: Words = &["forget", "hesitate", "fail", "wait", "afraid", "only", "just", "mind"];

/// What stands between whoever denies something and what denies it.
pub(super) const AUXILIARIES: Words = &[
    "do", "will", "would", "can", "could", "must", "should", "may", "might", "am", "are", "have", "need", "to",
    "rather",
];

/// Words between a denial and its verb, as those that end in "-ly" are.
pub(super) const ADVERBS: Words = &["ever", "just", "also", "still", "even", "yet", "thus", "therefore"];

// It was done before.

/// What says that a call was made before.
pub(super) const WAS_BEFORE: Words = &["already", "earlier", "previously", "yesterday"];

/// All that else stands where nothing but that is said.
pub(super) const SAYING_SO: Words = &[
    "i", "we", "i've", "we've", "have", "had", "has", "my", "which", "what", "was", "were", "is", "are", "been", "here",
];

/// What is said of calls that were made before.
pub(super) const PAST: Words = &["previous", "earlier", "failed"];

/// The same where they were numbered.
pub(super) const NUMBERED: Words = &["last", "first"];

/// What such calls are called.
pub(super) const PAST_CALLS: Words = &["call", "command", "invocation", "attempt"];

// It is asked for, or waits for somebody to agree.

/// How a question begins with whoever asks.
pub(super) const ASKS: Words = &["may", "can", "could", "shall", "should", "do", "am"];

/// What may stand at its end, and says nothing of what is asked.
pub(super) const BESIDE_QUESTION: Words = &["now", "then", "please", "next", "for", "you", "y/n"];

/// Who asks for leave to do so learns something, and needs no leave for a call.
pub(super) const LEARNS: Words = &["see", "ask", "know", "suggest", "assume"];

/// How it begins with the other side.
pub(super) const ASKS_YOU: Words = &["do", "would", "will", "are"];

/// What the other side is asked for then.
pub(super) const WISHES: Words =
    &["want", "like", "mind", "prefer", "wish", "agree", "approve", "confirm", "allow", "permit", "ok", "okay"];

/// What begins a clause that makes a call wait for the other side.
pub(super) const WAITS: Words = &["once", "if", "after", "when", "as soon as"];

/// What that would do; a confirmation that was given is told in the past.
pub(super) const CONFIRMS: &[[&str; 2]] = &[
    ["confirm", "confirmed"],
    ["approve", "approved"],
    ["agree", "agreed"],
    ["authorize", "authorized"],
    ["authorise", "authorised"],
    ["permit", "permitted"],
    ["allow", "allowed"],
    ["accept", "accepted"],
];

/// What a call waits for without a verb begins with this.
pub(super) const UPON: Words = &["upon", "pending", "on", "after"];

/// And it is one of these.
pub(super) const CONFIRMATIONS: Words = &["confirmation", "approval", "permission", "consent", "authorization"];

/// How a promise begins: what is done all the same is none, and does not wait.
pub(super) const PROMISES: Words =
    &["i'll ", "i will ", "we'll ", "we will ", "i can ", "we can ", "i could ", "we could ", "i'd ", "i would "];

/// What begins a condition.
pub(super) const IF: Words = &["if", "when", "whenever", "unless", "once", "suppose"];

// How calls are written in general, and by whom.

/// What somebody is told to do with a call.
pub(super) const ORDERS: Words = &[
    "respond", "reply", "answer", "output", "use", "return", "write", "emit", "follow", "provide", "produce",
    "generate", "print", "call", "invoke", "format", "send", "run", "execute", "make", "give", "adhere", "stick",
    "wrap",
];

/// What may stand before that.
pub(super) const BEFORE_ORDERS: Words =
    &["please", "then", "always", "only", "just", "simply", "you", "must", "strictly", "and"];

/// What says that somebody has to do something.
pub(super) const MUST: Words = &["must", "should", "shall", "have", "need", "are"];

/// What says that they may.
pub(super) const CAN: Words = &["can", "may", "will", "could"];

/// What whoever reads it writes as an answer: something else of theirs (`your config`) is written by a call.
pub(super) const ANSWERS: Words =
    &["answer", "answers", "output", "outputs", "response", "responses", "reply", "replies", "calls"];

/// What is done with that alone.
pub(super) const TO_ANSWER: Words = &["respond", "reply", "answer", "output", "emit", "return"];

/// What an answer calls.
pub(super) const TOOLS: Words = &["tool", "tools", "call", "calls"];

/// What calls follow.
pub(super) const FORMATS: Words = &["format", "formats", "syntax"];

/// What says that it is the one which stands here.
pub(super) const THIS_FORMAT: Words = &["this", "following", "these", "exact", "below", "same", "such"];

/// The same at the end of the sentence.
pub(super) const IN_THIS_WAY: &[[&str; 2]] = &[["like", "this"], ["like", "so"], ["as", "follows"], ["this", "way"]];

/// One of those, whichever it is.
pub(super) const EACH: Words = &["each", "every", "any"];

/// What that is of.
pub(super) const EACH_CALL: Words = &["call", "tool", "function", "output", "response", "answer", "request", "action"];

/// What else has a format that somebody is to write: a call writes it.
pub(super) const FILES: Words = &["file", "files", "document", "report", "page", "code", "script", "table", "readme"];

/// What a format is of in general: of one call it is said where that is made.
pub(super) const CALLS_IN_GENERAL: Words =
    &["calls", "tools", "functions", "outputs", "responses", "answers", "requests", "arguments", "actions"];

/// What is said of those then.
pub(super) const FOLLOW: Words = &[
    "must", "should", "shall", "follow", "follows", "use", "uses", "have", "has", "take", "takes", "are", "needs",
    "need",
];

/// What begins a condition that whoever reads it may meet.
pub(super) const WHEN: Words = &["when", "whenever", "if", "once"];

/// And what of them is the condition.
pub(super) const WHOEVER_READS: Words = &["you", "you'd", "you're", "calling", "using"];

/// What conditions for calls in general are about: `to call a tool`. Others are of a step of the work: `If you want to start it`.
pub(super) const TO_CALL: Words = &["call", "use", "invoke", "execute", "run", "make", "calling", "using"];

/// What says so where the tool itself is needed.
pub(super) const NEEDS: Words = &["need", "want", "require"];

/// And of a tool.
pub(super) const IS_NEEDED: Words = &["needed", "required", "necessary"];

/// What those call.
pub(super) const ANY_TOOL: &[&[&str]] = &[
    &["a", "tool"],
    &["a", "function"],
    &["any", "tool"],
    &["any", "function"],
    &["tools"],
    &["functions"],
    &["the", "tools"],
    &["the", "functions"],
    &["one", "of", "the", "tools"],
    &["one", "of", "the", "functions"],
];

/// What ends a sentence that tells others how a call is made.
pub(super) const LIKE_THIS: Words = &["like this", "like so", "such as"];

/// What stands behind its first word, the other side.
pub(super) const MAY_CALL: Words = &["can", "could", "would", "may", "might"];

/// Who calls, where somebody else tells so.
pub(super) const MODELS: Words = &["model", "llm", "assistant", "agent", "ai", "bot", "chatbot"];

/// What they do.
pub(super) const MODELS_ACT: Words = &[
    "emits",
    "emit",
    "responds",
    "respond",
    "replies",
    "reply",
    "outputs",
    "output",
    "returns",
    "return",
    "calls",
    "call",
    "generates",
    "generate",
    "produces",
    "produce",
    "prints",
    "print",
    "writes",
    "write",
    "sends",
    "send",
    "answers",
    "answer",
    "issues",
    "issue",
    "makes",
    "make",
    "requests",
    "request",
];

/// What may stand before that.
pub(super) const MODELS_MAY: Words = &["will", "then", "should", "can", "must", "may", "would", "now"];

/// What the text goes on with behind a call of theirs: who does what is due.
pub(super) const OTHERS_ACT: Words = &[
    "you ",
    "and you ",
    "your ",
    "the host ",
    "the client ",
    "the server ",
    "the application ",
    "the app ",
    "the runtime ",
    "the code ",
    "the framework ",
    "the user ",
    "the system ",
    "the harness ",
    "the sdk ",
];

// A file of examples is worked on.

/// What is done with files: an example is one of them.
pub(super) const ACTS_ON_FILE: Words = &[
    "read", "re-read", "reread", "open", "check", "recheck", "view", "look", "inspect", "examine", "review", "see",
    "study", "analyze", "analyse", "explore", "scan", "search", "find", "locate", "fetch", "load", "list", "verify",
    "compare", "edit", "update", "fix", "modify", "change", "adjust", "adapt", "extend", "refactor", "rewrite",
    "rename", "move", "copy", "run", "execute", "test", "try", "delete", "remove", "create", "build",
];

/// The same as a thing that is taken, or had: "a quick look at".
pub(super) const LOOKS: Words = &["look", "peek", "glance"];

/// What stands between that and what is looked at, or through.
pub(super) const LOOKS_AT: Words = &["at", "into", "over", "through", "for", "in"];

/// What looks for examples, or tries some, whichever they are.
pub(super) const SEEKS: Words = &["search", "look", "browse", "find", "test"];

/// What shows some, or only might do what it says.
pub(super) const SHOWS: Words =
    &["show", "give", "list", "present", "demonstrate", "illustrate", "share", "could", "would", "might", "are", "you"];

/// What writes a new one, and what such a file is called.
pub(super) const WRITES: Words = &["write", "create", "add", "make", "generate", "build", "save", "put", "set"];
pub(super) const WRITTEN: Words = &[
    "file",
    "files",
    "script",
    "scripts",
    "config",
    "configuration",
    "module",
    "page",
    "program",
    "project",
    "class",
    "test",
    "tests",
    "component",
    "database",
    "dataset",
    "directory",
    "folder",
    "notebook",
    "document",
];

/// What stands before an example that is known.
pub(super) const KNOWN: Words =
    &["the", "this", "that", "your", "its", "my", "our", "their", "these", "those", "all", "both", "each"];

/// What says somewhere in the sentence that the example is shown all the same.
pub(super) const SHOWN_HERE: Words =
    &["below", "here", "explain", "you", "user", "answer", "docs", "prompt", "following", "show", "aloud"];

/// What says so right behind the word for it.
pub(super) const OF_EXAMPLE: Words = &["of", "call", "calls", "message", "request", "response", "output", "usage"];

// The sentence goes on behind the call.

/// Words that go on with a sentence in another paragraph: verbs, and what joins them to it.
pub(super) const GOES_ON: Words = &[
    "would", "will", "could", "can", "may", "might", "should", "must", "is", "was", "were", "has", "had", "does",
    "did", "because", "which", "as", "since", "returns", "unless", "until",
];
