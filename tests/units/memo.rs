//! Tests of `src/engine/memo.rs`.
use super::Without;

#[test]
fn the_last_place_is_the_one_that_a_search_finds() {
    let text = b"ab.cdefg..hij.klmnopqr.st";
    let search = |part: &[u8]| part.iter().rposition(|byte| *byte == b'.');
    let mut known = Without::default();
    let mut state = 7_usize;
    for _ in 0..2000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (a, b) = ((state >> 33) % (text.len() + 1), (state >> 45) % (text.len() + 1));
        let (from, to) = (a.min(b), a.max(b));
        let found = known.find_last(text, from, to, search);
        assert_eq!(found, search(&text[from..to]).map(|i| from + i), "{from}..{to}");
        assert_eq!(search(&text[known.since..known.until]), None);
    }
}

#[test]
fn what_hangs_together_is_known() {
    let nothing = Without::default();
    assert_eq!((nothing.known(0), nothing.known(1)), (None, None));
    let known = nothing.and(10, 20);
    assert_eq!([9, 10, 20, 21].map(|at| known.known(at)), [None, Some(20), Some(20), None]);
    let more = known.and(20, 30);
    assert_eq!([10, 30].map(|at| more.known(at)), [Some(30); 2]);
    assert_eq!(more.and(12, 15).known(12), Some(30));
    let far = more.and(40, 50);
    assert_eq!([10, 40].map(|at| far.known(at)), [None, Some(50)]);
}
