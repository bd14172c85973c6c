//! A tool's result that the model writes itself behind its call: it goes into an issue whole.
use super::trace::Noted;
use super::{Engine, Look, Reader, State, Step, head};
use crate::dialect::ResultMarks;
use crate::turn::{Issue, IssueCode};

impl Engine {
    /// Reads the result that began at `at` to its end, or to the end of the text.
    pub(super) fn invented(&mut self, cx: &Reader<'_>, result: u16, at: usize, searched: usize) -> Step {
        let Some(marks) = cx.dialects.results.get(usize::from(result)) else { return Step::Go };
        let end = match if marks.close.is_empty() { line_end(cx, marks, searched) } else { closed(cx, marks, searched) }
        {
            Ok(end) => end,
            Err(_) if cx.eof => cx.text.len(),
            Err(searched) => {
                self.state = State::Invented { result, at, searched };
                return Step::More;
            }
        };
        // With nothing in it, it is where the model was to stop.
        if !cx.slice(at + marks.open.len(), end).trim_ascii().is_empty() {
            let message = format!("the model wrote a tool's result itself: {}", cx.slice(at, end));
            self.out.issue(Issue::at(IssueCode::InventedResult, at, message));
        }
        self.out.trace.note(at..end, Noted::Result);
        self.from = end;
        self.at = end;
        Step::Go
    }
}

/// Where the result ends, behind its closing marker; else how far that has been looked for.
fn closed(cx: &Reader<'_>, marks: &ResultMarks, searched: usize) -> Result<usize, usize> {
    let rest = cx.bytes().get(searched..).unwrap_or_default();
    if let Some(i) = memchr::memmem::find(rest, marks.close.as_bytes()) {
        return Ok(searched + i + marks.close.len());
    }
    let mut next = cx.text.len().saturating_sub(marks.close.len()).max(searched);
    while !cx.text.is_char_boundary(next) {
        next -= 1;
    }
    Err(next.max(searched))
}

/// Where a line begins with what ends such a text; else how far that has been looked for.
fn line_end(cx: &Reader<'_>, marks: &ResultMarks, searched: usize) -> Result<usize, usize> {
    let rest = cx.bytes().get(searched..).unwrap_or_default();
    for line in memchr::memchr_iter(b'\n', rest).map(|i| searched + i + 1) {
        for stop in &marks.ends {
            match head::literal(cx, line, stop) {
                Look::Is(_) => return Ok(line),
                Look::More => return Err(line - 1),
                Look::No => {}
            }
        }
    }
    Err(cx.text.len())
}
