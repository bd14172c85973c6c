//! What the `soak` binary, and the test of the main crate that stands for it, are told: which target, and for how long.
use super::engine::Engine;
use super::history::History;
use super::providers::Providers;
use super::repair::Repair;
use super::soak::{Plan, soak};
use super::tools::Tools;
use std::time::Duration;

/// Runs the target that the arguments name and returns how many inputs failed, or what is wrong with the arguments.
pub fn run(arguments: impl Iterator<Item = String>) -> Result<usize, String> {
    let (target, plan) = parse(arguments)?;
    Ok(match target.as_str() {
        "engine" => soak(&Engine, &plan),
        "history" => soak(&History, &plan),
        "providers" => soak(&Providers, &plan),
        "repair" => soak(&Repair, &plan),
        "tools" => soak(&Tools, &plan),
        other => return Err(format!("there is no target {other:?}")),
    })
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
