//! Elements of HTML and XML that show something: an example, a file, a value, or what a tool gave back.
use crate::char_class;

/// An element that shows what stands in it.
#[derive(Debug)]
pub(in crate::engine) struct ShowingElement {
    pub(in crate::engine) name: &'static str,
    /// Like a fence, one that shows code may hold nothing but calls.
    pub(in crate::engine) code: bool,
    /// What a tool gave back stands in it.
    pub(in crate::engine) result: bool,
    /// Many use its name for something else: beyond its paragraph it shows only what stands before its closing tag.
    pub(in crate::engine) loose: bool,
}

impl ShowingElement {
    /// `tag` begins with its name.
    pub(in crate::engine) fn is(&self, tag: &str) -> bool {
        let name = tag.get(..self.name.len()).is_some_and(|name| name.eq_ignore_ascii_case(self.name));
        name && !tag.as_bytes().get(self.name.len()).is_some_and(|byte| char_class::IDENTIFIER.has_ascii(*byte))
    }
}

/// No name is longer.
const LONGEST_NAME: usize = 24;

/// The element that a `tag` opens which begins with its name.
pub(in crate::engine) fn opened_by(tag: &str) -> Option<&'static ShowingElement> {
    let near = tag.bytes().take(LONGEST_NAME + 1);
    let length = near.take_while(|byte| char_class::IDENTIFIER.has_ascii(*byte)).count();
    // All names are words, and few are as long as the tag's.
    ELEMENTS.iter().find(|element| element.name.len() == length && element.is(tag))
}

static ELEMENTS: [ShowingElement; 43] = [
    code("pre"),
    code("code"),
    code("samp"),
    shows("example"),
    shows("examples"),
    shows("bad_example"),
    shows("good_example"),
    // What was called or said before.
    shows("history"),
    shows("conversation_history"),
    shows("previous_call"),
    shows("previous_calls"),
    shows("log"),
    shows("logs"),
    shows("quote"),
    shows("quoted"),
    shows("blockquote"),
    // What holds a file, a document or a value that is no call's.
    shows("file"),
    shows("document"),
    shows("documents"),
    shows("content"),
    shows("artifact"),
    shows("antArtifact"),
    shows("boltAction"),
    shows("script"),
    shows("style"),
    shows("diff"),
    shows("patch"),
    shows("parameter"),
    shows("param"),
    shows("arg_value"),
    shows("template"),
    shows("transcript"),
    result("tool_response"),
    result("tool_responses"),
    result("tool_result"),
    result("tool_results"),
    result("tool_use_result"),
    result("tool_output"),
    result("function_result"),
    result("function_results"),
    result("observation"),
    loose("result"),
    loose("results"),
];

/// An element of that name shows whatever stands in it.
const fn shows(name: &'static str) -> ShowingElement {
    ShowingElement { name, code: false, result: false, loose: false }
}

const fn code(name: &'static str) -> ShowingElement {
    ShowingElement { name, code: true, result: false, loose: false }
}

const fn result(name: &'static str) -> ShowingElement {
    ShowingElement { name, code: false, result: true, loose: false }
}

const fn loose(name: &'static str) -> ShowingElement {
    ShowingElement { name, code: false, result: false, loose: true }
}
