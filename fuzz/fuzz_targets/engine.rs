//! Spliced texts in every dialect and under every policy: see `toolglot_fuzz::engine`.
#![no_main]
use libfuzzer_sys::fuzz_target;
use toolglot_fuzz::{engine::Engine, fuzz};

fuzz_target!(|data: &[u8]| fuzz(&Engine, data));
