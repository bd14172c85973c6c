//! Ids for calls that came without one.
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

thread_local! {
    // Seeded from the process's random hasher keys: ids need to be unique, not unguessable.
    static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(std::thread::current().id()) | 1);
}

fn next() -> u64 {
    STATE.with(|state| {
        // splitmix64
        let z = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        state.set(z);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// A new unique call id: `call_` and 20 letters and digits.
pub fn new_call_id() -> String {
    const ALPHABET: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789aZ";
    let mut id = *b"call_00000000000000000000";
    let (_, random) = id.split_at_mut(5);
    for half in random.chunks_exact_mut(10) {
        let mut bits = next();
        for digit in half {
            *digit = ALPHABET[(bits & 63) as usize];
            bits >>= 6;
        }
    }
    String::from_utf8(id.to_vec()).unwrap_or_default()
}
