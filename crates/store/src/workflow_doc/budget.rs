//! The `budget` of a workflow.

use overtone_core::economy::{Budget, Limits};
use overtone_core::engine::state::{BudgetState, FinishingAgent, ReachedLimit};
use overtone_core::registry::BudgetKind;
use serde_json::{Map, Value, json};

use super::{field, flag, iso, string, time};

pub(super) const NAME: &str = "budget";

/// Amounts are written in the unit of the registry, dollars in millionths.
pub(super) fn read(document: &Map<String, Value>) -> BudgetState {
    let Some(fields) = field(document, NAME).and_then(Value::as_object) else {
        return BudgetState::default();
    };
    BudgetState {
        limits: Budget { workflow: read_limits(fields, "workflow"), stage: read_limits(fields, "stage") },
        is_noticed: flag(fields, "noticed"),
        is_unpriced_noticed: flag(fields, "unpricedNoticed"),
        reached: field(fields, "reached").and_then(Value::as_object).and_then(read_reached),
        finishing: read_finishing(fields),
        waits_since: time(fields, "waitsSince"),
        waited: field(fields, "waitedMs").and_then(Value::as_i64).unwrap_or_default().max(0),
    }
}

fn read_limits(fields: &Map<String, Value>, name: &str) -> Limits {
    let mut limits = Limits::default();
    if let Some(own) = field(fields, name).and_then(Value::as_object) {
        for kind in BudgetKind::ALL {
            limits.set(kind, field(own, kind.name()).and_then(Value::as_u64));
        }
    }
    limits
}

fn read_reached(fields: &Map<String, Value>) -> Option<ReachedLimit> {
    Some(ReachedLimit {
        kind: BudgetKind::from_name(&string(fields, "kind")?)?,
        stage: string(fields, "stage").and_then(|key| key.parse().ok()),
        limit: field(fields, "limit")?.as_u64()?,
        used: field(fields, "used")?.as_u64()?,
        ends_work: flag(fields, "endsWork"),
    })
}

fn read_finishing(fields: &Map<String, Value>) -> Vec<FinishingAgent> {
    let list = field(fields, "finishing").and_then(Value::as_object).into_iter().flatten();
    list.map(|(id, message)| FinishingAgent { id: id.clone(), message: message.as_str().map(str::to_owned) })
        .collect()
}

pub(super) fn to_json(budget: &BudgetState) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("workflow", limits_value(&budget.limits.workflow));
    put("stage", limits_value(&budget.limits.stage));
    if budget.is_noticed {
        put("noticed", json!(true));
    }
    if budget.is_unpriced_noticed {
        put("unpricedNoticed", json!(true));
    }
    if let Some(reached) = &budget.reached {
        put("reached", reached_value(reached));
    }
    if !budget.finishing.is_empty() {
        let agents = budget.finishing.iter().map(|agent| (agent.id.clone(), json!(agent.message)));
        put("finishing", Value::Object(agents.collect()));
    }
    if budget.waits_since.is_some() {
        put("waitsSince", iso(budget.waits_since));
    }
    if budget.waited > 0 {
        put("waitedMs", json!(budget.waited));
    }
    Value::Object(fields)
}

fn limits_value(limits: &Limits) -> Value {
    Value::Object(limits.iter().map(|(kind, limit)| (kind.name().to_owned(), json!(limit))).collect())
}

fn reached_value(reached: &ReachedLimit) -> Value {
    json!({
        "kind": reached.kind.name(),
        "stage": reached.stage.map(|key| key.to_string()),
        "limit": reached.limit,
        "used": reached.used,
        "endsWork": reached.ends_work,
    })
}

#[cfg(test)]
mod tests {
    use overtone_core::economy::parse_limits;
    use overtone_core::engine::state::Millis;

    use super::*;

    #[test]
    fn a_budget_reads_back_as_it_was() {
        let limits = |text| parse_limits(text).unwrap();
        let full = BudgetState {
            limits: Budget { workflow: limits("2.5usd,60agents"), stage: limits("500ktokens,30min") },
            is_noticed: true,
            is_unpriced_noticed: true,
            reached: Some(ReachedLimit {
                kind: BudgetKind::Tokens,
                stage: "TEST:2".parse().ok(),
                limit: 500_000,
                used: 500_001,
                ends_work: true,
            }),
            finishing: vec![
                FinishingAgent { id: String::new(), message: Some("msg_1".into()) },
                FinishingAgent { id: "a1".into(), message: None },
            ],
            waits_since: Some(Millis(1_000)),
            waited: 7,
        };
        for budget in [BudgetState::default(), full] {
            let mut document = Map::new();
            document.insert(NAME.to_owned(), to_json(&budget));
            assert_eq!(read(&document), budget);
        }
    }

    #[test]
    fn a_broken_budget_limits_nothing() {
        for text in ["7", "{}", r#"{"workflow":[],"reached":{"kind":"x"},"finishing":7,"waitedMs":-1}"#] {
            let mut document = Map::new();
            document.insert(NAME.to_owned(), serde_json::from_str(text).unwrap());
            assert_eq!(read(&document), BudgetState::default(), "{text}");
        }
    }
}
