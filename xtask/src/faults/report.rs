//! What was tried and what came of it: a table for people, an object for programs, and the exit code.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::inject::Tried;
use super::surroundings::{Check, Verdict};
use crate::error::{Error, Result};

/// How many faults a call had with an error, and how many of them did harm.
type Counts = BTreeMap<(String, &'static str), (usize, usize)>;

fn counts(tried: &[Tried]) -> Counts {
    let mut counts = Counts::new();
    for one in tried {
        let count = counts.entry((one.fault.call.clone(), one.fault.error)).or_default();
        count.0 += 1;
        count.1 += usize::from(!one.wrong.is_empty());
    }
    counts
}

pub(crate) fn table(tried: &[Tried], checks: &[Check]) -> String {
    let mut text = format!("{:<14} {:<12} {:>7} {:>7}\n", "call", "error", "faults", "failed");
    // Writing to a string cannot fail.
    for ((call, error), (all, failed)) in counts(tried) {
        let _ = writeln!(text, "{call:<14} {error:<12} {all:>7} {failed:>7}");
    }
    let failed = tried.iter().filter(|one| !one.wrong.is_empty()).count();
    let _ = writeln!(text, "{:<14} {:<12} {:>7} {failed:>7}\n", "all", "", tried.len());
    for check in checks {
        let (mark, detail) = match &check.verdict {
            Verdict::Held(detail) => ("held", detail),
            Verdict::Skipped(why) => ("skipped", why),
            Verdict::Broken(what) => ("BROKEN", what),
        };
        let _ = writeln!(text, "{:<28} {mark:<8} {detail}", check.name);
    }
    for one in tried.iter().filter(|one| !one.wrong.is_empty()) {
        let _ = writeln!(text, "\nFAILED {}", one.label());
        one.wrong.iter().for_each(|what| {
            let _ = writeln!(text, "  {what}");
        });
        let _ = writeln!(text, "  again: cargo xtask faults --only '{}'", one.label());
    }
    text
}

pub(crate) fn json(tried: &[Tried], checks: &[Check]) -> Value {
    let calls: Vec<_> = counts(tried)
        .into_iter()
        .map(|((call, error), (faults, failed))| {
            json!({ "call": call, "error": error, "faults": faults, "failed": failed })
        })
        .collect();
    let failures: Vec<_> = tried
        .iter()
        .filter(|one| !one.wrong.is_empty())
        .map(|one| json!({ "label": one.label(), "wrong": one.wrong }))
        .collect();
    let checks: Vec<_> = checks
        .iter()
        .map(|check| {
            let (verdict, detail) = match &check.verdict {
                Verdict::Held(detail) => ("held", detail),
                Verdict::Skipped(why) => ("skipped", why),
                Verdict::Broken(what) => ("broken", what),
            };
            json!({ "name": check.name, "verdict": verdict, "detail": detail })
        })
        .collect();
    json!({ "faults": tried.len(), "calls": calls, "failures": failures, "surroundings": checks })
}

pub(crate) fn decide(tried: &[Tried], checks: &[Check]) -> Result<()> {
    let faults = tried.iter().filter(|one| !one.wrong.is_empty()).count();
    let broken = checks.iter().filter(|check| matches!(check.verdict, Verdict::Broken(_))).count();
    if tried.is_empty() && checks.is_empty() {
        return Err(
            Error::new("nothing has this label").hint("labels look like `on-stop/workflow write#3=EIO`")
        );
    }
    if faults + broken == 0 {
        return Ok(());
    }
    Err(Error::new(format!("{faults} faults did harm, {broken} surroundings broke something"))
        .hint("each is listed above with the way to run it again"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::strace::Fault;

    fn tried(nth: usize, wrong: &[&str]) -> Tried {
        let fault = Fault { call: "write".into(), nth, error: "EIO", lasting: false };
        Tried { subject: "stop".into(), fault, wrong: wrong.iter().map(|&text| text.to_owned()).collect() }
    }

    #[test]
    fn failures_are_counted_and_can_be_run_again() {
        let all = [tried(1, &[]), tried(2, &["it hangs"])];
        let text = table(&all, &[]);
        assert!(text.contains("write          EIO                2       1\n"), "{text}");
        assert!(text.contains("again: cargo xtask faults --only 'stop write#2=EIO'"), "{text}");
        assert_eq!(json(&all, &[])["failures"][0]["label"], "stop write#2=EIO");
        assert!(decide(&all, &[]).is_err() && decide(&all[..1], &[]).is_ok() && decide(&[], &[]).is_err());
    }

    #[test]
    fn a_broken_check_decides_and_a_skipped_one_does_not() {
        let check = |verdict| Check { name: "clock", verdict };
        assert!(decide(&[], &[check(Verdict::Skipped("not root".into()))]).is_ok());
        assert!(decide(&[], &[check(Verdict::Broken("lost".into()))]).is_err());
    }
}
