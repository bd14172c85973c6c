//! Ids for calls that came without one.
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

thread_local! {
    // Seeded from the process's random hasher keys: ids need to be unique, not unguessable.
    static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(std::thread::current().id()) | 1);
}

/// The next number of a splitmix64.
fn next(state: &Cell<u64>) -> u64 {
    let z = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    state.set(z);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
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

/// A new unique call id: `call_` and 20 digits of base 16.
pub fn new_call_id() -> String {
    let (first, second) = STATE.with(|state| (next(state), next(state)));
    let mut id = *b"call_00000000000000000000";
    let (whole, rest) = id.split_at_mut(5).1.as_chunks_mut();
    for (digits, number) in whole.iter_mut().zip([first as u32, (first >> 32) as u32]) {
        *digits = hex(number);
    }
    rest.iter_mut().zip(hex(second as u32)).for_each(|(digit, one)| *digit = one);
    String::from_utf8(id.to_vec()).unwrap_or_default()
}
