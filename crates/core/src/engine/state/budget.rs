//! What a workflow may use, and what became of it.

use crate::economy::Budget;
use crate::registry::{BudgetKind, StageKey};

use crate::engine::state::Millis;

/// The budget of a workflow. The limits are fixed when the workflow starts; only the user raises them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BudgetState {
    pub limits: Budget,
    /// The user and the main agent have been notified that most of a limit is used.
    pub is_noticed: bool,
    /// The user has been notified that tokens of a model without a price do not count in dollars.
    pub is_unpriced_noticed: bool,
    /// The limit that was reached. Nothing more is started until the user raises it.
    pub reached: Option<ReachedLimit>,
    /// The agents that were told to finish, and the main agent.
    pub finishing: Vec<FinishingAgent>,
    /// Since when the workflow waits for the user, and how long it has waited before.
    pub waits_since: Option<Millis>,
    pub waited: i64,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReachedLimit {
    pub kind: BudgetKind,
    /// The stage that the limit is about; `None` for one of the whole workflow.
    pub stage: Option<StageKey>,
    pub limit: u64,
    pub used: u64,
    /// Agents at work have to finish too. If only the number of agents is limited, they may complete their stage.
    pub ends_work: bool,
}

/// An agent that was told to finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishingAgent {
    /// The client's id; empty for the main agent.
    pub id: String,
    /// The message whose tool calls were denied. A call in a later message means that the agent did not finish.
    pub message: Option<String>,
}

impl BudgetState {
    pub const fn new(limits: Budget) -> Self {
        Self {
            limits,
            is_noticed: false,
            is_unpriced_noticed: false,
            reached: None,
            finishing: Vec::new(),
            waits_since: None,
            waited: 0,
        }
    }

    /// Whether agents at work have to finish.
    pub fn ends_work(&self) -> bool {
        matches!(&self.reached, Some(reached) if reached.ends_work)
    }

    pub fn finishing_agent(&self, id: &str) -> Option<&FinishingAgent> {
        self.finishing.iter().find(|agent| agent.id == id)
    }

    /// Adds amounts to the limits, and starts anew with what is left.
    pub fn raise(&mut self, amounts: &Budget) {
        self.limits.raise(amounts);
        self.is_noticed = false;
        self.reached = None;
        self.finishing.clear();
    }
}
