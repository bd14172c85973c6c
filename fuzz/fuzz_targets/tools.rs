//! Any JSON as tools: see `toolglot_fuzz::tools`.
#![no_main]
use libfuzzer_sys::fuzz_target;
use toolglot_fuzz::{fuzz, tools::Tools};

fuzz_target!(|data: &[u8]| fuzz(&Tools, data));
