//! An agent's last message, for every kind of stage: only a marker makes a pass, a bad or unknown one at the end is
//! never a pass, and the client's own words are no verdict.

use overtone_core::engine::state::Verdict;
use overtone_core::engine::{Judgement, judge};
use overtone_core::registry::Stage;

/// One for every way in which words are read, and none.
const STAGES: [Option<Stage>; 5] =
    [Some(Stage::Test), Some(Stage::Review), Some(Stage::Retro), Some(Stage::Dev), None];

const PASS: Judgement = Judgement::Verdict(Verdict::Pass);

pub fn check(data: &[u8]) {
    let Ok(message) = std::str::from_utf8(data) else { return };
    for stage in STAGES {
        let judged = judge(stage, message);
        assert_eq!(judged, judge(stage, &format!("\n{message}\n")), "blank lines say nothing");
        match judged {
            Judgement::Broken => assert!(message.trim_start().starts_with("API Error")),
            Judgement::Verdict(verdict) => fits_its_stage(stage, verdict),
            Judgement::NoVerdict => {}
        }
        assert!(judged != PASS || message.contains("<!--"), "words alone are no pass");
        the_last_marker_decides(stage, message);
    }
}

fn fits_its_stage(stage: Option<Stage>, verdict: Verdict) {
    match stage {
        Some(Stage::Retro) => assert!(!matches!(verdict, Verdict::Fail | Verdict::Reject)),
        Some(_) => assert_ne!(verdict, Verdict::Issues),
        None => {}
    }
}

fn the_last_marker_decides(stage: Option<Stage>, message: &str) {
    let marked = |word: &str| {
        let text = format!("{message}\n<!-- VERDICT: {{\"result\": \"{word}\"}} -->");
        judge(stage, &text)
    };
    // Anything else may be a quotation that the marker is a part of.
    if message.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ' || c == '\n') {
        assert_eq!(marked("PASS"), PASS);
    }
    for word in ["FAIL", "REJECT", "BLOCKED", "PERHAPS", ""] {
        assert_ne!(marked(word), PASS, "{word} at the end is no pass");
    }
}
