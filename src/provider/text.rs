//! The one place where this room meets the engine: reading text that may hold calls.
use super::Reading;
use crate::turn::{Event, Turn};

/// Reads an answer's text as it comes.
#[derive(Debug, Default)]
pub(super) struct TextReader {
    content: String,
}

impl TextReader {
    /// `calls` false: markers are markers of reasoning at most, and every call stays text.
    pub(super) fn new(_reading: &Reading, _calls: bool) -> Self {
        Self::default()
    }

    pub(super) fn feed(&mut self, text: &str, events: &mut Vec<Event>) {
        self.content.push_str(text);
        events.push(Event::Text(text.to_owned()));
    }

    pub(super) fn finish(self, _events: &mut Vec<Event>) -> Turn<'static> {
        Turn { content: self.content.into(), ..Turn::default() }
    }
}

/// Reads a whole text: reasoning that may be a call, or what an error body quotes.
pub(super) fn read(text: &str, reading: &Reading, events: &mut Vec<Event>) -> Turn<'static> {
    let mut reader = TextReader::new(reading, true);
    reader.feed(text, events);
    reader.finish(events)
}
