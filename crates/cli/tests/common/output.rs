//! The result of a run, and what is asserted about it.

use serde_json::Value;

/// What a hook prints when it has nothing to say.
pub(crate) const NOTHING: &str = r#"{"result":""}"#;

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    pub(crate) fn new(output: &std::process::Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("the output is not UTF-8");
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// Exit code 0 and nothing on stderr.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "stdout: {}", self.stdout);
        self
    }

    /// Exit code 0; notes on stderr are allowed.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Exit code 1, one error and one hint on stderr with these parts, nothing on stdout.
    #[track_caller]
    pub(crate) fn fails(self, parts: &[&str]) -> Self {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "stderr: {}", self.stderr);
        let lines: Vec<_> = self.stderr.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].starts_with("error: ") && lines[1].starts_with("hint: "),
            "{lines:?}"
        );
        self.stderr_has(parts)
    }

    /// This exit code, and an error with this part and a hint on stderr. Notes may come before it.
    #[track_caller]
    pub(crate) fn fails_with(self, code: i32, part: &str) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.contains(part) && self.stderr.contains("\nhint: "), "{self:?}");
        self
    }

    /// The argument parser rejected the command line.
    #[track_caller]
    pub(crate) fn refused_by_parser(self) -> Self {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "stderr: {}", self.stderr);
        assert!(self.stderr.contains("Usage:") || self.stderr.contains("--help"), "{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn stderr_has(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in stderr: {}", self.stderr);
        }
        self
    }

    #[track_caller]
    pub(crate) fn has(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stdout.contains(part), "no {part:?} in stdout: {}", self.stdout);
        }
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The answer of a hook, which must end with 0 and print exactly one object on one line.
    #[track_caller]
    pub(crate) fn answer(&self) -> Value {
        assert_eq!(self.code, Some(0), "a hook always ends with 0; stderr: {}", self.stderr);
        let line = self.stdout.strip_suffix('\n').unwrap_or(&self.stdout);
        assert!(!line.contains('\n'), "more than one line on stdout: {line}");
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| {
            panic!("stdout is not JSON ({error}): {line:?}; stderr: {}", self.stderr)
        });
        assert!(value.is_object(), "stdout is not a JSON object: {line}");
        value
    }

    /// The hook printed exactly the empty answer.
    #[track_caller]
    pub(crate) fn assert_says_nothing(&self) {
        self.answer();
        assert_eq!(self.stdout.trim_end(), NOTHING, "stderr: {}", self.stderr);
    }

    /// A line on stderr begins with this log prefix.
    #[track_caller]
    pub(crate) fn assert_logged(&self, source: &str) {
        let prefix = format!("[overtone/{source}");
        assert!(
            self.stderr.lines().any(|line| line.starts_with(&prefix)),
            "no stderr line begins with {prefix}: {:?}",
            self.stderr
        );
    }
}
