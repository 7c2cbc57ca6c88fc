//! Plays one case of the discipline benchmark and prints its result as a line of JSON. `cargo xtask discipline` runs it.

use std::process::ExitCode;

use overtone_testkit::Client;
use overtone_testkit::discipline::{Case, Column, all, find, play};
use serde_json::json;

const USAGE: &str = "usage: discipline list cases | discipline list columns | discipline play CASE COLUMN";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["list", "cases"] => list_cases(),
        ["list", "columns"] => list_columns(),
        ["play", case, column] => match (find(case), Column::find(column)) {
            (Some(case), Some(column)) => run(case, column),
            _ => fail(&format!("no such case or column: {case} {column}")),
        },
        _ => fail(USAGE),
    }
}

fn list_columns() -> ExitCode {
    for column in Column::all() {
        println!("{}", json!({"name": column.name()}));
    }
    ExitCode::SUCCESS
}

/// Every case with what the page says about it, one line each.
fn list_cases() -> ExitCode {
    for case in all() {
        let line = json!({
            "name": case.name,
            "title": case.title,
            "source": case.source.title(),
            "is_honest": case.is_honest(),
        });
        println!("{line}");
    }
    ExitCode::SUCCESS
}

/// The newest client plays the case.
fn run(case: &Case, column: Column) -> ExitCode {
    let clients = Client::all();
    let Some(client) = clients.last() else { return fail("there is no client") };
    let cell = play(case, column, client);
    println!("{}", cell.to_json());
    ExitCode::SUCCESS
}

fn fail(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::FAILURE
}
