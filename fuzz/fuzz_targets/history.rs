//! Mutated histories of every provider: see `toolglot_fuzz::history`.
#![no_main]
use libfuzzer_sys::fuzz_target;
use toolglot_fuzz::{fuzz, history::History};

fuzz_target!(|data: &[u8]| fuzz(&History, data));
