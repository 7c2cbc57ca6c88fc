//! What the person sees on stderr.

use std::io::{self, Write};

use overtone_engine::text::printable_lines;
use overtone_messages::{Lang, supervisor as words};
use overtone_store::SessionId;

use crate::folder::StateFolder;
use crate::review::NoReview;
use crate::verdict::Verdict;

/// Where the logs are, for the launch in supervisor mode.
pub fn launch_notice(folder: &StateFolder, lang: Lang) -> String {
    let lines = [
        words::log_files(lang),
        words::state_folder(lang, &folder.path().display().to_string()),
        words::invocation_log(lang, &folder.log_file().display().to_string()),
        words::output_log(lang, &folder.output_file("{session}").display().to_string()),
    ];
    lines.join("\n")
}

/// One or more lines, which may quote the reviewer.
pub(crate) fn say(text: &str) {
    // There is nowhere to report that stderr is closed.
    let _ = writeln!(io::stderr(), "{}", printable_lines(text));
}

/// What of the settings was not understood.
pub(crate) fn problems(problems: &[String], lang: Lang) {
    if !problems.is_empty() {
        say(&words::wrong_settings(lang, &problems.join(", ")));
    }
}

pub(crate) fn begin(session: &SessionId, round: u32, limit: u32, lang: Lang) {
    say(&words::begins(lang));
    say(&words::round(lang, session.as_str(), round, limit));
}

pub(crate) fn reviewing(lang: Lang) {
    say(&words::reviewing(lang));
    say(&words::see_log(lang));
}

pub(crate) fn end(review: &Result<Verdict, NoReview>, lang: Lang) {
    say(&match review {
        Ok(verdict) if verdict.allow_stop => format!("{}\n{}", words::completed(lang), words::may_stop(lang)),
        Ok(verdict) => {
            format!("{}\n{}\n{}", words::not_completed(lang), verdict.feedback, words::goes_on(lang))
        }
        Err(reason) => words::not_reviewed(lang, &reason.reason(lang)),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launch_names_every_log() {
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
