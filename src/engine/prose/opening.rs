//! What an answer begins with where its first marker is missing: a name on a line of its own, or a word before a marker.
//! And the markers that are looked for there alone.
use crate::dialect::{Body, Element, Slot, opener};
use crate::engine::body::python::Python;
use crate::engine::look::{seen, taken, told};
use crate::engine::{Engine, Look, Mode, Reader, Taken, head};
use crate::schema::begins;

/// No word that belongs to the marker behind it is longer.
const LONGEST_WORD: usize = 128;

/// The ending of a file's name has no more letters.
const LONGEST_ENDING: usize = 5;

/// No tool is called so: it is a file's name, an address, or the end of a sentence.
fn is_title(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| ending.len() <= LONGEST_ENDING) || name.starts_with('.') || name.contains("://")
}

impl Engine {
    /// The answer begins with a name on a line of its own, and the arguments follow: `get_weather\n{...}`.
    pub(super) fn opening_name(&mut self, cx: &Reader<'_>) -> Taken {
        let Some(call) = cx.dialects.name_line else { return Taken::No };
        // Only an offered name vouches for such a call: a first word that begins none does not wait.
        // In auto, such a line further on is found as any that names a tool.
        let begins = if cx.dialects.auto { 0 } else { seen!(cx.behind_space(0, 0)) };
        if cx.dialects.auto && !Self::may_be_offered(cx, head::bare_name(cx.rest(begins))) {
            return Taken::No;
        }
        let elements = [Element::Slot(Slot::Name)];
        let mut head = seen!(head::head(cx, begins, &elements));
        let rest = cx.rest(head.end).trim_start_matches([' ', '\t', '\r']);
        if rest.is_empty() && !cx.eof {
            return Taken::More;
        }
        let Some(behind) = rest.strip_prefix('\n') else { return Taken::No };
        let name = head.name.clone().map_or("", |r| &cx.text[r]);
        // To everybody, not to a tool: its marker, whose beginning the prompt held, is one that says nothing.
        let template = cx.dialects.call(call);
        let opener = template.and_then(|template| opener(&template.head));
        let says_nothing = |token: &String| opener.is_some_and(|opener| token.strip_prefix(opener) == Some(name));
        if !cx.dialects.auto && cx.dialects.dialect(call.row).is_some_and(|row| row.tokens.iter().any(says_nothing)) {
            self.remove(cx, begins, cx.text.len() - behind.len());
            return Taken::Done;
        }
        // A file's name, or what ends in a colon, is the title of what follows, unless it means an offered tool.
        if !cx.offered(name) && (name.ends_with(':') || cx.tools.is_some() && is_title(name)) {
            return Taken::No;
        }
        let at = cx.skip_space(head.end);
        match cx.bytes().get(at) {
            Some(b'{') => {
                let holds = Self::holds_arguments(cx, name, at);
                holds.take(|()| self.begin(cx, begins, call, &mut head, None))
            }
            None if !cx.eof => Taken::More,
            _ => Taken::No,
        }
    }

    /// The answer begins with a call that is written as a pair: `('get_weather', {...})`.
    pub(super) fn opening_pair(&mut self, cx: &Reader<'_>) -> Taken {
        let at = cx.skip_space(0);
        let may_call = cx.dialects.bare_python.is_some() && cx.tools.is_some() && self.given.mode == Mode::Content;
        match cx.bytes().get(at) {
            _ if !may_call || at > cx.policy.max_markup_bytes => Taken::No,
            None if !cx.eof => Taken::More,
            Some(b'(') => Python::plausible(cx, at).take(|()| self.begin_bare(cx, at, Body::Python)),
            _ => Taken::No,
        }
    }

    /// `word`, with which the answer begins, is an offered name, or the text ends in it and it may become one.
    fn may_be_offered(cx: &Reader<'_>, word: &str) -> bool {
        let open = word.len() == cx.text.len() && !cx.eof;
        let vouched = |name: &str| begins(name, word) && (open || name.len() == word.len());
        cx.tools.is_some_and(|tools| tools.tools().iter().any(|tool| vouched(&tool.name)))
    }

    /// The object at `at` begins with a parameter of the tool, or is empty. Where the dialect was named, any will do.
    fn holds_arguments(cx: &Reader<'_>, name: &str, at: usize) -> Look<()> {
        let Some(tool) = cx.tool(name).filter(|_| cx.dialects.auto) else { return Look::Is(()) };
        let inside = cx.rest(cx.skip_space(at + 1));
        let rest = inside.trim_start_matches(['"', '\'']);
        if rest.is_empty() && !cx.eof {
            return Look::More;
        }
        let mut keys = tool.parameters.iter().map(|(key, _)| key.as_str());
        let free = tool.parameters.is_empty() && rest.len() < inside.len();
        if free || rest.starts_with('}') || keys.clone().any(|key| rest.starts_with(key)) {
            return Look::Is(());
        }
        if !cx.eof && keys.any(|key| key.starts_with(rest)) { Look::More } else { Look::No }
    }

    /// The answer begins with an opening marker that is looked for nowhere else: `-> tool/function_call`.
    pub(super) fn opening_marker(&mut self, cx: &Reader<'_>) -> Taken {
        let at = cx.skip_space(0);
        let mut result = Taken::No;
        for call in cx.dialects.openers.iter().copied() {
            let template = cx.dialects.call(call);
            let Some(template) = template else { continue };
            match head::head(cx, at, &template.head) {
                Look::Is(mut head) => taken!(self.begin(cx, at, call, &mut head, None)),
                Look::More => result = Taken::More,
                Look::No => {}
            }
        }
        result
    }

    /// The answer begins with a word that belongs to the marker behind it: `get_weather<|content_invoke_tool_json|>{...}`.
    pub(super) fn opening_word(&mut self, cx: &Reader<'_>) -> Taken {
        if cx.dialects.words.is_empty() {
            return Taken::No;
        }
        let word = head::bare_name(cx.text);
        let open = word.len() == cx.text.len() && !cx.eof;
        if word.is_empty() || word.len() > LONGEST_WORD {
            return Taken::No;
        }
        // Only an offered name vouches for it where the dialect is not known: other words do not wait.
        if cx.dialects.auto && !Self::may_be_offered(cx, word) {
            return Taken::No;
        }
        for call in cx.dialects.words.iter().copied() {
            let template = cx.dialects.call(call);
            let Some(template) = template else { continue };
            let Some(Element::Literal(marker)) = template.head.get(1) else { continue };
            if open {
                return Taken::More;
            }
            if told!(cx.literal(word.len(), marker)).is_none() {
                continue;
            }
            let head = head::head(cx, 0, &template.head);
            return head.take(|mut head| self.begin(cx, 0, call, &mut head, None));
        }
        Taken::No
    }
}
