//! What was played, and what it has cost.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The origins in the order of the tables, with what they are.
pub(super) const ORIGINS: [(&str, &str); 6] = [
    ("client", "the client's own instructions, tools and reminders"),
    ("always-on", "Overtone's agents and skills in the client's lists, texts at the start of a session"),
    ("pages", "pages of skills and the output of Overtone's commands"),
    ("agents", "the instructions of Overtone's agents"),
    ("injected", "what hooks add: context of agents, next steps"),
    ("work", "the job: requests, the model's words and calls, and their results"),
];

/// A session, as the program that plays it lists it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Session {
    pub(super) run: String,
    pub(super) profile: String,
    pub(super) language: String,
    /// The run that it is compared with.
    pub(super) baseline: String,
    /// Whether another product is measured. It may do something else in every run, so its counts are only shown.
    pub(super) is_peer: bool,
}

impl Session {
    /// `quick (lean, en)`.
    pub(super) fn title(&self) -> String {
        format!("{} ({}, {})", self.run, self.profile, self.language)
    }
}

/// What the program prints about a session.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Bill {
    /// Why this program cannot play the session.
    #[serde(default)]
    pub(super) not_supported: Option<String>,
    /// Empty if it could not be played.
    #[serde(default)]
    pub(super) stages: Vec<Stage>,
}

/// The requests of the main agent or of one stage.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Stage {
    pub(super) name: String,
    pub(super) requests: u64,
    pub(super) origins: BTreeMap<String, Amount>,
    pub(super) cost: Cost,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Amount {
    pub(super) bytes: u64,
    pub(super) tokens: u64,
}

/// Tokens by what a cache makes of them, and their price.
#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
pub(super) struct Cost {
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) uncached: u64,
    pub(super) dollars: f64,
}

impl Stage {
    pub(super) fn tokens(&self) -> u64 {
        self.origins.values().map(|amount| amount.tokens).sum()
    }
}

impl Bill {
    pub(super) fn requests(&self) -> u64 {
        self.stages.iter().map(|stage| stage.requests).sum()
    }

    pub(super) fn tokens(&self) -> u64 {
        self.stages.iter().map(Stage::tokens).sum()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.stages.iter().flat_map(|stage| stage.origins.values()).map(|amount| amount.bytes).sum()
    }

    pub(super) fn origin(&self, name: &str) -> Amount {
        let amounts = self.stages.iter().filter_map(|stage| stage.origins.get(name));
        amounts.fold(Amount::default(), |sum, amount| Amount {
            bytes: sum.bytes + amount.bytes,
            tokens: sum.tokens + amount.tokens,
        })
    }

    pub(super) fn cost(&self) -> Cost {
        self.stages.iter().map(|stage| stage.cost).fold(Cost::default(), |sum, cost| Cost {
            read: sum.read + cost.read,
            written: sum.written + cost.written,
            uncached: sum.uncached + cost.uncached,
            dollars: sum.dollars + cost.dollars,
        })
    }
}

/// Everything that was played.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// In the order in which they are listed, each with its bill or the reason why there is none.
    pub(super) played: Vec<(Session, std::result::Result<Bill, String>)>,
}

impl Results {
    /// The sessions that were measured.
    pub(super) fn bills(&self) -> impl Iterator<Item = (&Session, &Bill)> {
        self.played.iter().filter_map(|(session, bill)| match bill {
            Ok(bill) if bill.not_supported.is_none() => Some((session, bill)),
            _ => None,
        })
    }

    pub(super) fn find(&self, run: &str, profile: &str, language: &str) -> Option<&Bill> {
        let is_it = |session: &Session| {
            session.run == run && session.profile == profile && session.language == language
        };
        self.bills().find(|(session, _)| is_it(session)).map(|(_, bill)| bill)
    }

    /// The session that this one is compared with.
    pub(super) fn baseline(&self, session: &Session) -> Option<&Bill> {
        self.find(&session.baseline, "default", &session.language)
    }

    /// The profiles that this program does not have, with what it says.
    pub(super) fn not_supported(&self) -> BTreeMap<&str, &str> {
        let reasons = self.played.iter().filter_map(|(session, bill)| match bill {
            Ok(bill) => Some((session.profile.as_str(), bill.not_supported.as_deref()?)),
            Err(_) => None,
        });
        reasons.collect()
    }

    pub(super) fn errors(&self) -> Vec<String> {
        let errors = self.played.iter().filter_map(|(session, bill)| {
            let error = bill.as_ref().err()?;
            Some(format!("{}: {error}", session.title()))
        });
        errors.collect()
    }
}

/// How many times as much. Counts are far below 2^52, where floats stop being exact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(super) fn ratio(count: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { count as f64 / of as f64 }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn session(run: &str, profile: &str) -> Session {
        let [run, profile, language, baseline] = [run, profile, "en", "plain"].map(str::to_owned);
        Session { run, profile, language, baseline, is_peer: false }
    }

    /// A bill of the main agent with so many tokens of the client and of pages, four bytes each.
    pub(crate) fn bill(client: u64, pages: u64) -> Bill {
        let amount = |tokens: u64| Amount { bytes: 4 * tokens, tokens };
        let origins =
            [("client", client), ("pages", pages)].map(|(name, tokens)| (name.to_owned(), amount(tokens)));
        let cost = Cost { written: client + pages, dollars: 0.5, ..Cost::default() };
        let stage = Stage { name: "main".to_owned(), requests: 2, origins: origins.into(), cost };
        Bill { not_supported: None, stages: vec![stage] }
    }

    pub(crate) fn results() -> Results {
        let refused = Bill { not_supported: Some("unknown key".to_owned()), stages: Vec::new() };
        Results {
            played: vec![
                (session("plain", "default"), Ok(bill(1000, 0))),
                (session("single", "default"), Ok(bill(1000, 350))),
                (session("quick", "default"), Ok(bill(3000, 500))),
                (session("quick", "lean"), Ok(refused)),
                (session("full", "default"), Err("it hung".to_owned())),
            ],
        }
    }

    #[test]
    fn a_line_of_the_program_is_read() {
        let line = r#"{"stages":[{"name":"DEV","requests":2,"origins":{"client":{"bytes":8,"tokens":2}},"cost":{"read":1,"written":1,"uncached":0,"dollars":0.1}}]}"#;
        let bill: Bill = serde_json::from_str(line).unwrap();
        assert_eq!((bill.requests(), bill.tokens(), bill.bytes(), bill.cost().read), (2, 2, 8, 1));
        let refused: Bill = serde_json::from_str(r#"{"notSupported":"no such key"}"#).unwrap();
        assert_eq!(refused.not_supported.as_deref(), Some("no such key"));
    }

    #[test]
    fn what_could_not_be_played_is_no_result() {
        let results = results();
        assert_eq!(results.bills().count(), 3);
        assert_eq!(results.errors(), ["full (default, en): it hung"]);
        assert_eq!(results.not_supported().into_iter().collect::<Vec<_>>(), [("lean", "unknown key")]);
        assert!(results.find("quick", "lean", "en").is_none());
        assert_eq!(results.baseline(&session("quick", "lean")), Some(&bill(1000, 0)));
    }
}
