//! Merges settings fragments and flattens them into key paths with values.

use serde_json::Value;

use crate::providers::Fragment;

/// The path of a key, from the outermost object inwards, and its value.
pub(crate) type Leaf = (Vec<String>, Value);

/// Merges `over` into `base`: objects are merged, lists are concatenated without duplicates like the client does, and
/// other values are replaced.
pub fn merge(base: &mut Fragment, over: &Fragment) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => merge(inner, value),
            (Some(Value::Array(items)), Value::Array(more)) => {
                let new: Vec<_> = more.iter().filter(|item| !items.contains(item)).cloned().collect();
                items.extend(new);
            }
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Every value that is not an object, with its path. Empty lists and objects are skipped.
pub(crate) fn leaves(fragment: &Fragment) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect(fragment, &mut Vec::new(), &mut found);
    found
}

fn collect(fragment: &Fragment, path: &mut Vec<String>, found: &mut Vec<Leaf>) {
    for (key, value) in fragment {
        path.push(key.clone());
        match value {
            Value::Object(inner) => collect(inner, path, found),
            Value::Array(items) if items.is_empty() => {}
            value => found.push((path.clone(), value.clone())),
        }
        path.pop();
    }
}

/// Converts a path to the form that [`jsonc_edit::Document`] takes.
pub(crate) fn keys(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn later_fragments_win_and_lists_are_joined() {
        let fragment = |value: Value| value.as_object().cloned().unwrap();
        let mut base = fragment(json!({ "a": { "x": 1, "y": 2 }, "l": [1, 2], "s": 1 }));
        merge(&mut base, &fragment(json!({ "a": { "y": 3 }, "l": [2, 3], "s": { "t": [] } })));
        assert_eq!(
            Value::Object(base.clone()),
            json!({ "a": { "x": 1, "y": 3 }, "l": [1, 2, 3], "s": { "t": [] } })
        );
        let paths: Vec<_> = leaves(&base).into_iter().map(|(path, _)| path.join(".")).collect();
        assert_eq!(paths, ["a.x", "a.y", "l"]);
    }
}
