//! The state of the loop that keeps a session going.

use crate::registry::table;

use crate::engine::state::Millis;

table! {
    /// Who or what stopped the loop.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StoppedBy {
        User("user"),
        SessionEnd("session-end"),
        Completion("completion"),
        Limit("limit"),
        /// Another machine has taken the session over.
        Moved("moved"),
    }

    struct StoppedByRow {
        pub key: &'static str,
    }

    pub fn from_key(key) -> Option<Self>;
}

table! {
    /// Why a loop that was not stopped does not send the main agent back to work. It continues with the next delegation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Pause {
        /// Several rounds in a row changed nothing.
        NoProgress("no-progress"),
        /// The user interrupted the main agent.
        Interrupted("interrupted"),
    }

    struct PauseRow {
        pub key: &'static str,
    }

    pub fn from_key(key) -> Option<Self>;
}

table! {
    /// What a turn of the main agent is for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Turn {
        Working("working"),
        /// The user only has something shown, so the main agent is not sent back to work afterwards.
        Looking("looking"),
    }

    struct TurnRow {
        pub key: &'static str,
    }

    pub fn from_key(key) -> Option<Self>;
}

/// The loop that keeps a session going.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopState {
    pub iterations: u32,
    pub stopped: bool,
    pub stopped_by: Option<StoppedBy>,
    /// Rounds in a row that changed nothing.
    pub consecutive_errors: u32,
    /// The progress of the workflow when the last round began.
    pub fingerprint: Option<String>,
    /// The user has been shown that the loop stopped or paused.
    pub announced: bool,
    /// The loop waits for the user, or for the next delegation.
    pub paused: Option<Pause>,
    /// The turn of the main agent that has begun and has not ended yet.
    pub turn: Option<Turn>,
    /// The command of ours that the client asks the user about in this turn.
    pub asked: Option<String>,
    /// The client's id of that turn. A prompt that the user types while it runs has the same id.
    pub prompt_id: Option<String>,
    pub started_at: Option<Millis>,
}

impl LoopState {
    pub fn started(now: Millis) -> Self {
        Self { started_at: Some(now), ..Self::default() }
    }

    pub fn stop(&mut self, by: StoppedBy) {
        self.stopped = true;
        self.stopped_by = Some(by);
    }

    pub fn pause(&mut self, why: Pause) {
        self.paused = Some(why);
        self.announced = false;
        self.forget_progress();
    }

    /// Continues the loop, because the workflow continues.
    pub fn unpause(&mut self) {
        self.paused = None;
        self.announced = false;
        self.forget_progress();
    }

    /// Starts counting rounds without progress anew, because the user may have solved what the loop was stuck on.
    pub fn forget_progress(&mut self) {
        self.consecutive_errors = 0;
        self.fingerprint = None;
    }

    /// Ends the turn, and with it the question that the client asked the user.
    pub fn end_turn(&mut self) {
        self.turn = None;
        self.asked = None;
    }

    pub fn restart(&mut self) {
        *self = Self { iterations: self.iterations, started_at: self.started_at, ..Self::default() };
    }
}
