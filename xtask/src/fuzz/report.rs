//! What came out of a run, for the person who reads the terminal.

use crate::fuzz::target::{Failure, Outcome};

pub(super) fn print(outcomes: &[Outcome]) {
    for outcome in outcomes {
        if let Some(failure) = &outcome.failure {
            tell(outcome.name, failure);
        }
    }
    println!(
        "\n{:<16} {:>6} {:>11} {:>8} {:>9} {:>6} {:>7}",
        "target", "s", "runs", "runs/s", "coverage", "seeds", "corpus"
    );
    for outcome in outcomes {
        let progress = &outcome.progress;
        let mark = if outcome.failure.is_some() { "  FAILED" } else { "" };
        println!(
            "{:<16} {:>6} {:>11} {:>8} {:>9} {:>6} {:>7}{mark}",
            outcome.name,
            outcome.took.as_secs(),
            progress.runs,
            progress.per_second,
            progress.coverage,
            outcome.seeds,
            progress.corpus,
        );
    }
}

fn tell(name: &str, failure: &Failure) {
    eprintln!("\nfuzz: {name} failed");
    for line in &failure.words {
        eprintln!("  {line}");
    }
    match &failure.input {
        Some(input) => {
            eprintln!("  input: {}", input.display());
            eprintln!("  again: cargo xtask fuzz {name} --reproduce {}", input.display());
        }
        None => eprintln!("  no input was written: the target could not start"),
    }
}
