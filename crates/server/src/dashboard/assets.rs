//! The files of the web page, which are compiled into the program.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The files below `assets/`, by name.
const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/assets.rs"));

pub(crate) async fn index() -> Response {
    file("index.html")
}

pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    file(&name)
}

fn file(name: &str) -> Response {
    match FILES.iter().find(|(other, _)| *other == name) {
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
    fn the_page_has_no_inline_script_or_style() {
        let (_, page) = FILES.iter().find(|(name, _)| *name == "index.html").unwrap();
        assert!(!page.contains(" style=") && !page.contains("onclick="), "the policy forbids it");
        for part in page.split("<script").skip(1) {
            let (tag, rest) = part.split_once('>').unwrap();
            assert!(tag.contains(" src=\"/assets/") && rest.starts_with("</script>"), "{part}");
        }
    }

    /// The names in `t('…')` in all scripts.
    fn used_text_names() -> Vec<&'static str> {
        let scripts = FILES.iter().filter(|(name, _)| name.rsplit('.').next() == Some("js"));
        let calls = scripts.flat_map(|(_, text)| text.split("t('").skip(1).zip(text.split("t('")));
        let own = calls
            .filter(|(_, before)| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.'));
        own.filter_map(|(rest, _)| rest.split_once('\'').map(|(name, _)| name)).collect()
    }

    #[test]
    fn every_text_that_the_page_uses_exists() {
        let texts = overtone_core::messages::page::texts(overtone_core::messages::Lang::En);
        let used = used_text_names();
        assert!(used.len() > 50, "{used:?}");
        let is_name = |name: &&&str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        for name in used.iter().filter(is_name) {
            assert!(texts.iter().any(|(known, _)| known == name), "{name}");
        }
    }

    #[test]
    fn every_file_has_a_content_type() {
        assert!(FILES.iter().all(|(name, _)| !content_type(name).starts_with("text/plain")));
        assert!(FILES.iter().any(|(name, _)| *name == "app.js"));
    }
}
