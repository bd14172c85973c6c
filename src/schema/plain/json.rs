//! Plain tools in JSON text: found in one pass over the bytes, and written out again by copying them.
use super::{Facts, Field, MAX_DEPTH, Odd, Seen, Want, at_root, field, type_bit, want};
use crate::json::find_special;
use crate::schema::convert::Target;
use crate::schema::names::is_safe;
use std::collections::HashSet;
use std::ops::Range;

/// Where the parts of plain tools are in a JSON text.
#[derive(Debug)]
pub(crate) struct PlainTools {
    items: Vec<Item>,
    odd: Odd,
    facts: Facts,
}

#[derive(Debug)]
enum Item {
    Plain(PlainTool),
    /// The so-manieth of the odd ones.
    Odd(usize),
}

#[derive(Debug, Default)]
struct PlainTool {
    /// The whole string, with its quotes.
    name: Range<usize>,
    description: Option<Range<usize>>,
    schema: Range<usize>,
}

/// The names of members that are told apart before all must be looked at by hash.
const FEW: usize = 64;

impl PlainTools {
    /// Finds the tools of a list, or of an object with a list of `tools`. `None` if the text is no JSON, or if more in it
    /// than a few tools has to be looked at more closely.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0, names: Vec::new(), facts: Facts::default() };
        let mut items = Vec::with_capacity(text.len() / 1024);
        let mut odd = Vec::new();
        match reader.next()? {
            b'[' => reader.list(|reader| reader.item(&mut odd).map(|item| items.push(item)))?,
            b'{' => reader.object(|reader, key| match key {
                b"tools" if items.is_empty() => {
                    reader.list(|reader| reader.item(&mut odd).map(|item| items.push(item)))
                }
                _ => matches!(field(key)?, Field::Other | Field::Mcp).then(|| reader.skip(0)).flatten(),
            })?,
            _ => return None,
        }
        if reader.next().is_some() || items.is_empty() || !Odd::few(odd.len(), items.len()) {
            return None;
        }
        let mut names = HashSet::with_capacity(items.len());
        let different = items.iter().all(|item| match item {
            Item::Plain(tool) => {
                text.get(tool.name.start + 1..tool.name.end - 1).is_some_and(|name| names.insert(name))
            }
            Item::Odd(_) => true,
        });
        let odd: Option<Vec<_>> = odd.into_iter().map(|odd| serde_json::from_str(text.get(odd)?).ok()).collect();
        let odd = different.then(|| Odd::read(odd?, &names)).flatten()?;
        Some(Self { items, odd, facts: reader.facts })
    }

    /// How many tools there are.
    #[cfg(feature = "python")]
    pub(crate) fn len(&self) -> usize {
        self.items.iter().filter(|item| matches!(item, Item::Plain(_))).count() + self.odd.len()
    }

    /// The declarations as JSON text, `text` being what [`PlainTools::read`] read. `None` if this target is told something
    /// else than what is written there.
    pub(crate) fn declarations<'p>(&'p self, text: &'p [u8], target: &Target) -> Option<Written<'p>> {
        let shape = target.shape().filter(|shape| shape.group.is_none())?;
        target.takes_plain(self.facts).then(|| Written {
            items: &self.items,
            odd: self.odd.written(target),
            text,
            wrapper: shape.around(),
        })
    }
}

/// The declarations of plain tools, ready to be written.
pub(crate) struct Written<'p> {
    items: &'p [Item],
    odd: Vec<Vec<u8>>,
    text: &'p [u8],
    /// What stands before the name, before the schema and after it.
    wrapper: [String; 3],
}

impl Written<'_> {
    /// The pieces that the text is made of.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let [open, key, close] = self.wrapper.each_ref().map(String::as_bytes);
        let part = move |range: &Range<usize>| self.text.get(range.clone()).unwrap_or_default();
        let mut first = true;
        let pieces = self.items.iter().flat_map(move |item| {
            let comma = |first: &mut bool| if std::mem::take(first) { &b""[..] } else { b"," };
            match item {
                Item::Plain(tool) => {
                    let (says, description): (&[u8], &[u8]) = match &tool.description {
                        Some(description) => (br#","description":"#, part(description)),
                        None => (b"", b""),
                    };
                    let name = part(&tool.name);
                    [comma(&mut first), open, name, says, description, key, part(&tool.schema), close]
                }
                Item::Odd(i) => {
                    let odd = self.odd.get(*i).map(Vec::as_slice).unwrap_or_default();
                    let comma = if odd.is_empty() { b"" } else { comma(&mut first) };
                    [comma, odd, b"", b"", b"", b"", b"", b""]
                }
            }
        });
        std::iter::once(&b"["[..]).chain(pieces).chain([b"]".as_slice()])
    }
}

/// Reads valid JSON only, and of that only what is plain: every method gives `None` for all else.
struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    /// The names of one list: the room is used again.
    names: Vec<&'t [u8]>,
    facts: Facts,
}

impl<'t> Reader<'t> {
    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte that is no space.
    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    #[inline(always)]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// What stands between the quotes of a string; escapes are checked, and left as they are.
    #[inline(always)]
    fn string(&mut self) -> Option<&'t [u8]> {
        let start = self.at + 1;
        self.take(b'"')?;
        loop {
            let found = find_special(self.bytes, self.at);
            if *self.bytes.get(found)? == b'"' {
                self.at = found + 1;
                return self.bytes.get(start..found);
            }
            self.escape(found)?;
        }
    }

    #[inline(never)]
    fn escape(&mut self, start: usize) -> Option<()> {
        let rest = self.bytes.get(start..)?;
        self.at = start + 2;
        match rest {
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Some(()),
            // Halves of a pair are looked at elsewhere.
            [b'\\', b'u', b'd' | b'D', ..] => None,
            [b'\\', b'u', digits @ ..] => {
                self.at += 4;
                digits.get(..4)?.iter().all(u8::is_ascii_hexdigit).then_some(())
            }
            // A raw control character.
            _ => None,
        }
    }

    /// A string without escapes.
    #[inline(always)]
    fn word(&mut self) -> Option<&'t [u8]> {
        let start = self.at + 1;
        self.take(b'"')?;
        let end = find_special(self.bytes, start);
        self.at = end + 1;
        (*self.bytes.get(end)? == b'"').then(|| self.bytes.get(start..end)).flatten()
    }

    /// The members of an object, each handed to `member` with the place at the value.
    #[inline(always)]
    fn object(&mut self, mut member: impl FnMut(&mut Self, &'t [u8]) -> Option<()>) -> Option<()> {
        self.items(b'{', b'}', |reader| {
            let key = reader.word()?;
            (reader.next()? == b':').then(|| reader.at += 1)?;
            reader.next()?;
            member(reader, key)
        })
    }

    #[inline(always)]
    fn list(&mut self, item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.items(b'[', b']', item)
    }

    #[inline(always)]
    fn items(&mut self, open: u8, close: u8, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(open)?;
        if self.next()? == close {
            self.at += 1;
            return Some(());
        }
        loop {
            item(self)?;
            let byte = self.next()?;
            self.at += 1;
            if byte != b',' {
                return (byte == close).then_some(());
            }
            self.next()?;
        }
    }

    /// Any value.
    fn skip(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' if depth < MAX_DEPTH => self.object(|reader, _| reader.skip(depth + 1)),
            b'[' if depth < MAX_DEPTH => self.list(|reader| reader.skip(depth + 1)),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.number().map(drop),
        }
    }

    fn literal(&mut self, word: &str) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    /// A number; `true` if it is of digits alone.
    fn number(&mut self) -> Option<bool> {
        let digits = |reader: &mut Self| {
            let start = reader.at;
            while matches!(reader.peek(), Some(b'0'..=b'9')) {
                reader.at += 1;
            }
            (reader.at > start).then_some(())
        };
        let mut plain = self.take(b'-').is_none();
        if self.take(b'0').is_none() {
            digits(self)?;
        }
        if self.take(b'.').is_some() {
            plain = false;
            digits(self)?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            plain = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            digits(self)?;
        }
        Some(plain)
    }

    /// One item of the list; where it is, if it is not plain.
    fn item(&mut self, odd: &mut Vec<Range<usize>>) -> Option<Item> {
        let (start, facts) = (self.at, self.facts);
        if let Some(tool) = self.tool() {
            return Some(Item::Plain(tool));
        }
        (self.at, self.facts) = (start, facts);
        self.skip(0)?;
        odd.push(start..self.at);
        Some(Item::Odd(odd.len() - 1))
    }

    fn tool(&mut self) -> Option<PlainTool> {
        let mut found = [false; 3];
        let mut tool = PlainTool::default();
        let mut wrapped = None;
        self.object(|reader, key| match field(key)? {
            Field::Function => {
                let whole = wrapped.is_none().then(|| reader.function()).flatten()?;
                wrapped = Some(whole);
                Some(())
            }
            _ => reader.field(key, &mut tool, &mut found),
        })?;
        match (wrapped, found) {
            (Some(tool), [false, false, false]) => Some(tool),
            (None, [true, _, true]) => Some(tool),
            _ => None,
        }
    }

    fn function(&mut self) -> Option<PlainTool> {
        let mut found = [false; 3];
        let mut tool = PlainTool::default();
        self.object(|reader, key| reader.field(key, &mut tool, &mut found))?;
        matches!(found, [true, _, true]).then_some(tool)
    }

    /// One member of a declaration; `found` says whether name, description and schema are known already.
    fn field(&mut self, key: &[u8], tool: &mut PlainTool, found: &mut [bool; 3]) -> Option<()> {
        let [name, description, schema] = found;
        let start = self.at;
        let seen = match field(key)? {
            Field::Name => {
                let word = self.word()?;
                tool.name = start..self.at;
                is_safe(word).then_some(name)?
            }
            Field::Description => {
                let text = self.string()?;
                self.facts.description(text.len());
                tool.description = (!text.is_empty()).then_some(start..self.at);
                description
            }
            Field::Schema => {
                self.schema(0)?;
                tool.schema = start..self.at;
                schema
            }
            Field::Function => return None,
            Field::Mcp | Field::Other => return self.skip(0),
        };
        // Said twice: which one counts is not decided here.
        (!std::mem::replace(seen, true)).then_some(())
    }

    fn schema(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut seen = Seen::default();
        self.object(|reader, key| {
            let wanted = want(key)?;
            if depth == 0 && !at_root(wanted, key) {
                return None;
            }
            seen.note(wanted);
            match wanted {
                Want::Type => {
                    let known = std::mem::replace(&mut seen.types, reader.types()?);
                    (known == 0).then_some(())
                }
                Want::Properties => reader.object(|reader, name| {
                    reader.facts.property(name);
                    reader.schema(depth + 1)
                }),
                Want::Schema => reader.schema(depth + 1),
                Want::SchemaOrFlag if reader.peek()? == b'{' => reader.schema(depth + 1),
                Want::Branches => {
                    let mut any = false;
                    reader.list(|reader| {
                        any = true;
                        reader.schema(depth + 1)
                    })?;
                    any.then_some(())
                }
                Want::Names => {
                    reader.names.clear();
                    reader.list(|reader| {
                        let name = reader.word()?;
                        let new = reader.names.len() < FEW && !reader.names.contains(&name);
                        reader.names.push(name);
                        new.then_some(())
                    })
                }
                Want::Literals => (reader.peek()? == b'[').then(|| reader.skip(0)).flatten(),
                Want::Text => reader.string().map(drop),
                Want::Flag | Want::SchemaOrFlag => match reader.peek()? {
                    b't' => reader.literal("true"),
                    _ => reader.literal("false"),
                },
                Want::Number => reader.number().map(drop),
                Want::Size => reader.number().filter(|plain| *plain).map(drop),
                Want::Anything => reader.skip(0),
            }
        })?;
        seen.complete(depth == 0).then_some(())
    }

    fn types(&mut self) -> Option<u8> {
        if self.peek()? == b'"' {
            return type_bit(self.word()?);
        }
        let mut types = 0;
        self.list(|reader| {
            let bit = type_bit(reader.word()?)?;
            let new = types & bit == 0;
            types |= bit;
            new.then_some(())
        })?;
        (types != 0).then_some(types)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ToolSet;
    use crate::schema::convert::Format;
    use proptest::prelude::*;
    use serde_json::Value;

    fn both(text: &str) -> (Option<Value>, Value) {
        both_for(text, Format::OpenAi)
    }

    fn both_for(text: &str, format: Format) -> (Option<Value>, Value) {
        let items: Value = serde_json::from_str(text).expect("JSON");
        let items = match items {
            Value::Array(items) => items,
            one => vec![one],
        };
        let set = ToolSet::from_values(&items).expect("tools");
        let target = Target::new(format);
        let slow = set.declarations(&set.to(&target)).to_value();
        let fast = PlainTools::read(text).and_then(|tools| {
            let written = tools.declarations(text.as_bytes(), &target)?;
            Some(written.pieces().collect::<Vec<_>>().concat())
        });
        (fast.map(|json| serde_json::from_slice(&json).expect("JSON")), slow)
    }

    #[test]
    fn plain_tools_are_wrapped_as_they_are() {
        for schema in [
            r#"{"type":"object","properties":{}}"#,
            r#"{ "properties" : {"a":{"type":["string","null"],"default":null}, "b":{}} , "type":"object" }"#,
            r#"{"type":"object","properties":{"x y":{"type":"array","items":{"anyOf":[{"type":"number"}]}}}}"#,
            r#"{"type":"object","properties":{"a":{"enum":[1,"\u00e9\n",null],"minimum":-1.5e3}},"required":["a"]}"#,
        ] {
            for text in [
                format!(r#"[{{"name":"a","description":"\"é\"","inputSchema":{schema}}}]"#),
                format!(r#"{{"tools":[{{"title":"T","inputSchema":{schema},"name":"b"}}],"nextCursor":"x"}}"#),
                format!(r#"[{{"type":"function","function":{{"name":"c","parameters":{schema}}}}}]"#),
            ] {
                let (fast, slow) = both(&text);
                assert_eq!(fast, Some(slow), "{text}");
            }
        }
    }

    #[test]
    fn every_wrapper_is_the_same_from_all_writers() {
        let text = r#"[{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{}}}},
            {"name":"b","inputSchema":{"type":"object","properties":{}}}]"#;
        let mut wrapped = Vec::new();
        for name in Format::names() {
            let format = Target::named(name).expect("a name").format;
            let (fast, slow) = both_for(text, format);
            if fast.is_some() && !wrapped.contains(&format) {
                wrapped.push(format);
            }
            assert!(fast.is_none_or(|fast| fast == slow), "{name}");
        }
        assert!(wrapped.len() >= 7, "{wrapped:?}");
    }

    /// `odd` between plain tools.
    fn among(odd: &str) -> String {
        let schema = r#"{"type":"object","properties":{}}"#;
        let plain = |i: usize| format!(r#"{{"name":"plain_{i}","inputSchema":{schema}}}"#);
        format!(
            "[{},{odd},{},{},{odd_2}]",
            plain(0),
            plain(1),
            plain(2),
            odd_2 = (3..9).map(plain).collect::<Vec<_>>().join(",")
        )
    }

    #[test]
    fn what_is_not_plain_between_plain_tools_goes_the_long_way_alone() {
        for odd in [
            r#"{"name":"a"}"#,
            r#"{"name":"a.b","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a b"},{"name":"a_b"}"#,
            r##"{"name":"a","inputSchema":{"properties":{"x":{"$ref":"#/$defs/y"}},"$defs":{"y":{"type":"integer"}}}}"##,
            r#"{"name":"a","enabled":false}"#,
            r#"{"tools":[{"name":"a"},{"name":"b"}]}"#,
            r#"{"name":"a","parameters":{"type":"OBJECT","properties":{"x":{"type":"STRING","nullable":true}}}}"#,
            r#"{"no":"name"}"#,
        ] {
            let text = among(odd);
            assert!(PlainTools::read(&text).is_some(), "{text}");
            let (fast, slow) = both(&text);
            assert_eq!(fast, Some(slow), "{text}");
        }
        // The name is a plain tool's, or would be spelt like one.
        for odd in [r#"{"name":"plain_1"}"#, r#"{"name":"plain.1"}"#, r#"{"name":"a"},{"name":"a","description":"b"}"#]
        {
            assert!(PlainTools::read(&among(odd)).is_none(), "{odd}");
        }
    }

    #[test]
    fn what_has_to_be_rewritten_is_not_plain() {
        for schema in [
            r#"{"type":"object"}"#,
            r#"{"properties":{}}"#,
            r#"{"type":"object","properties":{"a":true}}"#,
            r#"{"type":"object","properties":{"a":{"type":"array"}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"float"}}}"#,
            r#"{"type":"object","properties":{"a":{"nullable":true}}}"#,
            r##"{"type":"object","properties":{"a":{"$ref":"#"}}}"##,
            r#"{"type":"object","properties":{},"anyOf":[{}]}"#,
            r#"{"type":"object","properties":{},"required":["a","a"]}"#,
        ] {
            let text = format!(r#"[{{"name":"a","inputSchema":{schema}}}]"#);
            assert!(PlainTools::read(&text).is_none(), "{text}");
        }
        let schema = r#"{"type":"object","properties":{}}"#;
        for text in [
            format!(r#"[{{"name":"a.b","inputSchema":{schema}}}]"#),
            format!(r#"[{{"name":"a","inputSchema":{schema}}},{{"name":"a","inputSchema":{schema}}}]"#),
            format!(r#"[{{"name":"a","name":"b","inputSchema":{schema}}}]"#),
            format!(r#"[{{"name":"a","enabled":false,"inputSchema":{schema}}}]"#),
            r#"[{"name":"a"}]"#.to_owned(),
            format!(r#"[{{"name":"a","inputSchema":{schema}}}"#),
            format!(r#"[{{"name":"a","inputSchema":{schema}}}] x"#),
            format!(r#"[{{"name":"a","x":01,"inputSchema":{schema}}}]"#),
            format!(r#"[{{"name":"a","x":"\ud800","inputSchema":{schema}}}]"#),
            format!("[{{\"name\":\"a\",\"x\":\"\n\",\"inputSchema\":{schema}}}]"),
            format!(r#"[{{"name":"a","x":{}1{},"inputSchema":{schema}}}]"#, "[".repeat(99_999), "]".repeat(99_999)),
            "[]".to_owned(),
            String::new(),
        ] {
            assert!(PlainTools::read(&text).is_none(), "{text}");
        }
    }

    const SAMPLE: &str = r##"{"tools": [{"name": "ab", "title": "T", "description": "x\n\u00e9\"", "inputSchema": {
        "type": "object", "properties": {"p": {"type": ["array", "null"], "items": {"anyOf": [{"enum": [1, null]}, {}]},
        "minItems": 0, "default": [-1.5e+3, {"k": false}]}, "q r": {"type": "string", "maxLength": 12}}, "required": ["p"],
        "additionalProperties": false}}, {"type": "function", "function": {"name": "cd", "parameters": {"type": "object",
        "properties": {"n": {"type": "number", "minimum": 0.5, "uniqueItems": true}}}}},
        {"name": "e1", "inputSchema": {"type": "object", "properties": {}}},
        {"name": "e2", "inputSchema": {"type": "object", "properties": {}}},
        {"name": "e3", "inputSchema": {"type": "object", "properties": {}}},
        {"name": "e4", "inputSchema": {"type": "object", "properties": {}}}], "nextCursor": "c"}"##;

    proptest! {
        /// One byte, or a few, are changed: what is still called plain is JSON, and means what the careful reading says.
        #[test]
        fn what_is_called_plain_is_read_alike(
            at in 0..SAMPLE.len(),
            cut in 0_usize..4,
            with in prop::sample::select(vec![
                "", "\"", "\\", "{", "}", "[", "]", ",", ":", " ", "0", "1", "-", ".", "e", "null", "true", "\n", "x", "é",
                "\"type\":", "\"a\":1,", "{},", "\\u", "$ref",
            ]),
        ) {
            let mut text = SAMPLE.to_owned();
            let end = (at + cut).min(text.len());
            prop_assume!(text.is_char_boundary(at) && text.is_char_boundary(end));
            text.replace_range(at..end, with);
            if PlainTools::read(&text).is_some() {
                let (fast, slow) = both(&text);
                prop_assert_eq!(fast, Some(slow));
            }
        }
    }
}
