//! What the text itself calls an example: the sentence before it ends in a colon and says so.
use crate::engine::reader::floor;
use crate::engine::{Engine, Reader};

/// What says that an example follows, in the languages that models answer in most.
const SAYS: [&str; 31] = [
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
    "przykład",
    "contoh",
    "örnek",
    "مثال",
    "उदाहरण",
];

/// As above, in languages that do not part words, or glue others to them.
const SAYS_UNPARTED: [&str; 11] =
    ["例如", "比如", "示例", "举例", "舉例", "例子", "範例", "たとえば", "例えば", "예를 들어", "예시"];

/// What says so as a heading of its own.
const HEADINGS: [&str; 3] = ["usage", "syntax", "signature"];

/// A longer sentence is not looked through, and further behind an example is another paragraph.
const NEAR: usize = 1024;

impl Engine {
    /// What stands at `at` without a marker is an example, or goes on one in the same paragraph.
    pub(super) fn is_example(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let goes_on = |example: usize| at - example <= NEAR && !cx.slice(example, at).contains("\n\n");
        let is = self.example.filter(|example| *example <= at).is_some_and(goes_on) || announced(cx, at);
        if is {
            self.example = Some(at);
        }
        is
    }
}

/// The line above `at`, or what stands before it in its line, announces an example.
fn announced(cx: &Reader<'_>, at: usize) -> bool {
    let before = cx.slice(floor(cx.text, at.saturating_sub(NEAR)), at).trim_end();
    let Some(label) = before.trim_end_matches(['*', '_', ' ']).strip_suffix([':', '：']) else { return false };
    let line = label.rsplit('\n').next().unwrap_or_default();
    let sentence = [". ", "! ", "? ", "。"].iter().filter_map(|end| line.rfind(end).map(|i| i + end.len())).max();
    // "e.g. " ends no sentence, and its own does not begin behind it.
    let sentence = sentence.filter(|from| !line.get(..*from).is_some_and(|text| text.trim_end().ends_with("e.g.")));
    let sentence = line.get(sentence.unwrap_or(0)..).unwrap_or_default().to_lowercase();
    let heading = sentence.trim_matches(|c: char| !c.is_alphanumeric());
    HEADINGS.contains(&heading)
        || SAYS.iter().any(|word| holds_word(&sentence, word))
        || SAYS_UNPARTED.iter().any(|word| sentence.contains(word))
}

/// `word` stands in `sentence` for itself: `example.com` and `my_example` are names.
fn holds_word(sentence: &str, word: &str) -> bool {
    sentence.match_indices(word).any(|(at, _)| {
        let before = sentence.get(..at).and_then(|text| text.chars().next_back());
        let next = sentence.get(at + word.len()..).and_then(|text| text.chars().next());
        let alone = |c: char| c.is_whitespace() || matches!(c, '*' | '"' | '“' | '(' | '#' | ',' | ')' | '”');
        before.is_none_or(alone) && next.is_none_or(alone)
    })
}
