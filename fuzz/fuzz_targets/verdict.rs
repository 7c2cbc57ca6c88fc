//! An agent's last message, for every kind of stage: a marker at its end decides, an unknown one is never a pass, and the
//! client's own words are no verdict.

#![no_main]

use libfuzzer_sys::fuzz_target;
use overtone_engine::state::Verdict;
use overtone_engine::{Judgement, judge};
use overtone_registry::Stage;

/// One for every way in which words are read, and none.
const STAGES: [Option<Stage>; 5] =
    [Some(Stage::Test), Some(Stage::Review), Some(Stage::Retro), Some(Stage::Dev), None];

fuzz_target!(|message: &str| {
    for stage in STAGES {
        let judged = judge(stage, message);
        assert_eq!(judged, judge(stage, &format!("\n{message}\n")), "blank lines say nothing");
        if message.trim_start().starts_with("API Error") {
            assert_eq!(judged, Judgement::Broken);
            continue;
        }
        let Judgement::Verdict(verdict) = judged else { panic!("broken without an error") };
        fits_its_stage(stage, verdict);
        the_last_marker_decides(stage, message);
        if is_maker(stage) && !message.contains("<!--") {
            assert_eq!(verdict, Verdict::Pass, "words of a maker are no verdict");
        }
    }
});

fn is_maker(stage: Option<Stage>) -> bool {
    matches!(stage, None | Some(Stage::Dev))
}

fn fits_its_stage(stage: Option<Stage>, verdict: Verdict) {
    match stage {
        Some(Stage::Retro) => assert!(matches!(verdict, Verdict::Pass | Verdict::Issues)),
        Some(_) => assert_ne!(verdict, Verdict::Issues),
        None => {}
    }
}

fn the_last_marker_decides(stage: Option<Stage>, message: &str) {
    let marked = |word: &str| {
        let text = format!("{message}\n<!-- VERDICT: {{\"result\": \"{word}\"}} -->");
        judge(stage, &text)
    };
    assert_eq!(marked("PASS"), Judgement::Verdict(Verdict::Pass));
    assert_ne!(marked("FAIL"), Judgement::Verdict(Verdict::Pass));
    assert_ne!(marked("REJECT"), Judgement::Verdict(Verdict::Pass));
    assert_ne!(marked("PERHAPS"), Judgement::Verdict(Verdict::Pass), "an unknown marker is no pass");
    assert_ne!(marked(""), Judgement::Verdict(Verdict::Pass), "nor is an empty one");
}
