//! Surroundings that are not as expected: no home, and specs that cannot be read.

use std::fs;

use overtone_core::registry::Hook;

use crate::common::{HookCall, put_link_loop};
use crate::fixture::{Fixture, ID, assert_clean_log, each_hook, fill};

/// A value of a variable that names no folder.
#[derive(Debug, Clone, Copy)]
enum Useless {
    Missing,
    Empty,
    Relative,
}

impl Useless {
    const ALL: [Self; 3] = [Self::Missing, Self::Empty, Self::Relative];

    fn set(self, call: HookCall, variable: &str) -> HookCall {
        match self {
            Self::Missing => call.without(variable),
            Self::Empty => call.env(variable, ""),
            Self::Relative => call.env(variable, "somewhere"),
        }
    }
}

/// Hooks that need no state and so have no reason to complain.
fn needs_no_state(hook: Hook) -> bool {
    matches!(hook, Hook::AllowOwn | Hook::PreWrite | Hook::PreCommand | Hook::PreTool | Hook::OnAgentStart)
}

#[test]
fn no_usable_home_at_all() {
    for home in Useless::ALL {
        for overtone_home in Useless::ALL {
            println!("\n##### HOME {home:?}, OVERTONE_HOME {overtone_home:?}");
            each_hook(|hook| {
                let fixture = Fixture::new();
                let call = overtone_home.set(home.set(fixture.call(hook), "HOME"), "OVERTONE_HOME");
                let output = call.run(fixture.event(hook).to_string());
                output.assert_says_nothing();
                assert_clean_log(&output);
                if !needs_no_state(hook) {
                    output.assert_logged("");
                }
                fixture.assert_untouched();
                assert!(!is_in_the_real_home(), "the hook found a home that it was not given");
            });
        }
    }
}

/// The password database knows a home, too; it is not the one that the environment names.
fn is_in_the_real_home() -> bool {
    std::env::home_dir().is_some_and(|home| home.join(".overtone/sessions").join(ID).exists())
}

#[test]
fn no_overtone_home_means_the_folder_in_home() {
    for overtone_home in [Useless::Missing, Useless::Empty] {
        let fixture = Fixture::changed(|context| {
            fs::remove_dir_all(context.state()).unwrap();
            fill(context, &context.home().join(".overtone"));
        });
        let call = overtone_home.set(fixture.call(Hook::PreCompact), "OVERTONE_HOME");
        let output = call.run(fixture.event(Hook::PreCompact).to_string());
        assert!(output.answer()["systemMessage"].is_string(), "the state in HOME was not found");
        let timeline = fixture.context.home().join(".overtone/sessions").join(ID).join("timeline.jsonl");
        assert!(fs::read_to_string(timeline).unwrap().contains("session:compact"));
    }
}

#[test]
fn a_relative_overtone_home_is_not_in_the_project() {
    each_hook(|hook| {
        let fixture = Fixture::new();
        let project = || fs::read_dir(fixture.context.project()).unwrap().count();
        let before = project();
        let call = Useless::Relative.set(fixture.call(hook), "OVERTONE_HOME");
        let output = call.run(fixture.event(hook).to_string());
        output.answer();
        assert_clean_log(&output);
        assert_eq!(project(), before);
    });
}

#[test]
fn specs_that_are_a_link_to_themselves() {
    each_hook(|hook| {
        let fixture = Fixture::changed(|context| {
            fs::remove_dir_all(context.project().join("specs")).unwrap();
            put_link_loop(&context.project().join("specs"));
        });
        let output = fixture.run(hook);
        output.answer();
        assert_clean_log(&output);
        if matches!(hook, Hook::PreCompact | Hook::OnStart) {
            output.assert_logged("");
        }
        fixture.assert_nothing_lost();
    });
}
