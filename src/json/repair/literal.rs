//! One literal of a call's arguments.
use super::lookahead::skip_white;
use super::machine::Repairer;
use super::output::Written;
use super::{Literal, LiteralOptions};

/// Reads the one Python or JSON literal that begins at byte `at` of `text`, white space before it aside, as JSON: a
/// string with any quotes or prefix, a number, `True`, `None`, a list, tuple, set or dict, nested.
///
/// `None` if there is no literal, or it is nested too deep. It ends where its value ends; whether what follows may
/// follow is the caller's to judge. Doubtful quotes are settled by [`LiteralOptions::stops`].
///
/// ```
/// use toolglot::json::{LiteralOptions, literal};
///
/// let text = "send(text='It's fine, isn't it?', to=('a', None))";
/// let read = literal(text, 10, &LiteralOptions::default()).unwrap();
/// assert_eq!(read.json, r#""It's fine, isn't it?""#);
/// assert_eq!(&text[read.end..read.end + 5], ", to=");
/// assert_eq!(literal(text, 37, &LiteralOptions::default()).unwrap().json, r#"["a", null]"#);
/// ```
pub fn literal<'a>(text: &'a str, at: usize, options: &LiteralOptions<'a>) -> Option<Literal<'a>> {
    let start = skip_white(text.as_bytes(), at);
    text.get(start..)?;
    let mut repairer = Repairer::new(text, start, options.max_depth);
    repairer.as_argument(options.stops, options.source_text);
    let end = repairer.value(start).ok()?;
    if !repairer.found {
        return None;
    }
    let guessed = repairer.guessed.get();
    let Written { json, repairs, .. } = repairer.out.finish(end.at);
    Some(Literal { json, end: end.at, repairs, ending: end.ending, guessed })
}
