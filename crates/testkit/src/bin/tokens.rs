//! Plays one session of the token measurement and prints its bill as a line of JSON. `cargo xtask tokens` runs it.

use std::process::ExitCode;

use overtone_testkit::Client;
use overtone_testkit::economy::{Bill, Language, Piece, Played, Profile, Subject, play};
use serde::Serialize;

const USAGE: &str = "usage: tokens list | tokens play RUN PROFILE LANGUAGE [--pieces]";

/// A session that can be played.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    run: &'static str,
    profile: &'static str,
    language: &'static str,
    /// The run that it is compared with.
    baseline: &'static str,
    /// Whether another product is measured, which may do something else in every run.
    is_peer: bool,
}

/// The last line that `play` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    /// Why the session cannot be measured with this program.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_supported: Option<&'a str>,
    #[serde(flatten)]
    bill: Option<&'a Bill>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (shows_pieces, words) = match words[..] {
        [ref first @ .., "--pieces"] => (true, first.to_vec()),
        _ => (false, words),
    };
    match words[..] {
        ["list"] => list(),
        ["play", run, profile, language] => {
            match (Subject::find(run), Profile::find(profile), Language::find(language)) {
                (Some(subject), Some(profile), Some(language)) => {
                    play_one(subject, profile, language, shows_pieces)
                }
                _ => fail(&format!("no such session: {run} {profile} {language}")),
            }
        }
        _ => fail(USAGE),
    }
}

fn list() -> ExitCode {
    for subject in Subject::all() {
        for profile in subject.profiles() {
            for language in Language::ALL {
                print_line(&Session {
                    run: subject.name(),
                    profile: profile.name(),
                    language: language.tag(),
                    baseline: subject.baseline().name(),
                    is_peer: matches!(subject, Subject::Peer(_)),
                });
            }
        }
    }
    ExitCode::SUCCESS
}

/// The newest client plays the session.
fn play_one(subject: Subject, profile: Profile, language: Language, shows_pieces: bool) -> ExitCode {
    let clients = Client::all();
    let Some(client) = clients.last() else { return fail("there is no client") };
    let show = |piece: &Piece<'_>| {
        if shows_pieces {
            print_line(piece);
        }
    };
    match play(subject, profile, language, client, show) {
        Played::Bill(bill) => print_line(&Outcome { not_supported: None, bill: Some(&bill) }),
        Played::NotSupported(reason) => print_line(&Outcome { not_supported: Some(&reason), bill: None }),
    }
    ExitCode::SUCCESS
}

/// What is printed are numbers and texts, which always become JSON.
fn print_line(value: &impl Serialize) {
    println!("{}", serde_json::to_string(value).unwrap_or_default());
}

fn fail(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::FAILURE
}
