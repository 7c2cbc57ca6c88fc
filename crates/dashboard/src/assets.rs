//! The page, inside of the program: nothing has to be installed beside it.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Everything below `assets/`, by name.
const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/assets.rs"));

pub(crate) async fn index() -> Response {
    file("index.html")
}

pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    file(&name)
}

fn file(name: &str) -> Response {
    let found = FILES.iter().find(|(other, _)| *other == name);
    match found {
        Some((name, text)) => ([(header::CONTENT_TYPE, content_type(name))], *text).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_no_script_or_style_of_its_own() {
        let (_, page) = FILES.iter().find(|(name, _)| *name == "index.html").unwrap();
        assert!(!page.contains(" style=") && !page.contains("onclick="), "the policy forbids it");
        for part in page.split("<script").skip(1) {
            let (tag, rest) = part.split_once('>').unwrap();
            assert!(tag.contains(" src=\"/assets/") && rest.starts_with("</script>"), "{part}");
        }
    }

    /// The names in `t('…')`, in whatever file.
    fn asked_for() -> Vec<&'static str> {
        let scripts = FILES.iter().filter(|(name, _)| name.rsplit('.').next() == Some("js"));
        let calls = scripts.flat_map(|(_, text)| text.split("t('").skip(1).zip(text.split("t('")));
        let own = calls
            .filter(|(_, before)| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.'));
        own.filter_map(|(rest, _)| rest.split_once('\'').map(|(name, _)| name)).collect()
    }

    #[test]
    fn every_text_that_the_page_asks_for_is_there() {
        let texts = overtone_messages::page::texts(overtone_messages::Lang::En);
        let asked = asked_for();
        assert!(asked.len() > 50, "{asked:?}");
        let is_name = |name: &&&str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        for name in asked.iter().filter(is_name) {
            assert!(texts.iter().any(|(known, _)| known == name), "{name}");
        }
    }

    #[test]
    fn every_kind_has_its_type() {
        assert!(FILES.iter().all(|(name, _)| !content_type(name).starts_with("text/plain")));
        assert!(FILES.iter().any(|(name, _)| *name == "app.js"));
    }
}
