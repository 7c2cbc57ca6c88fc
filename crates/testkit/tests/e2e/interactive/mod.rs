//! The client in a terminal, as people use it: auto mode where it has one, agents in the background, Esc and `/`.

mod kit;
pub(crate) mod recordings;

use overtone_testkit::{Client, Key, Terminal};

/// The mode in which a terminal of this client starts when nobody chose one.
fn usual_mode(client: &Client) -> &'static str {
    client.permission_modes()[0]
}

/// Ends all agents in the background by the client's keys for it.
fn stop_agents(terminal: &Terminal<'_>) {
    let press = || {
        terminal.press(Key::Control('x'));
        terminal.press(Key::Control('k'));
    };
    press();
    terminal.wait_for_screen("again to stop background agents");
    press();
}
