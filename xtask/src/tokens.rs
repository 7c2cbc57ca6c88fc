//! `cargo xtask tokens`: what Overtone costs in input tokens, by scripted sessions in the real client.
//!
//! The sessions and the counting are in `crates/testkit/src/economy`. This only runs them, compares and renders.

mod bars;
mod counts;
mod page;
mod play;
mod plot;
mod results;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::kit::{KitProgram, refuse_unknown};
use crate::{e2e, peers, shell, tools};
use counts::Counts;
use play::Plan;
use results::{Results, Session};

/// What a full run can write.
const PAGE: &str = "docs/benchmarks/tokens.md";
const PLOT: &str = "docs/benchmarks/tokens.svg";

/// The sessions of the check: a session without Overtone, in which only a new client makes a difference, and the workflow that is
/// used most.
const CHECKED: [&str; 2] = ["plain", "quick"];

/// How many clients run at the same time.
const JOBS: usize = 2;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags of a command line")]
pub(crate) struct Options {
    /// Only this run, such as quick or chat; may be repeated. The run that it is compared with is played too
    #[arg(long = "run", value_name = "NAME")]
    runs: Vec<String>,
    /// Only these profiles, such as --profile default,lean
    #[arg(long = "profile", value_name = "NAMES", value_delimiter = ',')]
    profiles: Vec<String>,
    /// Only these languages, such as --lang en
    #[arg(long = "lang", value_name = "LANGS", value_delimiter = ',')]
    languages: Vec<String>,
    /// How often each session is played; every time must have the same counts
    #[arg(long, value_name = "N", default_value_t = 1)]
    times: usize,
    /// How many clients run at the same time
    #[arg(long, value_name = "N", default_value_t = JOBS)]
    jobs: usize,
    /// Write docs/benchmarks/tokens.md, its plot and all counts; needs everything
    #[arg(long, conflicts_with_all = ["runs", "profiles", "languages", "check"])]
    write: bool,
    /// Write only the counts of what was played to xtask/src/tokens/counts.tsv
    #[arg(long, conflicts_with = "check")]
    accept: bool,
    /// Play a short part and fail if a count differs by more than 2 % from xtask/src/tokens/counts.tsv
    #[arg(long, conflicts_with_all = ["runs", "profiles", "languages"])]
    check: bool,
    /// Fail if a bar is missed
    #[arg(long)]
    strict: bool,
    /// Write every piece of every request with its origin into this folder, a file for each session
    #[arg(long, value_name = "FOLDER")]
    pieces: Option<PathBuf>,
    /// Use this `overtone` and the `overtone-hook` beside it instead of the development programs
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// The step of `cargo xtask ci`.
pub(crate) fn run_ci() -> Result<()> {
    check(None, JOBS)
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.check {
        return check(options.binary.as_deref(), options.jobs.max(1));
    }
    let client = e2e::newest_client()?;
    let mut kit = prepare(&client, options.binary.as_deref())?;
    let sessions = chosen(&kit.lines::<Session>(&["list"])?, options)?;
    let absent = fetch_peers(&mut kit, &sessions)?;
    let sessions: Vec<_> =
        sessions.into_iter().filter(|session| !absent.contains_key(&session.run)).collect();
    let plan =
        Plan { times: options.times.max(1), jobs: options.jobs.max(1), pieces: options.pieces.as_deref() };
    let results = play::play(&kit, sessions, &plan)?;
    let bars = bars::judge(&results);
    println!("{}\n{}\n{}", page::figures(&results), page::origins(&results), page::bars(&bars));
    // What could not be played must not go missing from the page.
    fail_on_errors(&results)?;
    if options.write {
        let text = page::render(&results, &bars, &absent, &client);
        shell::write_file(&shell::root().join(PAGE), text.as_bytes())?;
        shell::write_file(&shell::root().join(PLOT), plot::render(&results).as_bytes())?;
    }
    if options.write || options.accept {
        let mut counts = if options.write { Counts::default() } else { Counts::committed()? };
        counts.accept(&results);
        shell::write_file(&counts::path(), counts.to_text().as_bytes())?;
    }
    finish(&bars, options.strict)
}

/// Plays a short part and compares its counts with the committed ones.
fn check(binary: Option<&Path>, jobs: usize) -> Result<()> {
    let kit = prepare(&e2e::newest_client()?, binary)?;
    let mut sessions: Vec<Session> = kit.lines(&["list"])?;
    sessions.retain(|session| {
        CHECKED.contains(&session.run.as_str()) && session.profile == "default" && session.language == "en"
    });
    let results = play::play(&kit, sessions, &Plan { times: 1, jobs, pieces: None })?;
    fail_on_errors(&results)?;
    let differences = Counts::committed()?.differences(&results);
    if differences.is_empty() {
        println!("tokens: {} have the counts of xtask/src/tokens/counts.tsv", CHECKED.join(" and "));
        return Ok(());
    }
    Err(Error::new(format!("the input of sessions has changed by more than 2 %\n{}", differences.join("\n"))).hint(
        "if this is meant to be, say in the commit what it costs, and update the counts: cargo xtask tokens --write",
    ))
}

fn prepare(client: &str, binary: Option<&Path>) -> Result<KitProgram> {
    for program in ["python3", "npm"] {
        tools::require(program)?;
    }
    KitProgram::prepare("tokens", client, binary)
}

/// The sessions that the options name, with those that they are compared with.
fn chosen(all: &[Session], options: &Options) -> Result<Vec<Session>> {
    let names = |of: fn(&Session) -> &str| all.iter().map(of).collect::<Vec<_>>();
    refuse_unknown("run", &options.runs, &names(|session| &session.run))?;
    refuse_unknown("profile", &options.profiles, &names(|session| &session.profile))?;
    refuse_unknown("language", &options.languages, &names(|session| &session.language))?;
    let has = |list: &[String], name: &String| list.is_empty() || list.contains(name);
    let is_language = |session: &&Session| has(&options.languages, &session.language);
    let is_named =
        |session: &&Session| has(&options.runs, &session.run) && has(&options.profiles, &session.profile);
    let baselines: Vec<_> =
        all.iter().filter(is_language).filter(is_named).map(|session| session.baseline.clone()).collect();
    let is_needed = |session: &&Session| is_named(session) || baselines.contains(&session.run);
    Ok(all.iter().filter(is_language).filter(is_needed).cloned().collect())
}

/// Installs the peers among the sessions. Returns those that cannot be had, with the reason.
fn fetch_peers(kit: &mut KitProgram, sessions: &[Session]) -> Result<BTreeMap<String, String>> {
    let names: Vec<_> = sessions.iter().map(|session| session.run.clone()).collect();
    let (folder, absent) = peers::fetch(&names)?;
    kit.set(peers::FOLDER_VARIABLE, folder);
    Ok(absent)
}

fn fail_on_errors(results: &Results) -> Result<()> {
    let errors = results.errors();
    for error in &errors {
        eprintln!("error: {error}");
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!("{} sessions could not be played", errors.len()))
        .hint("play one of them with --run NAME --profile NAME --lang LANG"))
}

/// Fails if a bar is missed, where that counts.
fn finish(bars: &[bars::Verdict], is_strict: bool) -> Result<()> {
    let missed = bars.iter().filter(|bar| !bar.holds()).count();
    if missed == 0 || !is_strict {
        return Ok(());
    }
    Err(Error::new(format!("{missed} bars missed")).hint("see xtask/src/tokens/bars.rs"))
}
