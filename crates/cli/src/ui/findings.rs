//! The findings of a doctor command.

use serde::Serialize;

/// A problem that a doctor command found.
#[derive(Debug, Serialize)]
pub(crate) struct FindingReport {
    pub(crate) name: &'static str,
    #[serde(rename = "serious")]
    pub(crate) is_serious: bool,
    pub(crate) what: String,
    /// `None` if the description itself says what to do.
    pub(crate) fix: Option<String>,
}

/// One entry per finding, with the fix on a line of its own.
pub(crate) fn render(findings: &[FindingReport], render_fix: impl Fn(&str) -> String) -> Vec<String> {
    let mut entries = Vec::new();
    for finding in findings {
        let mark = if finding.is_serious { "✗" } else { "!" };
        let mut entry = format!("{mark} {}", finding.what);
        if let Some(fix) = &finding.fix {
            entry.push('\n');
            entry.push_str(&render_fix(fix));
        }
        entries.push(entry);
    }
    entries
}

pub(crate) fn serious_count(findings: &[FindingReport]) -> usize {
    findings.iter().filter(|finding| finding.is_serious).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_follows_its_finding() {
        let finding = |is_serious, fix: Option<&str>| FindingReport {
            name: "x",
            is_serious,
            what: "no client".into(),
            fix: fix.map(str::to_owned),
        };
        let findings = [finding(true, Some("install it")), finding(false, None)];
        assert_eq!(
            render(&findings, |fix| format!("  fix: {fix}")),
            ["✗ no client\n  fix: install it", "! no client"]
        );
        assert_eq!(
            serde_json::to_string(&findings[1]).unwrap(),
            r#"{"name":"x","serious":false,"what":"no client","fix":null}"#
        );
        assert_eq!(serious_count(&findings), 1);
    }
}
