//! Runs one case in one column.

use std::time::Instant;

use super::case::{Case, Screen};
use super::cast::Cast;
use super::column::{Column, LANGUAGE};
use super::judge::Cell;
use super::project::{CHECKS, FILES, PROMPT};
use super::trace::Trace;
use crate::{Client, Invocation, Run, Sandbox};

/// The user has allowed everything that the cases need, so that nothing but a gate refuses a call.
const ALLOWED: [&str; 7] = ["Agent", "Bash", "Edit", "Read", "SendMessage", "Workflow", "Write"];

/// Plays the case and judges what it leaves behind. Panics if the client does not end.
#[track_caller]
pub fn play(case: &Case, column: Column, client: &Client) -> Cell {
    let sandbox = Sandbox::new(client);
    let checks = case.has_checks.then_some(CHECKS);
    sandbox.put_repository(FILES.into_iter().chain(checks));
    let shell = sandbox.user_shell();
    for line in case.setup {
        shell.run(line);
    }
    let session = sandbox.new_session();
    column.prepare(&sandbox, case, &session);
    let players = Cast::new(case, column, sandbox.project(), shell.env(LANGUAGE.0, LANGUAGE.1));
    let answering = players.clone();
    let invocation = sandbox
        .script(|script| script.others_with(move |request| answering.answer(request)))
        .session(&session)
        .plugin(column.plugin(&sandbox))
        .allow(ALLOWED)
        .env(LANGUAGE.0, LANGUAGE.1);
    let started = Instant::now();
    let run = match case.screen {
        Screen::Without => invocation.permission_mode("acceptEdits").run(PROMPT),
        Screen::Terminal => run_in_terminal(invocation, client, &players),
    };
    let duration = started.elapsed();
    Cell::new(&Trace { case, column, sandbox: &sandbox, session: &session, cast: players, run }, duration)
}

/// Types the request and waits until the main agent has said its last words and the client is idle.
fn run_in_terminal(invocation: Invocation<'_>, client: &Client, players: &Cast) -> Run {
    let mode = if client.has_auto_mode() { "auto" } else { "acceptEdits" };
    let terminal = invocation.permission_mode(mode).terminal();
    terminal.type_line(PROMPT);
    terminal.wait_until("end of the script", |_| players.is_over());
    terminal.wait_until_idle();
    terminal.exit()
}
