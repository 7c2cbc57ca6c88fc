//! What an answer means.

use serde_json::Value;

use crate::said::complaint;
use crate::{Account, Outcome};

/// What came over the wire.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// What the list of models says; nothing if there is no such list.
pub(crate) fn models(response: &Response) -> Option<Outcome> {
    match response.status {
        200..=299 => has(response, "data").then_some(Outcome::Works),
        401 | 403 | 429 | 300..=399 | 500 | 502..=599 => Some(by_status(response)),
        _ => None,
    }
}

/// What the answer to a message says.
pub(crate) fn message(account: &Account, response: &Response) -> Outcome {
    match response.status {
        200..=299 if has(response, "content") => Outcome::Works,
        200..=299 => Outcome::NotTheApi,
        400 | 404 | 422 if is_about_the_model(&account.model, response) => {
            Outcome::NoSuchModel { model: account.model.clone() }
        }
        _ => by_status(response),
    }
}

fn by_status(response: &Response) -> Outcome {
    match response.status {
        status @ (401 | 403) => Outcome::KeyRefused { status },
        404 | 405 => Outcome::NoSuchAddress,
        429 => Outcome::Limited,
        300..=399 => Outcome::Redirected { to: response.location.as_deref().and_then(place) },
        status @ 500.. => Outcome::ServerFailed { status },
        status => Outcome::Rejected { status },
    }
}

fn has(response: &Response, key: &str) -> bool {
    serde_json::from_slice::<Value>(&response.body).is_ok_and(|body| body.get(key).is_some())
}

/// A wrong address is answered by whoever is there; a wrong model by the API itself, which names it.
fn is_about_the_model(model: &str, response: &Response) -> bool {
    let Some(words) = complaint(&response.body) else { return false };
    let lower = words.to_lowercase();
    let names_it = lower.contains("model") || lower.contains("模型");
    match response.status {
        404 => names_it,
        _ => {
            names_it && (words.contains(model) || lower.contains("not exist") || lower.contains("not found"))
        }
    }
}

/// Scheme and host: the rest may hold what the request held.
fn place(location: &str) -> Option<String> {
    let to: ureq::http::Uri = location.parse().ok()?;
    Some(format!("{}://{}", to.scheme_str()?, to.host()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, body: &str) -> Response {
        Response { status, location: Some("https://u:p@other/x?token=1".into()), body: body.into() }
    }

    fn account() -> Account {
        Account::from_env(&|name| match name {
            "ANTHROPIC_API_KEY" => Some("k".to_owned()),
            "ANTHROPIC_MODEL" => Some("kimi-k2".to_owned()),
            _ => None,
        })
        .unwrap()
    }

    #[test]
    fn a_list_of_models_decides_only_if_it_is_one() {
        assert_eq!(models(&response(200, r#"{"data":[]}"#)), Some(Outcome::Works));
        for (status, body) in
            [(200, "<html>"), (204, ""), (404, ""), (405, ""), (400, "{}"), (501, ""), (200, "{}")]
        {
            assert_eq!(models(&response(status, body)), None, "{status} {body}");
        }
        assert_eq!(models(&response(403, "")), Some(Outcome::KeyRefused { status: 403 }));
        let to = Some("https://other".to_owned());
        assert_eq!(models(&response(302, "")), Some(Outcome::Redirected { to }));
    }

    #[test]
    fn a_wrong_model_is_told_from_a_wrong_address() {
        let judged = |status, body| message(&account(), &response(status, body));
        let unknown = Outcome::NoSuchModel { model: "kimi-k2".to_owned() };
        assert_eq!(
            judged(404, r#"{"error":{"type":"not_found_error","message":"model: kimi-k2"}}"#),
            unknown
        );
        assert_eq!(judged(400, r#"{"error":{"message":"Model Not Exist"}}"#), unknown);
        assert_eq!(judged(404, r#"{"error":{"message":"no such route"}}"#), Outcome::NoSuchAddress);
        assert_eq!(judged(404, "model"), Outcome::NoSuchAddress);
        assert_eq!(
            judged(400, r#"{"error":{"message":"model needs credit"}}"#),
            Outcome::Rejected { status: 400 }
        );
        assert_eq!(judged(200, r#"{"content":[]}"#), Outcome::Works);
        assert_eq!(judged(200, "hello"), Outcome::NotTheApi);
        assert_eq!(judged(529, ""), Outcome::ServerFailed { status: 529 });
    }
}
