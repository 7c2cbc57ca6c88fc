//! Derives the outcome of a probe from the server's responses.

use serde_json::Value;

use crate::probe::server_message::error_message;
use crate::probe::{Account, ProbeOutcome};

/// A response of the server.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// The outcome of requesting the list of models; `None` if the server has no such list.
pub(crate) fn models_outcome(response: &Response) -> Option<ProbeOutcome> {
    match response.status {
        200..=299 if has_key(response, "data") => Some(ProbeOutcome::Works),
        401 | 403 | 429 | 300..=399 | 500 | 502..=599 => Some(status_outcome(response)),
        _ => None,
    }
}

/// The outcome of sending a message.
pub(crate) fn message_outcome(account: &Account, response: &Response) -> ProbeOutcome {
    match response.status {
        200..=299 if has_key(response, "content") => ProbeOutcome::Works,
        200..=299 => ProbeOutcome::NotTheApi,
        400 | 404 | 422 if is_model_error(&account.model, response) => {
            ProbeOutcome::NoSuchModel { model: account.model.clone() }
        }
        _ => status_outcome(response),
    }
}

fn status_outcome(response: &Response) -> ProbeOutcome {
    match response.status {
        status @ (401 | 403) => ProbeOutcome::KeyRefused { status },
        404 | 405 => ProbeOutcome::NoSuchAddress,
        429 => ProbeOutcome::Limited,
        300..=399 => ProbeOutcome::Redirected { to: response.location.as_deref().and_then(scheme_and_host) },
        status @ 500.. => ProbeOutcome::ServerFailed { status },
        status => ProbeOutcome::Rejected { status },
    }
}

fn has_key(response: &Response, key: &str) -> bool {
    match serde_json::from_slice::<Value>(&response.body) {
        Ok(body) => body.get(key).is_some(),
        Err(_) => false,
    }
}

/// Whether the server rejects the model. Any server may answer a wrong address; only the API mentions the model.
fn is_model_error(model: &str, response: &Response) -> bool {
    let Some(message) = error_message(&response.body) else { return false };
    let lower = message.to_lowercase();
    let mentions_model = lower.contains("model") || lower.contains("模型");
    match response.status {
        404 => mentions_model,
        _ => {
            mentions_model
                && (message.contains(model) || lower.contains("not exist") || lower.contains("not found"))
        }
    }
}

/// Scheme and host of an address; the rest may repeat parts of the request.
fn scheme_and_host(location: &str) -> Option<String> {
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
    fn only_a_valid_list_of_models_decides_the_outcome() {
        assert_eq!(models_outcome(&response(200, r#"{"data":[]}"#)), Some(ProbeOutcome::Works));
        for (status, body) in
            [(200, "<html>"), (204, ""), (404, ""), (405, ""), (400, "{}"), (501, ""), (200, "{}")]
        {
            assert_eq!(models_outcome(&response(status, body)), None, "{status} {body}");
        }
        assert_eq!(models_outcome(&response(403, "")), Some(ProbeOutcome::KeyRefused { status: 403 }));
        let to = Some("https://other".to_owned());
        assert_eq!(models_outcome(&response(302, "")), Some(ProbeOutcome::Redirected { to }));
    }

    #[test]
    fn a_wrong_model_is_distinguished_from_a_wrong_address() {
        let outcome = |status, body| message_outcome(&account(), &response(status, body));
        let unknown = ProbeOutcome::NoSuchModel { model: "kimi-k2".to_owned() };
        assert_eq!(
            outcome(404, r#"{"error":{"type":"not_found_error","message":"model: kimi-k2"}}"#),
            unknown
        );
        assert_eq!(outcome(400, r#"{"error":{"message":"Model Not Exist"}}"#), unknown);
        assert_eq!(outcome(404, r#"{"error":{"message":"no such route"}}"#), ProbeOutcome::NoSuchAddress);
        assert_eq!(outcome(404, "model"), ProbeOutcome::NoSuchAddress);
        assert_eq!(
            outcome(400, r#"{"error":{"message":"model needs credit"}}"#),
            ProbeOutcome::Rejected { status: 400 }
        );
        assert_eq!(outcome(200, r#"{"content":[]}"#), ProbeOutcome::Works);
        assert_eq!(outcome(200, "hello"), ProbeOutcome::NotTheApi);
        assert_eq!(outcome(529, ""), ProbeOutcome::ServerFailed { status: 529 });
    }
}
