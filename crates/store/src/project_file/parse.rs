//! Reads the text of a project's file. The parser reports where each value is, so that every error has a line.

use std::time::Duration;

use overtone_core::economy::{MAX_AMOUNT, micro_usd};
use overtone_core::evidence::Check;
use overtone_core::registry::{BudgetKind, DocsRule, GuardLevel, RetroRule, Stage};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::project_file::{FileProblem, ProjectFile, UnknownKey, ValueType};

/// The line and the problem.
type Failure = (usize, FileProblem);

pub(crate) fn parse(text: &str) -> Result<ProjectFile, Failure> {
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        (line_of(text, at), FileProblem::Syntax(error.message().to_owned()))
    })?;
    let mut reader = Reader { text, file: ProjectFile::default() };
    for entry in entries(document.get_ref(), "") {
        match entry.name {
            "checks" => reader.checks(&entry)?,
            "guard" => reader.guard(&entry)?,
            "stages" => reader.rules(&entry)?,
            "budget" => reader.budget(&entry)?,
            _ => reader.note_unknown(&entry),
        }
    }
    Ok(reader.file)
}

/// One key of a table with its value.
struct Entry<'a> {
    name: &'a str,
    /// With the names of the tables that it is in.
    path: String,
    /// Where the key begins in the text.
    at: usize,
    value: &'a Spanned<DeValue<'a>>,
}

/// The entries of a table in the order of the text.
fn entries<'a>(table: &'a DeTable<'a>, parent: &str) -> Vec<Entry<'a>> {
    let entry = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
        let name: &std::borrow::Cow<'a, str> = key.get_ref();
        let path = if parent.is_empty() { name.to_string() } else { format!("{parent}.{name}") };
        Entry { name: name.as_ref(), path, at: key.span().start, value }
    };
    let mut entries: Vec<_> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.at);
    entries
}

struct Reader<'a> {
    text: &'a str,
    file: ProjectFile,
}

impl Reader<'_> {
    fn checks(&mut self, section: &Entry) -> Result<(), Failure> {
        for entry in entries(self.table(section)?, &section.path) {
            let check = self.check(&entry)?;
            self.file.checks.push(check);
        }
        Ok(())
    }

    fn check(&mut self, section: &Entry) -> Result<Check, Failure> {
        if !Check::is_name(section.name) {
            return Err(self.failure(section.at, FileProblem::CheckName(section.name.to_owned())));
        }
        let mut run = None;
        let mut check = Check {
            name: section.name.to_owned(),
            run: String::new(),
            stages: Check::DEFAULT_STAGES.to_vec(),
            timeout: Check::DEFAULT_TIMEOUT,
        };
        for entry in entries(self.table(section)?, &section.path) {
            match entry.name {
                "run" => run = Some(self.string(&entry)?.trim().to_owned()),
                "stages" => check.stages = self.stages(&entry)?,
                "timeout" => check.timeout = self.timeout(&entry)?,
                _ => self.note_unknown(&entry),
            }
        }
        match run {
            Some(run) if !run.is_empty() => Ok(Check { run, ..check }),
            _ => Err(self.failure(section.at, FileProblem::NoCommand(section.name.to_owned()))),
        }
    }

    fn guard(&mut self, section: &Entry) -> Result<(), Failure> {
        for entry in entries(self.table(section)?, &section.path) {
            match entry.name {
                "level" => {
                    let given = self.string(&entry)?;
                    let Some(level) = GuardLevel::from_name(given) else {
                        return Err(self.failure(entry.at, FileProblem::GuardLevel(given.to_owned())));
                    };
                    self.file.guard = Some(level);
                }
                _ => self.note_unknown(&entry),
            }
        }
        Ok(())
    }

    fn rules(&mut self, section: &Entry) -> Result<(), Failure> {
        for entry in entries(self.table(section)?, &section.path) {
            match entry.name {
                "retro" => {
                    let rule = RetroRule::from_name(self.string(&entry)?);
                    let choices = RetroRule::ALL.map(RetroRule::name);
                    self.file.retro = Some(rule.ok_or_else(|| self.not_a_choice(&entry, &choices))?);
                }
                "docs" => {
                    let rule = DocsRule::from_name(self.string(&entry)?);
                    let choices = DocsRule::ALL.map(DocsRule::name);
                    self.file.docs = Some(rule.ok_or_else(|| self.not_a_choice(&entry, &choices))?);
                }
                _ => self.note_unknown(&entry),
            }
        }
        Ok(())
    }

    fn budget(&mut self, section: &Entry) -> Result<(), Failure> {
        for entry in entries(self.table(section)?, &section.path) {
            if entry.name == "stage" {
                for entry in entries(self.table(&entry)?, &entry.path) {
                    let Some(kind) = self.budget_kind(&entry) else { continue };
                    let limit = self.limit(&entry, kind)?;
                    self.file.budget.stage.set(kind, Some(limit));
                }
            } else if let Some(kind) = self.budget_kind(&entry) {
                let limit = self.limit(&entry, kind)?;
                self.file.budget.workflow.set(kind, Some(limit));
            }
        }
        Ok(())
    }

    fn budget_kind(&mut self, entry: &Entry) -> Option<BudgetKind> {
        let kind = BudgetKind::from_name(entry.name);
        if kind.is_none() {
            self.note_unknown(entry);
        }
        kind
    }

    fn limit(&self, entry: &Entry, kind: BudgetKind) -> Result<u64, Failure> {
        let limit = match (entry.value.get_ref(), kind) {
            (DeValue::Integer(number), BudgetKind::Usd) => number.as_str().parse().ok().and_then(micro_usd),
            (DeValue::Float(number), BudgetKind::Usd) => number.as_str().parse().ok().and_then(micro_usd),
            (DeValue::Integer(number), _) => {
                number.as_str().parse().ok().filter(|number| (1..=MAX_AMOUNT).contains(number))
            }
            _ => None,
        };
        limit.ok_or_else(|| self.failure(entry.at, FileProblem::Amount { key: entry.path.clone() }))
    }

    fn not_a_choice(&self, entry: &Entry, choices: &[&'static str]) -> Failure {
        let given = self.string(entry).unwrap_or_default().to_owned();
        let (key, choices) = (entry.path.clone(), choices.to_vec());
        self.failure(entry.at, FileProblem::Choice { key, given, choices })
    }

    fn stages(&self, entry: &Entry) -> Result<Vec<Stage>, Failure> {
        let wrong_type = || self.wrong_type(entry, ValueType::TextList);
        let list = entry.value.get_ref().as_array().ok_or_else(wrong_type)?;
        let mut stages = Vec::new();
        for item in list {
            let given = item.get_ref().as_str().ok_or_else(wrong_type)?;
            let Some(stage) = Stage::from_key(given) else {
                let (key, given) = (entry.path.clone(), given.to_owned());
                return Err(self.failure(item.span().start, FileProblem::Stage { key, given }));
            };
            if !stages.contains(&stage) {
                stages.push(stage);
            }
        }
        Ok(stages)
    }

    fn timeout(&self, entry: &Entry) -> Result<Duration, Failure> {
        let given = self.string(entry)?;
        match parse_duration(given) {
            Some(duration) if !duration.is_zero() && duration <= Check::MAX_TIMEOUT => Ok(duration),
            _ => {
                let (key, given) = (entry.path.clone(), given.to_owned());
                Err(self.failure(entry.at, FileProblem::Duration { key, given }))
            }
        }
    }

    fn table<'e>(&self, entry: &Entry<'e>) -> Result<&'e DeTable<'e>, Failure> {
        entry.value.get_ref().as_table().ok_or_else(|| self.wrong_type(entry, ValueType::Table))
    }

    fn string<'e>(&self, entry: &Entry<'e>) -> Result<&'e str, Failure> {
        entry.value.get_ref().as_str().ok_or_else(|| self.wrong_type(entry, ValueType::Text))
    }

    fn wrong_type(&self, entry: &Entry, expected: ValueType) -> Failure {
        self.failure(entry.at, FileProblem::WrongType { key: entry.path.clone(), expected })
    }

    fn note_unknown(&mut self, entry: &Entry) {
        let line = line_of(self.text, entry.at);
        self.file.unknown_keys.push(UnknownKey { name: entry.path.clone(), line });
    }

    fn failure(&self, at: usize, problem: FileProblem) -> Failure {
        (line_of(self.text, at), problem)
    }
}

/// `90s`, `10m` or `1h`.
fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?))
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or(text);
    before.matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_limits_the_workflow_and_each_stage() {
        let text = "[budget]\nusd = 2.5\ntokens = 2_000_000\nagents = 20\nhours = 1\n[budget.stage]\nminutes = 30\nusd = 1\n";
        let file = parse(text).unwrap();
        assert_eq!(file.budget.workflow.to_string(), "2.5usd,2000000tokens,20agents");
        assert_eq!(file.budget.stage.to_string(), "1usd,30min");
        assert_eq!(file.unknown_keys, [UnknownKey { name: "budget.hours".into(), line: 5 }]);
        for (text, line, key) in [
            ("[budget]\nusd = 0", 2, "budget.usd"),
            ("[budget]\nagents = 1.5", 2, "budget.agents"),
            ("[budget]\ntokens = \"many\"", 2, "budget.tokens"),
            ("\n[budget.stage]\nminutes = -1", 3, "budget.stage.minutes"),
        ] {
            assert_eq!(parse(text).unwrap_err(), (line, FileProblem::Amount { key: key.into() }), "{text}");
        }
    }

    #[test]
    fn a_file_is_read_in_its_order() {
        let text = r#"
# comment
[checks.test]
run = "cargo test --workspace"
stages = ["DEV", "TEST", "DEV"]
timeout = "15m"

[checks.lint]
run = ' cargo clippy '

[guard]
level = "strict"
"#;
        let file = parse(text).unwrap();
        let minutes = |n: u64| Duration::from_secs(60 * n);
        let check = |name: &str, run: &str, timeout| Check {
            name: name.to_owned(),
            run: run.to_owned(),
            stages: vec![Stage::Dev, Stage::Test],
            timeout,
        };
        let checks = [
            check("test", "cargo test --workspace", minutes(15)),
            check("lint", "cargo clippy", minutes(10)),
        ];
        assert_eq!(file.checks, checks);
        assert_eq!((file.guard, file.unknown_keys), (Some(GuardLevel::Strict), Vec::new()));
        assert_eq!(parse("").unwrap(), ProjectFile::default());
    }

    #[test]
    fn the_rules_for_stages_are_read() {
        let file = parse("[stages]\nretro = 'on-trouble'\ndocs = 'on-change'\ntest = 'x'\n").unwrap();
        assert_eq!((file.retro, file.docs), (Some(RetroRule::OnTrouble), Some(DocsRule::OnChange)));
        assert_eq!(file.unknown_keys[0].name, "stages.test");
        let none = parse("[stages]\n").unwrap();
        assert_eq!((none.retro, none.docs), (None, None));
    }

    #[test]
    fn unknown_keys_are_named_and_do_no_harm() {
        let text = "new = 1\n[checks.test]\nrun = 'x'\nretries = 2\n[guard]\nmode = 1\n[later]\nlimit = 5\n";
        let file = parse(text).unwrap();
        assert_eq!(file.checks.len(), 1);
        let names: Vec<_> = file.unknown_keys.iter().map(|key| (key.name.as_str(), key.line)).collect();
        assert_eq!(names, [("new", 1), ("checks.test.retries", 4), ("guard.mode", 6), ("later", 7)]);
    }

    #[test]
    fn a_wrong_value_is_reported_with_its_line() {
        let wrong = |key: &str, expected| FileProblem::WrongType { key: key.to_owned(), expected };
        let duration = |given: &str| FileProblem::Duration {
            key: "checks.a.timeout".to_owned(),
            given: given.to_owned(),
        };
        let cases = [
            ("checks = 1", (1, wrong("checks", ValueType::Table))),
            ("[checks]\na = 'x'", (2, wrong("checks.a", ValueType::Table))),
            ("[checks.a]\nrun = 1", (2, wrong("checks.a.run", ValueType::Text))),
            ("[checks.a]\nrun = 'x'\nstages = 'DEV'", (3, wrong("checks.a.stages", ValueType::TextList))),
            ("[checks.a]\nrun = 'x'\nstages = [1]", (3, wrong("checks.a.stages", ValueType::TextList))),
            ("\n[checks.a]\n", (2, FileProblem::NoCommand("a".to_owned()))),
            ("[checks.a]\nrun = '  '", (1, FileProblem::NoCommand("a".to_owned()))),
            ("[checks.A]\nrun = 'x'", (1, FileProblem::CheckName("A".to_owned()))),
            ("[checks.'../x']\nrun = 'x'", (1, FileProblem::CheckName("../x".to_owned()))),
            (
                "[checks.a]\nrun = 'x'\nstages = [\n 'DEV',\n 'dev']",
                (5, FileProblem::Stage { key: "checks.a.stages".to_owned(), given: "dev".to_owned() }),
            ),
            ("[checks.a]\nrun = 'x'\ntimeout = 'soon'", (3, duration("soon"))),
            ("[checks.a]\nrun = 'x'\ntimeout = '2h'", (3, duration("2h"))),
            ("[checks.a]\nrun = 'x'\ntimeout = '0s'", (3, duration("0s"))),
            (
                "[stages]\nretro = 'never'",
                (
                    2,
                    FileProblem::Choice {
                        key: "stages.retro".to_owned(),
                        given: "never".to_owned(),
                        choices: vec!["always", "on-trouble"],
                    },
                ),
            ),
            ("[stages]\ndocs = 1", (2, wrong("stages.docs", ValueType::Text))),
            ("[guard]\nlevel = 'harsh'", (2, FileProblem::GuardLevel("harsh".to_owned()))),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).unwrap_err(), expected, "{text}");
        }
        for (text, line) in [("[checks.a\nrun = 'x'", 1), ("[checks.a]\nrun = 'x'\nrun = 'y'", 3)] {
            let (found, problem) = parse(text).unwrap_err();
            assert!(
                found == line && matches!(problem, FileProblem::Syntax(_)),
                "{text}: {found} {problem:?}"
            );
        }
    }

    #[test]
    fn durations_have_one_number_and_one_unit() {
        assert_eq!(parse_duration("90s"), Some(Duration::from_secs(90)));
        assert_eq!(parse_duration("1h"), Some(Duration::from_hours(1)));
        for text in
            ["", "s", "90", "1d", "-1s", "+1s", "1.5m", "1 m", "1m30s", "99999999999999999999s", "1測"]
        {
            let is_none = parse_duration(text).is_none_or(|duration| duration.is_zero());
            assert!(is_none, "{text}");
        }
    }
}
