//! Mutated answers and streams of every provider: see `toolglot_fuzz::providers`.
#![no_main]
use libfuzzer_sys::fuzz_target;
use toolglot_fuzz::{fuzz, providers::Providers};

fuzz_target!(|data: &[u8]| fuzz(&Providers, data));
