//! All literal markers of a set of dialects in one trie, and the search for the next place where one may begin.
use super::choice::{Choice, Numbers};
use super::late::{Late, in_word};
use super::marker::Marker;
use super::row::First;
use crate::bytes::begins;
use crate::char_class;
use aho_corasick::{Span, packed};
use std::collections::{HashMap, HashSet};

/// What stands at a place of the text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MarkersAt<'m> {
    /// No marker begins here.
    Nothing,
    /// The text ends inside what may be a marker: one that goes on so, up to a choice or its end.
    Partial(&'m [u8]),
    /// Markers end here, as (length, index into the lists); the longest last. `more` says that the text ends before
    /// it is clear that no longer one stands here.
    Some { ends: [(usize, u32); 4], count: usize, more: bool },
}

/// What one literal means.
#[derive(Debug, Clone)]
struct List {
    markers: Vec<Marker>,
    choice: Choice,
    opens_calls: bool,
    ambiguous: bool,
}

impl List {
    fn of(marker: Marker) -> Self {
        Self { markers: vec![marker], choice: Choice::of(&[], &[]), opens_calls: false, ambiguous: false }
    }
}

#[derive(Debug, Clone, Default)]
struct Node {
    /// The bytes that must stand here first: up to a choice, or the end of a marker.
    run: Vec<u8>,
    next: Vec<(u8, u32)>,
    list: Option<u32>,
    /// Where many bytes may follow: the node behind each, 0 for none.
    wide: Option<Box<[u32; 256]>>,
}

impl Node {
    /// With more bytes that may follow, they stand in a table.
    const MANY: usize = 4;

    fn widen(&mut self) {
        if self.next.len() > Self::MANY {
            let mut wide = Box::new([0; 256]);
            self.next.iter().for_each(|(byte, to)| wide[usize::from(*byte)] = *to);
            self.wide = Some(wide);
        }
    }

    fn behind(&self, byte: u8) -> Option<usize> {
        match &self.wide {
            Some(wide) => Some(wide[usize::from(byte)] as usize).filter(|to| *to > 0),
            None => self.next.iter().find(|(b, _)| *b == byte).map(|(_, to)| *to as usize),
        }
    }
}

/// A name may end in this byte, right before its parenthesis: it may be quoted, and the parenthesis escaped.
pub(crate) fn may_end_name(byte: u8) -> bool {
    char_class::IDENTIFIER.has_byte(byte) || matches!(byte, b'\'' | b'"' | b'\\')
}

/// What `byte` says, which is a stop, with the `next` one behind it; `marker` if a marker begins so.
fn pair(byte: u8, next: u8, tags: bool, marker: bool) -> Pair {
    let tag = || tags && (next.is_ascii_alphabetic() || next == b'_');
    // An object begins with a key, a list with an object, a name or a string.
    let item = || char_class::begins_key(next) || !next.is_ascii() || next.is_ascii_whitespace();
    match byte {
        b'`' => Pair::Begins,
        b'~' if next == b'~' => Pair::Begins,
        b'{' | b'[' if marker || item() || (byte, next) == (b'[', b'{') => Pair::Begins,
        b'[' if matches!(next, b'(' | b'[') => Pair::Asks,
        b'{' if next == b'{' => Pair::Asks,
        b'(' => Pair::Asks,
        // Signs in a row are many.
        b'<' if next == b'<' => Pair::Asks,
        b'<' if marker || tag() => Pair::Begins,
        b'~' | b'{' | b'[' | b'<' => Pair::Nothing,
        _ if marker => Pair::Asks,
        _ => Pair::Nothing,
    }
}

/// Literal markers and what each means.
#[derive(Debug, Clone)]
pub(crate) struct Markers {
    nodes: Vec<Node>,
    lists: Vec<List>,
    /// First bytes of markers and of what else the engine stops at.
    stops: [bool; 256],
    /// Finds them in long text, with the bytes round them that a stop needs; `None` where the processor is too plain.
    search: Option<Search>,
    /// For each first byte, the bytes that may follow it.
    seconds: Vec<(u8, Box<[bool; 256]>)>,
    /// For each byte that is a stop, what it says with the one behind it.
    pairs: Vec<[Pair; 256]>,
    /// For each byte, where in `pairs` it stands.
    pair_of: [u8; 256],
    late: Late,
    /// For each byte, whether nothing begins with it and no line ends there.
    quiet: [bool; 256],
}

/// What two bytes of the text say of the place where they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pair {
    /// Nothing begins there.
    Nothing,
    /// Something may begin there.
    Begins,
    /// The bytes round them tell.
    Asks,
}

/// A search for the stops, at the speed of the processor's widest comparison.
#[derive(Debug, Clone)]
struct Search(packed::Searcher);

impl Search {
    /// In less text than this, looking at every byte is faster.
    const WORTH: usize = 64;
    /// So many bytes are looked at before a search begins.
    const NEAR: usize = 8;
    /// With more bytes that may follow, a stop is found by its first byte alone.
    const SECONDS: usize = 8;

    fn new(markers: &Markers, also: &[u8]) -> Option<Self> {
        let searcher = packed::Searcher::new(apart(Self::patterns(markers, also)));
        searcher.filter(|searcher| searcher.minimum_len() <= Self::WORTH).map(Self)
    }

    /// What it looks for: first bytes, and where few may follow one, both.
    fn patterns(markers: &Markers, also: &[u8]) -> Vec<Vec<u8>> {
        let mut patterns: Vec<Vec<u8>> = Vec::new();
        for byte in (0..=255u8).filter(|byte| markers.stops[usize::from(*byte)]) {
            let seconds = markers.seconds.iter().find(|(first, _)| *first == byte).map(|(_, seconds)| seconds);
            let seconds: Vec<u8> = (0..=255u8).filter(|s| seconds.is_some_and(|list| list[usize::from(*s)])).collect();
            // What the engine stops at, or an anchor, need not be the first byte of a marker.
            let alone = also.contains(&byte) || markers.late.anchors().contains(&byte);
            if alone || seconds.len() > Self::SECONDS {
                patterns.push(vec![byte]);
            } else {
                patterns.extend(seconds.into_iter().map(|second| vec![byte, second]));
            }
        }
        patterns
    }

    fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        self.0.find_in(text, Span { start: from, end: text.len() }).map(|found| found.start())
    }
}

/// The `patterns` in another order. The searcher looks at each byte in two halves, and knows eight sets of them: patterns whose
/// lower halves are the same share one, and the others take the eight by turns as they come. Two in one set are found wherever the
/// lower half of one stands with the upper of the other (`l` for `<` and a backtick). So the first ones of all sets come first, and
/// those that must share one are paired so that prose has few of these bytes.
fn apart(patterns: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let shortest = patterns.iter().map(Vec::len).min().unwrap_or(0);
    let lower = |pattern: &[u8]| pattern.iter().take(shortest).map(|byte| byte & 0xf).collect::<Vec<_>>();
    let mut groups: Vec<Vec<Vec<u8>>> = Vec::new();
    for pattern in &patterns {
        match groups.iter_mut().find(|group| lower(&group[0]) == lower(pattern)) {
            Some(group) => group.push(pattern.clone()),
            None => groups.push(vec![pattern.clone()]),
        }
    }
    let surplus = groups.len().saturating_sub(SETS);
    if surplus > SETS / 2 {
        return patterns;
    }
    let (mut leaders, mut followers) = (Vec::new(), Vec::new());
    for _ in 0..surplus {
        let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
        let Some((a, b)) = pairs.min_by_key(|(a, b)| cost(groups[*a].iter().chain(&groups[*b]))) else { break };
        followers.push(groups.remove(b));
        leaders.push(groups.remove(a));
    }
    leaders.extend(groups);
    leaders.extend(followers);
    let rest: Vec<_> = leaders.iter_mut().flat_map(|group| group.drain(1..)).collect();
    leaders.into_iter().flatten().chain(rest).collect()
}

/// The searcher's sets.
const SETS: usize = 8;

/// How much is lost by the bytes at which patterns of one set are found though none begins there: most by white space, much by
/// small letters.
fn cost<'p>(patterns: impl Iterator<Item = &'p Vec<u8>> + Clone) -> usize {
    let firsts: Vec<u8> = patterns.filter_map(|pattern| pattern.first().copied()).collect();
    let halves = firsts.iter().flat_map(|upper| firsts.iter().map(move |lower| (upper & 0xf0) | (lower & 0xf)));
    let taken: HashSet<u8> = halves.filter(|byte| !firsts.contains(byte)).collect();
    let weight = |byte: &u8| match byte {
        b' ' | b'\n' | b'\t' | b'\r' => 1000,
        b'a'..=b'z' => 30,
        b'"' | b',' | b'.' | b':' | b'0'..=b'9' | b'A'..=b'Z' => 5,
        _ => 1,
    };
    taken.iter().map(weight).sum()
}

impl Markers {
    /// A trie of `entries`. Where one of the bytes `also` stands, the engine stops as well.
    pub(crate) fn new(entries: Vec<(String, Marker)>, also: &[u8]) -> Self {
        let (late, entries) = Late::split(entries);
        let mut markers = Self {
            nodes: vec![Node::default()],
            lists: Vec::new(),
            stops: [false; 256],
            search: None,
            seconds: Vec::new(),
            pairs: Vec::new(),
            pair_of: [0; 256],
            quiet: std::array::from_fn(|byte| byte != usize::from(b'\n') && !late.begins_with(byte as u8)),
            late,
        };
        let mut by_text: HashMap<String, u32> = HashMap::new();
        // Lines may end in two bytes, or behind a blank.
        let line_ends = |(text, marker): (String, Marker)| {
            let ends = if text.contains('\n') { &["\n", "\r\n", " \n", " \r\n"][..] } else { &["\n"] };
            ends.iter().map(move |end| (text.replace('\n', end), marker))
        };
        for (text, marker) in entries.into_iter().flat_map(line_ends) {
            if text.is_empty() {
                continue;
            }
            if let Some(list) = by_text.get(&text) {
                let list = &mut markers.lists[*list as usize].markers;
                if !list.contains(&marker) {
                    list.push(marker);
                }
                continue;
            }
            let list = markers.lists.len() as u32;
            markers.lists.push(List::of(marker));
            let mut node = 0usize;
            for byte in text.bytes() {
                node = match markers.nodes[node].next.iter().find(|(b, _)| *b == byte) {
                    Some((_, to)) => *to as usize,
                    None => {
                        let to = markers.nodes.len();
                        markers.nodes.push(Node::default());
                        markers.nodes[node].next.push((byte, to as u32));
                        to
                    }
                };
            }
            markers.nodes[node].list = Some(list);
            by_text.insert(text, list);
        }
        for (byte, node) in markers.nodes[0].next.clone() {
            let node = &markers.nodes[node as usize];
            // A marker of a single byte may be followed by anything.
            let mut follows = Box::new([node.list.is_some(); 256]);
            node.next.iter().for_each(|(next, _)| follows[usize::from(*next)] = true);
            markers.seconds.push((byte, follows));
        }
        let first = markers.nodes[0].next.iter().map(|(b, _)| *b).chain(also.iter().copied());
        for byte in first.chain(markers.late.anchors()).collect::<Vec<_>>() {
            markers.stops[usize::from(byte)] = true;
            markers.quiet[usize::from(byte)] = false;
        }
        markers.join_runs();
        markers.nodes.iter_mut().for_each(Node::widen);
        markers.pair_up(also.contains(&b'<'));
        markers.search = Search::new(&markers, also);
        markers
    }

    /// Learns what may stand behind each marker, as `first` knows it, and which heads begin alike, as `beginnings` does.
    pub(super) fn choose<'f>(
        &mut self,
        first: impl Fn(Marker) -> Option<&'f First>,
        beginnings: impl Fn(Marker) -> &'f [u16],
    ) {
        for list in &mut self.lists {
            let meanings: Vec<_> = list.markers.iter().map(|marker| first(*marker)).collect();
            let heads: Vec<_> = list.markers.iter().map(|marker| beginnings(*marker)).collect();
            list.choice = Choice::of(&meanings, &heads);
            let any = |is: fn(Marker) -> bool| list.markers.iter().any(|marker| is(*marker));
            list.opens_calls = any(Marker::opens_calls);
            list.ambiguous = any(Marker::is_token) && any(Marker::closes_reasoning);
        }
    }

    /// Where one byte only may follow, and no marker ends, there is nothing to choose: such bytes are compared at once.
    fn join_runs(&mut self) {
        for number in 1..self.nodes.len() {
            let mut node = std::mem::take(&mut self.nodes[number]);
            while let (None, [(byte, to)]) = (node.list, node.next.as_slice()) {
                node.run.push(*byte);
                let Node { next, list, .. } = self.nodes[*to as usize].clone();
                (node.next, node.list) = (next, list);
            }
            self.nodes[number] = node;
        }
    }

    /// The next place at or after `from` where a marker may begin, or the end of the text.
    pub(crate) fn next_stop(&self, text: &[u8], from: usize) -> usize {
        let mut at = from;
        // Where stops stand close together, the next one is found before a search would have begun.
        let near = text.get(from..).unwrap_or_default().iter().take(Search::NEAR);
        for byte in near {
            if self.stops[usize::from(*byte)] && self.may_begin(text, at) {
                return at;
            }
            at += 1;
        }
        if let Some(search) = &self.search {
            while text.len() - at.min(text.len()) >= Search::WORTH {
                match search.find(text, at) {
                    Some(found) if self.may_begin(text, found) => return found,
                    Some(found) => at = found + 1,
                    // Of the last byte it is not known what follows.
                    None => at = text.len() - 1,
                }
            }
        }
        (at..text.len()).find(|at| self.is_stop(text, *at)).unwrap_or(text.len())
    }

    /// Nothing begins in `text` and no line ends in it, whatever follows.
    pub(crate) fn none_in(&self, text: &[u8]) -> bool {
        text.iter().all(|byte| self.quiet[usize::from(*byte)])
    }

    /// Something may begin at `at`.
    pub(crate) fn is_stop(&self, text: &[u8], at: usize) -> bool {
        text.get(at).is_some_and(|byte| self.stops[usize::from(*byte)]) && self.may_begin(text, at)
    }

    /// Learns what two bytes say that begin with a stop. Any tag may begin a call if `tags` do.
    fn pair_up(&mut self, tags: bool) {
        for byte in (0..=u8::MAX).filter(|byte| self.stops[usize::from(*byte)]) {
            let seconds = self.seconds.iter().find(|(first, _)| *first == byte).map(|(_, seconds)| seconds);
            let pair = |next: usize| pair(byte, next as u8, tags, seconds.is_some_and(|seconds| seconds[next]));
            self.pair_of[usize::from(byte)] = self.pairs.len() as u8;
            self.pairs.push(std::array::from_fn(pair));
        }
    }

    /// The bytes round `at`, where a stop stands, let something begin there: a cheap look that spares the thorough one.
    fn may_begin(&self, text: &[u8], at: usize) -> bool {
        let Some([byte, next, behind @ ..]) = text.get(at..) else { return true };
        let pairs = self.pairs.get(usize::from(self.pair_of[usize::from(*byte)]));
        match pairs.map_or(Pair::Nothing, |pairs| pairs[usize::from(*next)]) {
            Pair::Begins => true,
            Pair::Asks if self.asks(text, at, *byte, behind) => true,
            _ => self.late.may_end_in(text, at),
        }
    }

    /// What stands round the `byte` at `at` and the one behind that lets something begin there.
    fn asks(&self, text: &[u8], at: usize, byte: u8, behind: &[u8]) -> bool {
        match (byte, behind) {
            (b'(', _) if at.checked_sub(1).and_then(|i| text.get(i)).is_some_and(|byte| may_end_name(*byte)) => true,
            // A pair of a name and an object, or a list of calls in a list.
            (b'[', [b'\'' | b'"', behind @ ..]) => {
                behind.first().is_none_or(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80)
            }
            (b'[', [byte, ..]) => text.get(at + 1) == Some(&b'[') && (byte.is_ascii_alphabetic() || *byte == b'_'),
            // Its brace stands twice.
            (b'{', [byte, ..]) => *byte == b'"',
            (b'[' | b'{', []) => true,
            _ => self.is_begun(text, at),
        }
    }

    /// A marker stands at `at`, or the text ends in what may be one. (Bold text begins as `**Action:**` does.)
    fn is_begun(&self, text: &[u8], at: usize) -> bool {
        let mut rest = text.get(at..).unwrap_or_default();
        let mut node = &self.nodes[0];
        loop {
            // Mostly nothing must.
            if !node.run.is_empty() {
                if !begins(rest, &node.run) {
                    return node.run.starts_with(rest);
                }
                rest = rest.get(node.run.len()..).unwrap_or_default();
            }
            let Some((byte, behind)) = rest.split_first().filter(|_| node.list.is_none()) else { return true };
            match node.behind(*byte) {
                Some(to) => (node, rest) = (&self.nodes[to], behind),
                None => return false,
            }
        }
    }

    /// The markers that begin at `at`.
    pub(crate) fn at(&self, text: &[u8], at: usize) -> MarkersAt<'_> {
        if text.get(at).is_some_and(u8::is_ascii_alphanumeric) && in_word(text, at) {
            return MarkersAt::Nothing;
        }
        let mut node = &self.nodes[0];
        let mut ends = [(0, 0); 4];
        let mut count = 0;
        let mut here = at;
        let mut awaited = &[][..];
        let over = loop {
            // Mostly nothing must.
            if !node.run.is_empty() {
                let rest = text.get(here..).unwrap_or_default();
                if !begins(rest, &node.run) {
                    awaited = node.run.get(rest.len()..).unwrap_or_default();
                    break node.run.starts_with(rest);
                }
                here += node.run.len();
            }
            if let Some(list) = node.list {
                if count == ends.len() {
                    ends.rotate_left(1);
                    count -= 1;
                }
                ends[count] = (here - at, list);
                count += 1;
            }
            if node.next.is_empty() {
                break false;
            }
            let Some(byte) = text.get(here) else { break true };
            match node.behind(*byte) {
                Some(to) => node = &self.nodes[to],
                None => break false,
            }
            here += 1;
        };
        match (count, over) {
            (0, false) => MarkersAt::Nothing,
            (0, true) => MarkersAt::Partial(awaited),
            (_, more) => MarkersAt::Some { ends, count, more },
        }
    }

    /// Markers that begin with a letter, found by a rarer byte of theirs.
    pub(crate) fn late(&self) -> &Late {
        &self.late
    }

    /// How many literals there are.
    #[cfg(test)]
    pub(super) fn lists(&self) -> u32 {
        self.lists.len() as u32
    }

    /// What the marker means that ends where [`Self::at`] said so.
    pub(crate) fn list(&self, list: u32) -> &[Marker] {
        self.lists.get(list as usize).map_or(&[], |list| &list.markers)
    }

    /// Calls, or sections of them, may begin with it.
    pub(crate) fn opens_calls(&self, list: u32) -> bool {
        self.lists.get(list as usize).is_some_and(|list| list.opens_calls)
    }

    /// It both closes reasoning and is a token elsewhere.
    pub(crate) fn is_ambiguous(&self, list: u32) -> bool {
        self.lists.get(list as usize).is_some_and(|list| list.ambiguous)
    }

    /// As [`Self::list`], one after the other, without those that were `tried` and most of what `behind`, which stands
    /// behind the marker and white space, rules out.
    pub(crate) fn list_before(&self, list: u32, behind: &[u8], tried: Passed) -> Meanings<'_> {
        let list = self.lists.get(list as usize);
        let mut numbers = list.map(|list| list.choice.before(behind, tried.before)).unwrap_or_default();
        numbers.pass(tried.alike);
        Meanings { list, numbers, passed: tried }
    }
}

/// Which meanings of a marker are none where it stands.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Passed {
    /// Those before this one.
    before: usize,
    /// A bit for each that fails where an earlier one did.
    alike: u64,
}

/// The meanings of a marker that are still to be asked for.
#[derive(Debug)]
pub(crate) struct Meanings<'m> {
    list: Option<&'m List>,
    numbers: Numbers,
    passed: Passed,
}

impl Meanings<'_> {
    /// The next one.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Marker> {
        let number = self.numbers.next()?;
        self.passed.before = number;
        self.list?.markers.get(number).copied()
    }

    /// The head of the last one fails at this `element`: so do those that begin alike.
    pub(crate) fn fails(&mut self, element: usize) {
        let alike = self.list.map_or(0, |list| list.choice.alike(self.passed.before, element));
        self.passed.alike |= alike;
        self.numbers.pass(alike);
    }

    /// Those before the last one, which is unclear.
    pub(crate) fn passed(&self) -> Passed {
        self.passed
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::Dialects;

    #[test]
    fn long_text_is_searched_for_the_stops_that_short_text_has() {
        let dialects = Dialects::auto();
        let markers = &dialects.markers;
        if cfg!(target_arch = "x86_64") {
            assert!(markers.search.is_some(), "too many patterns");
        }
        let texts = [
            "Action: x",
            "a <tool_call> b",
            "`x`",
            "f(1)",
            "(1)",
            "{\"a\"",
            "[f(",
            "<|x",
            "functools[{",
            " <",
            ":",
            "~~~",
        ];
        for (i, text) in texts.iter().enumerate() {
            for before in 0..70 {
                let text = "x".repeat(before) + text + &" y".repeat(70) + texts[(i + before) % texts.len()];
                let bytes = text.as_bytes();
                let mut at = 0;
                let mut byte_by_byte = (0..bytes.len()).filter(|at| markers.is_stop(bytes, *at));
                while at < bytes.len() {
                    let stop = markers.next_stop(bytes, at);
                    assert_eq!(Some(stop).filter(|s| *s < bytes.len()), byte_by_byte.next(), "{text:?} from {at}");
                    at = stop + 1;
                }
            }
        }
    }

    #[test]
    fn what_begins_as_a_marker_does_and_is_none_is_passed_over() {
        let markers = &Dialects::auto().markers;
        assert!(!markers.is_stop(b"**bold**", 0) && !markers.is_stop(b"Acme", 0));
        for text in ["**Action:**", "**Act", "**", "*", "Action:", "Act"] {
            assert!(markers.is_stop(text.as_bytes(), 0), "{text}");
        }
    }

    /// Prose cost twenty times as much when a set of the search took white space for one of its own.
    #[test]
    fn no_set_of_the_search_takes_what_prose_is_made_of() {
        let patterns = super::Search::patterns(&Dialects::auto().markers, b"`~{[(<");
        let ordered = super::apart(patterns.clone());
        assert_eq!(ordered.iter().collect::<std::collections::HashSet<_>>(), patterns.iter().collect());
        let mut sets: Vec<(u8, usize)> = Vec::new();
        for (place, pattern) in ordered.iter().enumerate() {
            let half = pattern[0] & 0xf;
            if !sets.iter().any(|(known, _)| *known == half) {
                sets.push((half, place % super::SETS));
            }
        }
        for set in 0..super::SETS {
            let shares = |pattern: &&Vec<u8>| sets.contains(&(pattern[0] & 0xf, set));
            let shared: Vec<&Vec<u8>> = ordered.iter().filter(shares).collect();
            assert!(super::cost(shared.iter().copied()) < 100, "{shared:?}");
        }
    }
}
