//! What agents say, and what the hooks' texts ask for. Orders are read as a model reads them: by the agents they
//! name (`ot:tester`), in whatever language.

use overtone_core::registry::{Agent, PLUGIN_PREFIX, Stage};

use super::dice::Dice;

/// What an agent's work came to, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Pass,
    Issues,
    Fail,
    Reject,
    Blocked,
}

impl Verdict {
    const ALL: [Self; 5] = [Self::Pass, Self::Issues, Self::Fail, Self::Reject, Self::Blocked];

    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Issues => "issues",
            Self::Fail => "fail",
            Self::Reject => "reject",
            Self::Blocked => "blocked",
        }
    }

    pub(crate) fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.key() == key)
    }
}

/// What a report has to be read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Verdict(Verdict),
    /// Neither a verdict nor words of failure.
    Unclear,
    /// The API broke; the text is the client's.
    Broken,
}

/// A report with what it means.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) content: Content,
}

/// Which news an agent has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    Good,
    Bad,
    Blocked,
    /// A report without a verdict.
    Unclear,
}

/// A report of this agent. Only a marker says that all is well; bad news may come in words, too.
pub(crate) fn say(dice: &mut Dice, agent: Agent, news: News) -> Said {
    let verdict = match news {
        News::Good => Verdict::Pass,
        News::Bad => bad_news(agent),
        News::Blocked => Verdict::Blocked,
        News::Unclear => return Said { text: unclear(dice, agent), content: Content::Unclear },
    };
    let by_marker = verdict == Verdict::Pass || dice.percent(60);
    let text = if by_marker { marker(dice, agent, verdict) } else { wording(dice, agent, verdict) };
    Said { text, content: Content::Verdict(verdict) }
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
        (Verdict::Fail, Some(Stage::Qa | Stage::Test | Stage::E2e)) => dice.pick(&["FAIL", "ISSUES"]),
        (Verdict::Fail, _) => "FAIL",
        (Verdict::Reject, _) => dice.pick(&["REJECT", "REQUEST_CHANGES", "ISSUES"]),
        (Verdict::Blocked, _) => dice.pick(&["BLOCKED", "blocked"]),
    };
    let before =
        dice.pick(&["Work is done.", "3 failed in the first run, repaired since.", "做好了。\n\n- 說明"]);
    format!("{before}\n<!-- VERDICT: {{\"result\":\"{word}\"}} -->")
}

/// Bad news without the marker.
fn wording(dice: &mut Dice, agent: Agent, verdict: Verdict) -> String {
    let text = match (verdict, agent.stage()) {
        (Verdict::Reject, _) => {
            dice.pick(&["REQUEST CHANGES", "I reject this", "審查結果：拒絕", "2 rejections"])
        }
        (Verdict::Issues, _) => dice.pick(&["3 issues found", "2 improvements"]),
        (Verdict::Blocked, _) => dice.pick(&["Verdict: BLOCKED", "{\"result\": \"BLOCKED\"}"]),
        (Verdict::Fail, Some(Stage::Test | Stage::Qa | Stage::E2e)) => {
            dice.pick(&["10 failed", "12 passed, 1 failed", "3 個測試失敗", "failed: 3", "exit code 1"])
        }
        _ => dice.pick(&["I could not finish: the API is missing", "文件無法完成", "VERDICT: FAIL"]),
    };
    text.to_owned()
}

/// Texts that sound like a success, or like nothing.
fn unclear(dice: &mut Dice, agent: Agent) -> String {
    if dice.percent(30) {
        let texts =
            ["", "VERDICT: PASS", "Hard to say.\n<!-- VERDICT: {\"result\":\"MAYBE\"} -->", "全部通過"];
        return dice.pick(&texts).to_owned();
    }
    let text = match agent.stage() {
        Some(Stage::Review | Stage::Security | Stage::DbReview) => {
            dice.pick(&["LGTM, approved", "no rejections", "沒有拒絕的理由"])
        }
        Some(Stage::Test | Stage::Qa | Stage::E2e) => {
            dice.pick(&["12 passed, 0 failed", "All tests pass.", "沒有失敗", "failed: 0"])
        }
        Some(Stage::Retro) => dice.pick(&["No issues.", "0 issues"]),
        _ => dice.pick(&["implemented as planned", "完成"]),
    };
    text.to_owned()
}

/// What a text asks the main agent to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Orders {
    /// Delegate these: the debugger before the developer, others together.
    Send(Vec<Agent>),
    /// Ask the user, then delegate this one again.
    Ask(Vec<Agent>),
}

impl Orders {
    pub(crate) fn agents(&self) -> &[Agent] {
        match self {
            Self::Send(agents) | Self::Ask(agents) => agents,
        }
    }
}

/// How a text about a paused workflow says that what follows is only for a user who asks for it.
const IF_ASKED: &str = "若使用者要繼續";

/// How a prompt is taken while a stage waits for the user's answer.
const IF_ANSWERED: &str = "若這就是回答";

/// The last line that names agents counts: earlier ones may have been overtaken.
pub(crate) fn orders(text: &str) -> Option<Orders> {
    text.lines().rev().filter(|line| is_imperative(line)).find_map(order_in)
}

/// What the main agent may do if the user wants a paused workflow to go on.
pub(crate) fn offers(text: &str) -> Option<Orders> {
    text.lines().rev().filter_map(|line| line.split_once(IF_ASKED)).find_map(|(_, rest)| order_in(rest))
}

/// Whether a text pushes the main agent to go on by itself.
pub(crate) fn pushes(text: &str) -> bool {
    // With the user's answer in hand, going on is their word.
    let mut lines = text.lines().filter(|line| is_imperative(line) && !line.contains(IF_ANSWERED));
    lines.any(|line| !named(line).is_empty() || line.contains("禁止詢問使用者是否繼續"))
}

/// Neither an offer nor an item of a list, such as a lesson that quotes an error with an agent's name.
fn is_imperative(line: &str) -> bool {
    !line.contains(IF_ASKED) && !line.starts_with("- ")
}

fn order_in(line: &str) -> Option<Orders> {
    let agents = named(line);
    if agents.is_empty() {
        return None;
    }
    let is_for_user = line.contains("AskUserQuestion") || line.contains(IF_ANSWERED);
    Some(if is_for_user { Orders::Ask(agents) } else { Orders::Send(agents) })
}

fn named(line: &str) -> Vec<Agent> {
    let by_loop = named_by_loop(line);
    if !by_loop.is_empty() {
        return by_loop;
    }
    let mentions = line.split(PLUGIN_PREFIX).skip(1);
    let names = mentions.map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
        &rest[..end]
    });
    names.filter_map(Agent::from_name).collect()
}

/// The loop's own text is shown to the user, so it names agents in capitals and without a prefix: `下一步：TESTER。`
/// The stages that a repair is about may be spelled like an agent, and follow these words.
fn named_by_loop(line: &str) -> Vec<Agent> {
    let Some((_, rest)) = line.split_once("下一步：") else { return Vec::new() };
    if !rest.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Vec::new();
    }
    let agents = rest.split(['依', '然']).next().unwrap_or_default();
    let words = agents.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter_map(|word| Agent::from_name(&word.to_ascii_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_with_agents_is_what_counts() {
        let text = "next: TESTER (ot:tester)\n下一步請委派 CODE-REVIEWER（ot:code-reviewer）、TESTER（ot:tester）。\n/ot:quick";
        assert_eq!(orders(text), Some(Orders::Send(vec![Agent::CodeReviewer, Agent::Tester])));
        let parallel = "下一步：QA、E2E-RUNNER，並行進行。";
        assert_eq!(orders(parallel), Some(Orders::Send(vec![Agent::Qa, Agent::E2eRunner])));
        let repair = "下一步：DEBUGGER，找出原因；接著由 DEVELOPER 依 QA 的回報一次修復，然後重跑 QA。";
        assert_eq!(orders(repair), Some(Orders::Send(vec![Agent::Debugger, Agent::Developer])));
        let blocked = "ask with AskUserQuestion, then delegate TESTER (ot:tester) again";
        assert_eq!(orders(blocked), Some(Orders::Ask(vec![Agent::Tester])));
        assert_eq!(orders("🎉 done"), None);
    }

    #[test]
    fn an_offer_to_the_user_is_no_order() {
        let text =
            "工作流 quick 已暫停。若使用者要繼續，從 TESTER（ot:tester） 接著做。若是提問，直接回應即可。";
        assert_eq!((orders(text), pushes(text)), (None, false));
        assert_eq!(offers(text), Some(Orders::Send(vec![Agent::Tester])));
        assert!(pushes("下一步請委派 TESTER（ot:tester）。"));
        assert!(!pushes("- Agent 曾失敗：Agent type 'ot:tester' not found"));
    }
}
