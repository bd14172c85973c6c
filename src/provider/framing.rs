//! Where one payload ends and the next begins, in the bytes of a streamed answer.
//!
//! Server-sent events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>), one JSON value a line
//! (Ollama), one JSON array over the whole stream (Gemini without `alt=sse`) and AWS's binary frames (Bedrock) are told apart by
//! their first bytes.
//! This is framing of bytes that were handed to us; connections and retries are the caller's.
use super::event_stream::{Cut, cut};
use crate::json::{ScanResult, Scanner};

/// Nothing a model answers is longer: at such a frame the stream is given up.
const MAX_FRAME_BYTES: usize = 64 << 20;

/// How the payloads of a stream are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// Nothing but white space was seen yet.
    Unknown,
    /// Server-sent events.
    Events,
    /// One JSON value a line, or values one after another.
    Lines,
    /// One JSON array whose items are the payloads.
    Array,
    /// AWS's event stream.
    Binary,
    /// None of them: HTML, plain text.
    Foreign,
}

/// One frame of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// A payload's bytes, and the SSE event's name (empty if it has none).
    Data { event: &'a str, data: &'a [u8] },
    /// `data: [DONE]`
    Done,
    /// A comment, without its colon: servers send them to keep a connection alive.
    Comment(&'a [u8]),
}

/// Cuts the bytes of a stream into frames, however they are cut on the way.
#[derive(Debug, Clone)]
pub(crate) struct Splitter {
    framing: Framing,
    buffer: Vec<u8>,
    /// Before this, `buffer` has no line end (or, for JSON values, is read).
    searched: usize,
    scanner: Scanner,
    event: String,
    data: Vec<u8>,
    has_data: bool,
    limit: usize,
    overflow: bool,
}

impl Default for Splitter {
    fn default() -> Self {
        Self::new(MAX_FRAME_BYTES)
    }
}

impl Splitter {
    /// `limit`: the most bytes of a frame.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            framing: Framing::Unknown,
            buffer: Vec::new(),
            searched: 0,
            scanner: Scanner::new(0, 512),
            event: String::new(),
            data: Vec::new(),
            has_data: false,
            limit,
            overflow: false,
        }
    }

    /// Takes more bytes and hands every frame they complete to `each`; behind a frame that is too long, nothing.
    pub(crate) fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(Frame<'_>)) {
        self.take(bytes, each);
        // Half of a line's end may wait in the buffer.
        if self.overflow || self.buffer.len() > self.limit.saturating_add(1) {
            self.give_up();
        }
    }

    /// What comes behind a hole would be read as if it stood where the hole is.
    fn give_up(&mut self) {
        (self.buffer, self.data, self.has_data) = (Vec::new(), Vec::new(), false);
        self.overflow = true;
    }

    fn take(&mut self, bytes: &[u8], each: &mut dyn FnMut(Frame<'_>)) {
        if self.overflow {
            return;
        }
        // Who reads lines (`iter_lines`) hands them over without their ends.
        let lines = !matches!(self.framing, Framing::Lines | Framing::Array | Framing::Binary);
        if lines && !self.buffer.is_empty() && is_other_field(&self.buffer) && begins_line(&self.buffer, bytes) {
            self.take(b"\n", each);
        }
        if is_whole_line(bytes) && (self.buffer.is_empty() && self.framing != Framing::Lines) {
            self.framing = Framing::Events;
            self.line(bytes, each);
            return self.dispatch(each);
        }
        // The usual case costs no copy of the bytes: whole events in one chunk.
        if self.framing == Framing::Events && self.buffer.is_empty() {
            let used = self.events(bytes, each);
            self.buffer.extend_from_slice(bytes.get(used..).unwrap_or_default());
            return;
        }
        self.buffer.extend_from_slice(bytes);
        self.drain(each);
    }

    fn drain(&mut self, each: &mut dyn FnMut(Frame<'_>)) {
        if self.framing == Framing::Unknown {
            self.framing = sniff(&self.buffer);
        }
        match self.framing {
            Framing::Unknown | Framing::Foreign => {}
            Framing::Events => {
                let buffer = std::mem::take(&mut self.buffer);
                let used = self.events(&buffer, each);
                self.buffer = buffer;
                self.buffer.drain(..used);
            }
            Framing::Lines | Framing::Array => self.values(each),
            Framing::Binary => self.binary(each),
        }
    }

    /// Hands out each binary frame as an object with the frame's type as its only member; one without a type says nothing.
    fn binary(&mut self, each: &mut dyn FnMut(Frame<'_>)) {
        let mut from = 0;
        loop {
            match cut(self.buffer.get(from..).unwrap_or_default()) {
                Cut::NeedMore => break,
                // Where the next frame begins is lost.
                Cut::Broken => {
                    self.framing = Framing::Foreign;
                    break;
                }
                Cut::Frame { size, kind, payload } => {
                    if let Some(kind) = kind {
                        self.data.extend_from_slice(format!("{{\"{kind}\":").as_bytes());
                        self.data.extend_from_slice(payload);
                        self.data.push(b'}');
                        each(Frame::Data { event: "", data: &self.data });
                        self.data.clear();
                    }
                    from += size;
                }
            }
        }
        self.buffer.drain(..from);
    }

    /// The end of the stream: an event without its blank line still counts. Returns what no frame could be made of.
    pub(crate) fn finish(&mut self, each: &mut dyn FnMut(Frame<'_>)) -> Vec<u8> {
        if self.overflow {
            return Vec::new();
        }
        if self.framing == Framing::Events {
            let buffer = std::mem::take(&mut self.buffer);
            if !buffer.is_empty() {
                self.line(buffer.strip_suffix(b"\r").unwrap_or(&buffer), each);
            }
            self.dispatch(each);
            return Vec::new();
        }
        let rest = std::mem::take(&mut self.buffer);
        if rest.iter().all(|b| b.is_ascii_whitespace() || matches!(b, b',' | b']')) { Vec::new() } else { rest }
    }

    /// A frame was too long, and the stream was not read on.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflow
    }

    /// Reads the whole lines of `bytes`; how many bytes that were.
    fn events(&mut self, bytes: &[u8], each: &mut dyn FnMut(Frame<'_>)) -> usize {
        let (mut from, mut search) = (0, self.searched.min(bytes.len()));
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes.get(search..).unwrap_or_default()) {
            let end = search + end;
            let mut next = end + 1;
            if bytes.get(end) == Some(&b'\r') {
                match bytes.get(next) {
                    Some(b'\n') => next += 1,
                    Some(_) => {}
                    // Whether a line feed follows is not known yet.
                    None => break,
                }
            }
            if let Some(line) = bytes.get(from..end) {
                self.line(line, each);
            }
            if self.overflow {
                return bytes.len();
            }
            from = next;
            search = next;
        }
        self.searched = bytes.len().saturating_sub(from);
        if bytes.last() == Some(&b'\r') {
            self.searched = self.searched.saturating_sub(1);
        }
        from
    }

    fn line(&mut self, line: &[u8], each: &mut dyn FnMut(Frame<'_>)) {
        if line.is_empty() {
            return self.dispatch(each);
        }
        if line.len() > self.limit {
            return self.give_up();
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(0) => return each(Frame::Comment(line.get(1..).unwrap_or_default())),
            Some(colon) => line.split_at(colon),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    // Servers that put each JSON value on a line of its own, without blank lines between, are common
                    // enough; JSON over several lines is not, but allowed.
                    if starts_value(value) && ends_value(&self.data) {
                        self.dispatch_keeping_event(each);
                    } else {
                        self.data.push(b'\n');
                    }
                }
                if self.data.len() + value.len() > self.limit {
                    return self.give_up();
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => {
                self.event.clear();
                self.event.push_str(&String::from_utf8_lossy(value));
            }
            b"id" | b"retry" => {}
            // A line of JSON without `data:`: an error body in an event stream.
            _ if starts_value(line) => {
                each(Frame::Data { event: &self.event, data: line });
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, each: &mut dyn FnMut(Frame<'_>)) {
        self.dispatch_keeping_event(each);
        self.event.clear();
    }

    fn dispatch_keeping_event(&mut self, each: &mut dyn FnMut(Frame<'_>)) {
        if self.has_data {
            let data = self.data.trim_ascii();
            match data {
                b"[DONE]" => each(Frame::Done),
                b"" => {}
                _ => each(Frame::Data { event: &self.event, data }),
            }
        }
        self.data.clear();
        self.has_data = false;
    }

    /// Hands out the JSON values one after another; white space, and in an array brackets and commas, lie between.
    fn values(&mut self, each: &mut dyn FnMut(Frame<'_>)) {
        let mut from = 0;
        loop {
            if self.scanner.start().is_none() {
                let between = |b: &u8| b.is_ascii_whitespace() || matches!(b, b',' | b']') || *b == 0x1e;
                let skip = self.buffer.iter().skip(from).take_while(|b| between(b)).count();
                from += skip;
                if self.framing == Framing::Array && from == skip && self.buffer.get(from) == Some(&b'[') {
                    // The array's own bracket: items follow.
                    from += 1;
                    self.framing = Framing::Lines;
                    continue;
                }
                if from >= self.buffer.len() {
                    break;
                }
                self.scanner.restart(from);
            }
            match self.scanner.scan(&self.buffer, false) {
                ScanResult::Complete { end } if end - from > self.limit => return self.give_up(),
                ScanResult::Complete { end } => {
                    if let Some(data) = self.buffer.get(from..end) {
                        each(Frame::Data { event: "", data });
                    }
                    from = end;
                    self.scanner.restart(from);
                }
                ScanResult::Incomplete => break,
                ScanResult::Error { .. } => {
                    // A line that is no JSON: hand it on as it is, so that it is reported, and go on with the next.
                    let rest = self.buffer.get(from..).unwrap_or_default();
                    let Some(end) = memchr::memchr(b'\n', rest) else {
                        self.scanner.restart(0);
                        break;
                    };
                    if end > self.limit {
                        return self.give_up();
                    }
                    each(Frame::Data { event: "", data: rest.get(..end).unwrap_or_default() });
                    from += end + 1;
                    self.scanner.restart(from);
                }
            }
        }
        if from > 0 {
            self.buffer.drain(..from);
            // What was scanned of the open value is scanned again, once for each chunk that completes another value.
            self.scanner.restart(0);
        }
    }
}

fn is_field(bytes: &[u8]) -> bool {
    [&b"data:"[..], b"event:", b"id:", b"retry:", b":"].iter().any(|name| bytes.starts_with(name))
}

/// `bytes` are a line behind the one in `buffer`. The name of an event, and a comment, may be cut before a colon, so that a comment does
/// not count there.
fn begins_line(buffer: &[u8], bytes: &[u8]) -> bool {
    let cut = buffer.starts_with(b"event:") || buffer.starts_with(b":");
    is_field(bytes) && !(cut && bytes.starts_with(b":"))
}

/// A line of an event that holds no payload, so far.
fn is_other_field(buffer: &[u8]) -> bool {
    is_field(buffer) && !buffer.starts_with(b"data:") && memchr::memchr2(b'\n', b'\r', buffer).is_none()
}

/// A `data` line without its end, but with a whole payload.
fn is_whole_line(bytes: &[u8]) -> bool {
    let Some(data) = bytes.strip_prefix(b"data:") else { return false };
    let data = data.trim_ascii();
    if memchr::memchr2(b'\n', b'\r', bytes).is_some() || !matches!(data.last(), Some(b'}' | b']')) {
        return false;
    }
    data == b"[DONE]"
        || matches!(Scanner::new(0, 512).scan(data, true), ScanResult::Complete { end } if end == data.len())
}

fn starts_value(bytes: &[u8]) -> bool {
    matches!(bytes.trim_ascii_start().first(), Some(b'{')) || bytes.trim_ascii() == b"[DONE]"
}

fn ends_value(bytes: &[u8]) -> bool {
    matches!(bytes.trim_ascii_end().last(), Some(b'}'))
}

/// What the first bytes say.
fn sniff(bytes: &[u8]) -> Framing {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    match bytes.first() {
        None => Framing::Unknown,
        Some(b'{' | 0x1e) => Framing::Lines,
        Some(b'[') => Framing::Array,
        Some(b'<') => Framing::Foreign,
        // The length of a frame: less than 16 MB, the highest byte first.
        Some(0) => Framing::Binary,
        Some(b':') => Framing::Events,
        Some(_) => {
            let known = [&b"data:"[..], b"event:", b"id:", b"retry:", b"data", b"event", b"id", b"retry"];
            if known[..4].iter().any(|name| bytes.starts_with(name)) {
                Framing::Events
            } else if known.iter().any(|name| name.starts_with(bytes) || bytes == *name) {
                Framing::Unknown
            } else {
                Framing::Foreign
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8], size: usize) -> Vec<String> {
        let mut splitter = Splitter::default();
        let mut out = Vec::new();
        let mut push = |frame: Frame<'_>| {
            out.push(match frame {
                Frame::Done => "done".to_owned(),
                Frame::Comment(comment) => format!(":{}", String::from_utf8_lossy(comment)),
                Frame::Data { event, data } => format!("{event}|{}", String::from_utf8_lossy(data)),
            });
        };
        for chunk in bytes.chunks(size) {
            splitter.feed(chunk, &mut push);
        }
        let rest = splitter.finish(&mut push);
        if !rest.is_empty() {
            out.push(format!("rest {}", String::from_utf8_lossy(&rest)));
        }
        out
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        for size in 1..=text.len().max(1) {
            assert_eq!(frames(text.as_bytes(), size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn events_in_all_their_spellings() {
        check(
            ": hello\n\nevent: a\ndata: {\"x\":1}\n\ndata:{\"y\":\"é\"}\r\n\r\nid: 3\ndata: {\ndata: \"z\":1}\n\ndata: [DONE]\n\n",
            &[": hello", "a|{\"x\":1}", "|{\"y\":\"é\"}", "|{\n\"z\":1}", "done"],
        );
    }

    #[test]
    fn an_event_needs_no_blank_line_at_the_end_nor_between_values() {
        check("data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]", &["|{\"a\":1}", "|{\"b\":2}", "done"]);
        check("data: {\"a\":1}\r\rdata: {\"b\":2}\r", &["|{\"a\":1}", "|{\"b\":2}"]);
    }

    #[test]
    fn lines_and_arrays_of_json() {
        check("{\"a\":\"}\"}\n{\"b\":[1,2]}", &["|{\"a\":\"}\"}", "|{\"b\":[1,2]}"]);
        check(" [{\"a\":1},\r\n{\"b\":2}]\n", &["|{\"a\":1}", "|{\"b\":2}"]);
        check("{\"a\":1}\n{\"b\":", &["|{\"a\":1}", "rest {\"b\":"]);
        check("{oops}\n{\"b\":1}\n", &["|{oops}", "|{\"b\":1}"]);
    }

    #[test]
    fn binary_frames_are_objects_of_their_type() {
        let frame = |kind: &str, payload: &str| {
            let header =
                [b"\x0b:event-type\x07\x00", &[u8::try_from(kind.len()).unwrap()][..], kind.as_bytes()].concat();
            let size = u32::try_from(12 + header.len() + payload.len() + 4).unwrap();
            let length = u32::try_from(header.len()).unwrap();
            [&size.to_be_bytes()[..], &length.to_be_bytes(), &[0; 4], &header, payload.as_bytes(), &[0; 4]].concat()
        };
        let stream = [frame("messageStart", r#"{"role":"assistant"}"#), frame("metadata", "{}")].concat();
        for size in 1..=stream.len() {
            assert_eq!(frames(&stream, size), ["|{\"messageStart\":{\"role\":\"assistant\"}}", "|{\"metadata\":{}}"]);
        }
        let cut_off = frames(&stream[..stream.len() - 1], 7);
        assert!(cut_off[1].starts_with("rest "), "{cut_off:?}");
    }

    #[test]
    fn lines_may_come_without_their_ends() {
        let lines =
            [": hello", "", "event: a", "data: {\"a\":1}", "", "event: b", "data: {\"b\":2}", "", "data: [DONE]"];
        let mut splitter = Splitter::default();
        let mut out = Vec::new();
        let mut push = |frame: Frame<'_>| out.push(format!("{frame:?}"));
        for line in lines {
            splitter.feed(line.as_bytes(), &mut push);
        }
        assert!(splitter.finish(&mut push).is_empty());
        assert_eq!(out.len(), 4, "{out:?}");
        assert!(out[2].contains("event: \"b\""), "{out:?}");
    }

    #[test]
    fn behind_a_frame_that_is_too_long_nothing_is_read() {
        let long = format!("{{\"x\":\"{}\"}}", "y".repeat(40));
        let value = "{\"a\":1}";
        let lines = "\"pppppppppppppppppppp\",";
        let streams = [
            format!("data: {value}\n\ndata: {long}\n\ndata: {value}\n\n"),
            format!("data: {value}\n\n: {long}\n\ndata: {value}\n\n"),
            // One frame over several lines, each of them short.
            format!("data: {value}\n\ndata: [{lines}\ndata: {lines}\ndata: {lines}1]\n\ndata: {value}\n\n"),
            format!("{value}\n{long}\n{value}\n"),
            format!("{value}\n{{oops {long}\n{value}\n"),
            format!("[{value},{long},{value}]"),
        ];
        for stream in streams {
            for size in 1..=stream.len() {
                let mut splitter = Splitter::new(40);
                let mut out = Vec::new();
                let mut push = |frame: Frame<'_>| out.push(format!("{frame:?}"));
                stream.as_bytes().chunks(size).for_each(|chunk| splitter.feed(chunk, &mut push));
                assert!(splitter.overflowed(), "{stream} in pieces of {size}");
                assert!(splitter.finish(&mut push).is_empty(), "{stream} in pieces of {size}");
                assert_eq!(out.len(), 1, "{stream} in pieces of {size}: {out:?}");
                assert!(splitter.buffer.capacity() == 0 && splitter.data.is_empty());
            }
        }
        // Many short frames in one chunk are none that is long.
        let mut splitter = Splitter::new(40);
        let mut count = 0;
        splitter.feed(format!("data: {value}\n\n").repeat(100).as_bytes(), &mut |_| count += 1);
        assert_eq!((count, splitter.overflowed()), (100, false));
    }

    #[test]
    fn what_is_no_stream_is_handed_back() {
        check("<html><body>502</body></html>", &["rest <html><body>502</body></html>"]);
        check("upstream timeout", &["rest upstream timeout"]);
        check("", &[]);
    }
}
