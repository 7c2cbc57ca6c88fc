//! Progress messages for the user, on stderr.

use std::io::{self, Write};

use overtone_core::engine::text::printable_lines;
use overtone_core::messages::{Lang, supervisor as messages};
use overtone_store::SessionId;

use crate::supervisor::review::NoReview;
use crate::supervisor::verdict::Verdict;
use overtone_store::supervision::StateFolder;

/// The message at a supervised start that lists the log files.
pub fn launch_notice(folder: &StateFolder, lang: Lang) -> String {
    let lines = [
        messages::log_files(lang),
        messages::state_folder(lang, &folder.path().display().to_string()),
        messages::invocation_log(lang, &folder.log_file().display().to_string()),
        messages::output_log(lang, &folder.output_file("{session}").display().to_string()),
    ];
    lines.join("\n")
}

/// Prints one or more lines. Control characters are removed, since the text may quote the reviewer.
pub(crate) fn print(text: &str) {
    // A closed stderr cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "{}", printable_lines(text));
}

/// Lists the settings that are invalid and therefore ignored.
pub(crate) fn print_settings_errors(errors: &[String], lang: Lang) {
    if !errors.is_empty() {
        print(&messages::wrong_settings(lang, &errors.join(", ")));
    }
}

pub(crate) fn print_round_start(session: &SessionId, round: u32, limit: u32, lang: Lang) {
    print(&messages::begins(lang));
    print(&messages::round(lang, session.as_str(), round, limit));
}

pub(crate) fn print_reviewing(lang: Lang) {
    print(&messages::reviewing(lang));
    print(&messages::see_log(lang));
}

pub(crate) fn print_outcome(review: &Result<Verdict, NoReview>, lang: Lang) {
    print(&match review {
        Ok(verdict) if verdict.allow_stop => {
            format!("{}\n{}", messages::completed(lang), messages::may_stop(lang))
        }
        Ok(verdict) => {
            format!("{}\n{}\n{}", messages::not_completed(lang), verdict.feedback, messages::goes_on(lang))
        }
        Err(reason) => messages::not_reviewed(lang, &reason.reason(lang)),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launch_notice_lists_every_log() {
        let folder = StateFolder::resolve(Some("/tmp/test".into()), None, None).unwrap();
        let text = launch_notice(&folder, Lang::ZhCn);
        assert!(text.starts_with("[Supervisor Mode] 日志文件:\n"));
        for path in
            ["/tmp/test/ccc\n", "/ccc/hook-invocation.log\n", "/ccc/supervisor-{session}-output.jsonl"]
        {
            assert!(text.contains(path), "{path}: {text}");
        }
    }
}
