//! `cargo run --release --bin soak -- --target engine --executions 1000000 --seed 1`: exits with 1 if an input fails, with 2 if one takes too
//! long. Failing inputs are printed with their seed, whole and reduced.
use std::process::ExitCode;
use std::time::Duration;
use toolglot_fuzz::engine::Engine;
use toolglot_fuzz::history::History;
use toolglot_fuzz::providers::Providers;
use toolglot_fuzz::repair::Repair;
use toolglot_fuzz::soak::{Plan, soak};
use toolglot_fuzz::tools::Tools;

const USAGE: &str =
    "soak --target NAME [--executions N] [--seconds S] [--seed N] [--patience SECONDS] [--failures N] [--show]";

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)) {
        Err(wrong) => {
            eprintln!("{wrong}\n{USAGE}");
            ExitCode::from(64)
        }
        Ok((target, plan)) => {
            let failures = match target.as_str() {
                "engine" => soak(&Engine, &plan),
                "history" => soak(&History, &plan),
                "providers" => soak(&Providers, &plan),
                "repair" => soak(&Repair, &plan),
                "tools" => soak(&Tools, &plan),
                other => {
                    eprintln!("there is no target {other:?}\n{USAGE}");
                    return ExitCode::from(64);
                }
            };
            if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<(String, Plan), String> {
    let (mut target, mut executions) = (String::new(), None);
    let mut plan =
        Plan { executions: u64::MAX, time: None, seed: 0, patience: Duration::from_secs(5), failures: 20, show: false };
    while let Some(option) = arguments.next() {
        if option == "--show" {
            plan.show = true;
            continue;
        }
        let value = arguments.next().ok_or(format!("{option} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{option} needs a number"));
        match option.as_str() {
            "--target" => target = value,
            "--executions" => executions = Some(number()?),
            "--seconds" => plan.time = Some(Duration::from_secs(number()?)),
            "--seed" => plan.seed = number()?,
            "--patience" => plan.patience = Duration::from_secs(number()?),
            "--failures" => plan.failures = number()? as usize,
            _ => return Err(format!("there is no option {option}")),
        }
    }
    plan.executions = executions.unwrap_or(if plan.time.is_some() { u64::MAX } else { 1_000_000 });
    Ok((target, plan))
}
