//! What agents say, and what the hooks' texts ask for. Orders are read as a model reads them: by the agents they
//! name (`ot:tester`), in whatever language.

use overtone_registry::{Agent, PLUGIN_PREFIX, Stage};

use super::dice::Dice;

/// What an agent's last message comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Pass,
    Issues,
    Fail,
    Reject,
}

impl Verdict {
    pub(crate) const ALL: [Self; 4] = [Self::Pass, Self::Issues, Self::Fail, Self::Reject];

    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Issues => "issues",
            Self::Fail => "fail",
            Self::Reject => "reject",
        }
    }

    pub(crate) fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.key() == key)
    }
}

/// A last message with its meaning.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) verdict: Verdict,
}

/// A last message of this agent, good or bad news, by marker or by wording.
pub(crate) fn say(dice: &mut Dice, agent: Agent, bad: bool) -> Said {
    let verdict = if bad { bad_news(agent) } else { Verdict::Pass };
    let text = if dice.percent(60) { marker(dice, agent, verdict) } else { wording(dice, agent, verdict) };
    Said { text, verdict }
}

fn bad_news(agent: Agent) -> Verdict {
    match agent.stage() {
        Some(Stage::Review | Stage::Security | Stage::DbReview) => Verdict::Reject,
        Some(Stage::Retro) => Verdict::Issues,
        _ => Verdict::Fail,
    }
}

fn marker(dice: &mut Dice, agent: Agent, verdict: Verdict) -> String {
    let word = match (verdict, agent.stage()) {
        (Verdict::Pass, _) => dice.pick(&["PASS", "PASS", "APPROVED", "pass"]),
        (Verdict::Issues, _) => dice.pick(&["ISSUES", "FAIL"]),
        (Verdict::Fail, Some(Stage::Qa | Stage::Test | Stage::E2e)) => {
            dice.pick(&["FAIL", "ISSUES", "MAYBE"])
        }
        (Verdict::Fail, _) => "FAIL",
        (Verdict::Reject, _) => dice.pick(&["REJECT", "REQUEST_CHANGES", "ISSUES"]),
    };
    let before =
        dice.pick(&["Work is done.", "3 failed in the first run, repaired since.", "做好了。\n\n- 說明"]);
    let before = if word == "MAYBE" { "Hard to say." } else { before };
    format!("{before}\n<!-- VERDICT: {{\"result\":\"{word}\"}} -->")
}

/// Makers have no wording for bad news, so theirs is always a marker.
fn wording(dice: &mut Dice, agent: Agent, verdict: Verdict) -> String {
    let text = match (verdict, agent.stage()) {
        (Verdict::Pass, Some(Stage::Review | Stage::Security | Stage::DbReview)) => {
            dice.pick(&["LGTM, approved", "no rejections", "沒有拒絕的理由"])
        }
        (Verdict::Pass, Some(Stage::Test | Stage::Qa | Stage::E2e)) => {
            dice.pick(&["12 passed, 0 failed", "All tests pass.", "沒有失敗", "failed: 0"])
        }
        (Verdict::Pass, Some(Stage::Retro)) => dice.pick(&["No issues.", "0 issues"]),
        (Verdict::Pass, _) => dice.pick(&["implemented as planned", "完成"]),
        (Verdict::Reject, _) => {
            dice.pick(&["REQUEST CHANGES", "I reject this", "審查結果：拒絕", "2 rejections"])
        }
        (Verdict::Issues, _) => dice.pick(&["3 issues found", "2 improvements"]),
        (Verdict::Fail, Some(Stage::Test | Stage::Qa | Stage::E2e)) => {
            dice.pick(&["10 failed", "12 passed, 1 failed", "3 個測試失敗", "failed: 3"])
        }
        (Verdict::Fail, _) => return marker(dice, agent, verdict),
    };
    text.to_owned()
}

/// What a text asks the main agent to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Orders {
    /// Delegate these: the debugger before the developer, others together.
    Send(Vec<Agent>),
    /// Tick the tasks that are done.
    Tick,
}

/// The last line that names agents counts: earlier ones may have been overtaken.
pub(crate) fn orders(text: &str) -> Option<Orders> {
    text.lines().rev().find_map(|line| {
        let agents = named(line);
        if !agents.is_empty() {
            return Some(Orders::Send(agents));
        }
        line.contains("tasks.md").then_some(Orders::Tick)
    })
}

fn named(line: &str) -> Vec<Agent> {
    let mentions = line.split(PLUGIN_PREFIX).skip(1);
    let names = mentions.map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
        &rest[..end]
    });
    names.filter_map(Agent::from_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_with_agents_is_what_counts() {
        let text = "next: TESTER (ot:tester)\n下一步請委派 CODE-REVIEWER（ot:code-reviewer）、TESTER（ot:tester）。\n/ot:quick";
        assert_eq!(orders(text), Some(Orders::Send(vec![Agent::CodeReviewer, Agent::Tester])));
        assert_eq!(orders("2 left. Tick them in tasks.md."), Some(Orders::Tick));
        assert_eq!(orders("🎉 done"), None);
    }
}
