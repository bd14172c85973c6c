//! Text that is nearly JSON: see `toolglot_fuzz::repair`.
#![no_main]
use libfuzzer_sys::fuzz_target;
use toolglot_fuzz::{fuzz, repair::Repair};

fuzz_target!(|data: &[u8]| fuzz(&Repair, data));
