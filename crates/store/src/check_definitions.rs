//! The definitions of checks as JSON, as the pin of a session and the record of trust contain them.

use std::time::Duration;

use overtone_core::evidence::Check;
use overtone_core::registry::Stage;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CheckJson {
    name: String,
    run: String,
    stages: Vec<String>,
    timeout_ms: u64,
}

pub(crate) fn to_json(checks: &[Check]) -> Value {
    let one = |check: &Check| CheckJson {
        name: check.name.clone(),
        run: check.run.clone(),
        stages: check.stages.iter().map(|stage| stage.key().to_owned()).collect(),
        timeout_ms: u64::try_from(check.timeout.as_millis()).unwrap_or(u64::MAX),
    };
    json!(checks.iter().map(one).collect::<Vec<_>>())
}

/// The definitions in a value. `None` if it has another form, or one of the definitions could not have been written by this
/// version: names become file names, so they are checked again.
pub(crate) fn from_json(value: &Value) -> Option<Vec<Check>> {
    let list: Vec<CheckJson> = Deserialize::deserialize(value).ok()?;
    list.into_iter().map(definition).collect()
}

fn definition(check: CheckJson) -> Option<Check> {
    let CheckJson { name, run, stages, timeout_ms } = check;
    let timeout = Duration::from_millis(timeout_ms);
    if !Check::is_name(&name) || timeout > Check::MAX_TIMEOUT {
        return None;
    }
    let stages = stages.iter().map(|key| Stage::from_key(key)).collect::<Option<_>>()?;
    Some(Check { name, run, stages, timeout })
}

#[cfg(test)]
pub(crate) fn sample(name: &str, run: &str) -> Check {
    let (stages, timeout) = (vec![Stage::Dev, Stage::Test], Duration::from_secs(90));
    Check { name: name.to_owned(), run: run.to_owned(), stages, timeout }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_read_back_and_others_are_refused() {
        let checks = [sample("test", "make test"), sample("lint", "x")];
        assert_eq!(from_json(&to_json(&checks)).unwrap(), checks);
        let change = |name: &str, value: Value| {
            let mut json = to_json(&checks);
            json[1][name] = value;
            from_json(&json)
        };
        assert_eq!(change("future", json!(1)).unwrap(), checks);
        for (name, value) in [
            ("name", json!("../../x")),
            ("name", json!(7)),
            ("stages", json!(["FUTURE"])),
            ("timeoutMs", json!(u64::MAX)),
            ("run", Value::Null),
        ] {
            assert_eq!(change(name, value.clone()), None, "{name} {value}");
        }
        assert_eq!(from_json(&json!({})), None);
    }
}
