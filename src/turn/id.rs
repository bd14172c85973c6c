//! Ids for calls that came without one.
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the id of a call comes from that came without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ids {
    /// It is new: no other call has it, in any thread, process or fork.
    #[default]
    Random,
    /// It is derived from the text before the call, the call's index and the name: the same text gives the same ids, whole or
    /// streamed. Two texts that agree up to the name of a call have one id for it, as a stream announces the id there; so they
    /// are for tests, batches and caches, not for several answers in one conversation.
    Derived,
}

thread_local! {
    // Seeded from the process's random hasher keys: ids need to be unique, not unguessable.
    static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(std::thread::current().id()) | 1);
}

/// The finishing step of a splitmix64: every bit of the number decides on every bit of what comes out.
const fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The next number of a splitmix64.
fn next(state: &Cell<u64>) -> u64 {
    let z = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    state.set(z);
    mix(z)
}

/// A number that differs between a process and each of its forks, once [`forked`] was called in them.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Makes the call ids of a forked process differ from those of its parent and siblings. The Python module calls it in each child; a
/// Rust program that forks without `exec` must call it in the child.
///
/// The alternative, a `getpid` for each id, took a tenth of the time of reading a short answer.
pub fn forked() {
    let process = u64::from(std::process::id());
    FORKS.store(mix(FORKS.load(Ordering::Relaxed) ^ process.rotate_right(24)), Ordering::Relaxed);
}

/// Returns a number that differs between processes with the same state: forks by [`FORKS`], copies of a machine by the clock.
/// Read once for each answer, as nothing tells a process that its machine was copied.
fn here_and_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
    mix(now ^ FORKS.load(Ordering::Relaxed))
}

/// The digits of a number of base 16, one a byte.
const fn hex(number: u32) -> [u8; 8] {
    let spread = number as u64;
    let spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff;
    let spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    let spread = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // Of a digit and 6, the fifth bit says whether it is a letter.
    let letters = (spread + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (spread + 0x3030_3030_3030_3030 + letters * (b'a' - b'0' - 10) as u64).to_le_bytes()
}

/// `call_` and 20 digits of base 16.
fn spell(first: u64, second: u64) -> String {
    let mut id = *b"call_00000000000000000000";
    let (whole, rest) = id.split_at_mut(5).1.as_chunks_mut();
    for (digits, number) in whole.iter_mut().zip([first as u32, (first >> 32) as u32]) {
        *digits = hex(number);
    }
    rest.iter_mut().zip(hex(second as u32)).for_each(|(digit, one)| *digit = one);
    String::from_utf8(id.to_vec()).unwrap_or_default()
}

/// A new unique call id: `call_` and 20 digits of base 16. Unique across threads, processes and forks ([`forked`]).
pub fn new_call_id() -> String {
    new_call_ids()()
}

/// As [`new_call_id`], for the calls of one answer: the process does not become a copy between them.
pub(crate) fn new_call_ids() -> impl FnMut() -> String {
    let here = here_and_now();
    move || {
        let (first, second) = STATE.with(|state| (next(state), next(state)));
        spell(first ^ here, second)
    }
}

/// A hash of a text that goes on: FNV-1a of 128 bits, fixed by its definition, so that ids stay the same over runs and machines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextHash(u128);

impl Default for TextHash {
    /// Of no text.
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl TextHash {
    /// Of the text and what stands behind it.
    pub(crate) fn then(self, more: &[u8]) -> Self {
        let step =
            |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        Self(more.iter().fold(self.0, step))
    }
}

/// The id of the call at `index` that calls `name`, behind the text of this hash: the same whenever these are.
pub(crate) fn derived_call_id(before: TextHash, index: usize, name: &str) -> String {
    let TextHash(hash) = before.then(&[0xff]).then(&(index as u64).to_le_bytes()).then(name.as_bytes());
    let (high, low) = ((hash >> 64) as u64, hash as u64);
    spell(mix(high ^ mix(low)), mix(low ^ high.rotate_left(32)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn copies_of_one_state_make_different_ids() {
        let made = |state: u64| {
            STATE.set(state);
            new_call_id()
        };
        let ids: HashSet<String> = (0..1000).map(|_| made(7)).collect();
        assert!(ids.len() > 990, "the clock is part of an id, if it has moved on: {}", ids.len());
    }

    #[test]
    fn a_fork_of_a_fork_is_another_process() {
        let states: HashSet<u64> = (0..3)
            .map(|_| {
                forked();
                FORKS.load(Ordering::Relaxed)
            })
            .collect();
        assert!(states.len() == 3 && !states.contains(&0));
    }

    #[test]
    fn a_derived_id_says_text_place_and_name() {
        let before = TextHash::default().then(b"Hi ");
        let id = derived_call_id(before, 0, "f");
        assert_eq!(id, derived_call_id(TextHash::default().then(b"H").then(b"i "), 0, "f"));
        assert_eq!(id.len(), new_call_id().len());
        let others = [
            derived_call_id(before, 1, "f"),
            derived_call_id(before, 0, "g"),
            derived_call_id(before.then(b" "), 0, "f"),
        ];
        assert!(others.iter().all(|other| *other != id));
    }
}
