//! `cargo run --release --bin soak -- --target engine --executions 1000000 --seed 1`: exits with 1 if an input fails, with 2 if one takes too
//! long. Failing inputs are printed with their seed, whole and reduced.
use std::process::ExitCode;

const USAGE: &str =
    "soak --target NAME [--executions N] [--seconds S] [--seed N] [--patience SECONDS] [--failures N] [--show]";

fn main() -> ExitCode {
    match toolglot_fuzz::command::run(std::env::args().skip(1)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(wrong) => {
            eprintln!("{wrong}\n{USAGE}");
            ExitCode::from(64)
        }
    }
}
