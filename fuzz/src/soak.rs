//! Runs a target for long, without libFuzzer: as many inputs as are wanted, each from a seed of its own, under a watchdog.
use super::reduce::reduce;
use super::source::Source;
use super::{Target, checked};
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// How long to run, and what to do about failures.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Stop after so many executions of the code under test.
    pub executions: u64,
    /// Or after this time.
    pub time: Option<Duration>,
    /// The input number `n` is made of the seed `seed + n`.
    pub seed: u64,
    /// An input that takes longer ends the run.
    pub patience: Duration,
    /// Stop after so many failures.
    pub failures: usize,
    /// Print the inputs only.
    pub show: bool,
}

/// What the watchdog sees: the seed of the input that is being checked, and since when (in milliseconds, plus one; zero: none is).
#[derive(Default)]
struct Watched {
    seed: AtomicU64,
    since: AtomicU64,
}

/// Runs the target by the plan, and returns how many inputs failed. Ends the process if an input takes too long.
pub fn soak<T: Target>(target: &T, plan: &Plan) -> usize {
    std::panic::set_hook(Box::new(|_| {}));
    // What inputs are made of is read with the first one, which takes its time.
    target.generate(&mut Source::from_seed(plan.seed));
    let (watched, start) = (Watched::default(), Instant::now());
    let now = || u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX) + 1;
    let done = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| watch(target, plan, &watched, &done, now));
        let failures = run(target, plan, &watched, start, now);
        done.store(1, Relaxed);
        failures
    })
}

fn run<T: Target>(target: &T, plan: &Plan, watched: &Watched, start: Instant, now: impl Fn() -> u64) -> usize {
    let (mut executions, mut failures, mut told) = (0_u64, 0, Duration::ZERO);
    let mut seed = plan.seed;
    while executions < plan.executions && plan.time.is_none_or(|time| start.elapsed() < time) {
        watched.seed.store(seed, Relaxed);
        watched.since.store(now(), Relaxed);
        let input = target.generate(&mut Source::from_seed(seed));
        if plan.show {
            println!("{}", target.show(&input));
        }
        let outcome = checked(target, &input);
        watched.since.store(0, Relaxed);
        match outcome {
            Ok(more) => executions += more.max(1),
            Err(failure) => {
                executions += 1;
                failures += 1;
                println!("seed {seed}: {}: {}", failure.kind, target.show(&input));
                let (input, failure) = reduce(target, input, failure, Duration::from_secs(20));
                println!("  reduced: {}\n  {}\n", target.show(&input), failure.message);
                if failures >= plan.failures {
                    break;
                }
            }
        }
        seed = seed.wrapping_add(1);
        if start.elapsed() > told + Duration::from_secs(60) {
            told = start.elapsed();
            println!("{executions} executions in {} s, {failures} failures", told.as_secs());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let inputs = seed.wrapping_sub(plan.seed);
    println!(
        "{}: {executions} executions of {inputs} inputs in {seconds:.1} s ({:.0} a second), {failures} failures",
        target.name(),
        executions as f64 / seconds.max(1e-9)
    );
    failures
}

fn watch<T: Target>(target: &T, plan: &Plan, watched: &Watched, done: &AtomicU64, now: impl Fn() -> u64) {
    while done.load(Relaxed) == 0 {
        thread::sleep(Duration::from_millis(100));
        let (seed, since) = (watched.seed.load(Relaxed), watched.since.load(Relaxed));
        if since > 0 && u128::from(now().saturating_sub(since)) > plan.patience.as_millis() {
            let input = target.generate(&mut Source::from_seed(seed));
            println!("seed {seed}: takes longer than {:?}: {}", plan.patience, target.show(&input));
            exit(2);
        }
    }
}
