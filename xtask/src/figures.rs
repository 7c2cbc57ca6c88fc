//! Figures and their bars: how a finding is shown, and what it decides.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::error::{Error, Result};

/// How many single findings are worth a line each.
const SHOWN: usize = 20;

/// What a figure is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bar {
    AtMost(f64),
<<<<<<< HEAD
    AtLeast(f64),
=======
    /// Depends on the machine and its load, so it decides only where that is asked for.
    AtMostWhenQuiet(f64),
    AtLeastWhenQuiet(f64),
>>>>>>> h-faults
    /// Only told.
    None,
}

#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) found: f64,
    pub(crate) bar: Bar,
    pub(crate) unit: &'static str,
}

impl Figure {
    pub(crate) fn new(what: impl Into<String>, found: f64, bar: Bar, unit: &'static str) -> Self {
        Self { what: what.into(), found, bar, unit }
    }

    pub(crate) fn count(what: impl Into<String>, found: usize, bar: Bar) -> Self {
        Self::new(what, to_float(found), bar, "")
    }

    fn is_met(&self) -> bool {
        match self.bar {
<<<<<<< HEAD
            Bar::AtMost(bar) => self.found <= bar,
            Bar::AtLeast(bar) => self.found >= bar,
=======
            Bar::AtMost(bar) | Bar::AtMostWhenQuiet(bar) => self.found <= bar,
            Bar::AtLeastWhenQuiet(bar) => self.found >= bar,
>>>>>>> h-faults
            Bar::None => true,
        }
    }

    fn bar_text(&self) -> String {
        match self.bar {
<<<<<<< HEAD
            Bar::AtMost(bar) => format!("<= {}", number(bar)),
            Bar::AtLeast(bar) => format!(">= {}", number(bar)),
=======
            Bar::AtMost(bar) | Bar::AtMostWhenQuiet(bar) => format!("<= {}", number(bar)),
            Bar::AtLeastWhenQuiet(bar) => format!(">= {}", number(bar)),
>>>>>>> h-faults
            Bar::None => String::new(),
        }
    }

    fn mark(&self) -> &'static str {
        match (self.is_met(), self.bar) {
            (true, Bar::None) => "",
            (true, _) => "ok",
            (false, _) => "MISSED",
        }
    }

    fn json(&self) -> Value {
        let (kind, bar) = match self.bar {
            Bar::AtMost(bar) => ("at most", Some(bar)),
<<<<<<< HEAD
            Bar::AtLeast(bar) => ("at least", Some(bar)),
=======
            Bar::AtMostWhenQuiet(bar) => ("at most, when quiet", Some(bar)),
            Bar::AtLeastWhenQuiet(bar) => ("at least, when quiet", Some(bar)),
>>>>>>> h-faults
            Bar::None => ("none", None),
        };
        json!({ "what": self.what, "found": self.found, "unit": self.unit, "bar": bar, "kind": kind, "met": self.is_met() })
    }
}

/// Everything that a run found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// What was done, in a line each.
    pub(crate) notes: Vec<String>,
    pub(crate) figures: Vec<Figure>,
    /// What is wrong, each in words. Any of them is a failure.
    pub(crate) findings: Vec<String>,
}

impl Report {
    pub(crate) fn print(&self, as_json: bool) {
        if as_json {
            println!("{}", self.json());
        } else {
            print!("{}", self.table());
        }
    }

    fn json(&self) -> Value {
        let figures: Vec<_> = self.figures.iter().map(Figure::json).collect();
        json!({ "notes": self.notes, "figures": figures, "findings": self.findings })
    }

    fn table(&self) -> String {
        let mut text = self.notes.join("\n") + "\n";
        // Writing to a string cannot fail; so below.
        let _ = writeln!(text, "\n{:<44} {:>10} {:>12}", "", "found", "bar");
        for figure in &self.figures {
            let (found, bar, unit, mark) =
                (number(figure.found), figure.bar_text(), figure.unit, figure.mark());
            let line = format!("{:<44} {found:>10} {bar:>12} {unit:<4} {mark}", figure.what);
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for finding in self.findings.iter().take(SHOWN) {
            let _ = writeln!(text, "WRONG  {finding}");
        }
        if self.findings.len() > SHOWN {
            let _ = writeln!(text, "WRONG  … and {} more", self.findings.len() - SHOWN);
        }
        text
    }

    /// An error if a bar is missed or anything is wrong.
    pub(crate) fn decide(&self) -> Result<()> {
        let missed: Vec<_> =
            self.figures.iter().filter(|figure| !figure.is_met()).map(|f| f.what.as_str()).collect();
        if missed.is_empty() && self.findings.is_empty() {
            return Ok(());
        }
        let wrong = self.findings.len();
        Err(Error::new(format!("{} bars missed ({}), {wrong} findings", missed.len(), missed.join(", "))))
    }
}

/// Counts without decimals, times with one or two.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || value >= 1000.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// Counts here are far below 2^52, where floats stop being exact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) const fn to_float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(bar: Bar, found: f64) -> Report {
        Report { figures: vec![Figure::new("x", found, bar, "ms")], ..Report::default() }
    }

    #[test]
<<<<<<< HEAD
    fn a_missed_bar_fails() {
        assert!(report(Bar::AtMost(5.0), 5.0).decide().is_ok());
        assert!(report(Bar::AtMost(5.0), 5.1).decide().is_err());
        assert!(report(Bar::AtLeast(5.0), 4.0).decide().is_err());
        assert!(report(Bar::None, 6.0).decide().is_ok());
=======
    fn a_missed_bar_fails_and_a_quiet_one_only_when_asked() {
        assert!(report(Bar::AtMost(5.0), 5.0).decide(false).is_ok());
        assert!(report(Bar::AtMost(5.0), 5.1).decide(false).is_err());
        assert!(report(Bar::AtMostWhenQuiet(5.0), 6.0).decide(false).is_ok());
        assert!(report(Bar::AtMostWhenQuiet(5.0), 6.0).decide(true).is_err());
        assert!(report(Bar::None, 6.0).decide(true).is_ok());
>>>>>>> h-faults
    }

    #[test]
    fn any_finding_fails() {
        let report = Report { findings: vec!["torn".to_owned()], ..Report::default() };
        assert!(report.decide().is_err());
        assert!(report.table().contains("WRONG  torn"));
    }
}
