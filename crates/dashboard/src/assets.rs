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

    #[test]
    fn every_kind_has_its_type() {
        assert!(FILES.iter().all(|(name, _)| !content_type(name).starts_with("text/plain")));
        assert!(FILES.iter().any(|(name, _)| *name == "app.js"));
    }
}
