//! What libFuzzer says of a run on its way.

use std::fmt;

/// How far a run has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) runs: u64,
    pub(super) per_second: u64,
    /// Places in the code that were reached.
    pub(super) coverage: u64,
    pub(super) corpus: u64,
}

impl Progress {
    /// Reads `#4096 NEW    cov: 312 ft: 900 corp: 50/10Kb lim: 100 exec/s: 2000 rss: 60Mb …`.
    pub(super) fn read(line: &str) -> Option<Self> {
        let line = line.strip_prefix('#')?;
        let runs = line.split_whitespace().next()?.parse().ok()?;
        let number = |name: &str| {
            let value = line.split_once(name)?.1.trim_start();
            let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
            value[..end].parse().ok()
        };
        Some(Self {
            runs,
            per_second: number(" exec/s:").unwrap_or(0),
            coverage: number(" cov:").unwrap_or(0),
            corpus: number(" corp:").unwrap_or(0),
        })
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, per_second, coverage, corpus } = self;
        write!(f, "{runs} runs, {per_second}/s, coverage {coverage}, corpus {corpus}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_libfuzzer_are_read() {
        let line = "#4096\tNEW    cov: 312 ft: 900 corp: 50/10Kb lim: 100 exec/s: 2048 rss: 60Mb L: 7/9 MS: 1 CopyPart-";
        let wanted = Progress { runs: 4096, per_second: 2048, coverage: 312, corpus: 50 };
        assert_eq!(Progress::read(line), Some(wanted));
        assert_eq!(
            Progress::read("#2\tINITED cov: 3 ft: 3 corp: 1/1b exec/s: 0 rss: 30Mb").unwrap().corpus,
            1
        );
        for other in ["INFO: Seed: 1", "", "#x", "    #0 0x55", "thread panicked"] {
            assert_eq!(Progress::read(other), None, "{other}");
        }
    }
}
