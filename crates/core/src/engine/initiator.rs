//! Who ran a command of ours, as far as it can be known.

use crate::engine::state::LoopState;

/// Where the command line runs, as its process sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// In a terminal outside the client.
    Terminal,
    /// In the client: its model, or the model after the client asked the user.
    Client,
    /// In a script or a service.
    Other,
}

/// The `by` field of the timeline: `user`, `model`, or `unknown`. `command` is the command line without the name of the
/// program.
pub fn initiator(caller: Caller, looping: Option<&LoopState>, command: &str) -> &'static str {
    let asked = looping.and_then(|looping| looping.asked.as_deref());
    match caller {
        Caller::Terminal => "user",
        // The client asked the user about this command, and a command that the user declines does not run.
        Caller::Client if asked == Some(command) => "user",
        Caller::Client => "model",
        Caller::Other => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_types_in_a_terminal_or_was_asked() {
        let looping = LoopState { asked: Some("resume".into()), ..LoopState::default() };
        assert_eq!(initiator(Caller::Terminal, None, "resume"), "user");
        assert_eq!(initiator(Caller::Client, Some(&looping), "resume"), "user");
        assert_eq!(initiator(Caller::Client, Some(&looping), "stop"), "model");
        assert_eq!(initiator(Caller::Client, None, "resume"), "model");
        assert_eq!(initiator(Caller::Other, Some(&looping), "resume"), "unknown");
    }
}
