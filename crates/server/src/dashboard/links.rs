//! One-time links. The command line writes the secret of a link to the user's own folder, where only the user and the
//! server can read it. So the token is never passed on, and other processes learn nothing that opens the server.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use overtone_store::{Home, create_private_dir, files};
use serde::Serialize;
use serde_json::Value;

use crate::dashboard::instance::{RunningServer, server_dir};
use crate::dashboard::random::{constant_time_eq, hex};

/// How long a link is valid, which includes the time a browser needs to start.
const LINK_TTL: Duration = Duration::from_mins(5);
const ID_BYTES: usize = 8;
const SECRET_BYTES: usize = 24;

/// A new one-time link.
#[derive(Debug)]
pub struct OpenLink {
    /// The address that opens the page once.
    pub url: String,
    /// A page that redirects there, readable by the user only. It is passed to the browser instead of the address,
    /// because every user of the machine can see command lines.
    pub page: PathBuf,
}

/// The content of a link's file.
#[derive(Serialize)]
struct LinkFile<'a> {
    secret: &'a str,
    server: &'a str,
}

fn links_dir(home: &Home) -> PathBuf {
    server_dir(home).join("links")
}

/// Creates a link that opens the page once, and only while this run of the server lasts.
pub fn make_link(home: &Home, server: &RunningServer, address: &str) -> io::Result<OpenLink> {
    let folder = links_dir(home);
    create_private_dir(&folder)?;
    remove_expired_links(&folder);
    let (id, secret) = (hex(ID_BYTES)?, hex(SECRET_BYTES)?);
    let content = serde_json::to_vec(&LinkFile { secret: &secret, server: &server.instance })?;
    files::write_atomic(&link_file(&folder, &id), &content, files::PRIVATE)?;
    let url = format!("{address}/#code={id}.{secret}");
    let page = folder.join(format!("{id}.html"));
    files::write_atomic(&page, redirect_page(&url).as_bytes(), files::PRIVATE)?;
    Ok(OpenLink { url, page })
}

fn link_file(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.json"))
}

/// The address needs no escaping: it contains no characters that are special in HTML.
fn redirect_page(url: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\">\n<title>Overtone</title>\n<a href=\"{url}\">Overtone</a>\n"
    )
}

/// Redeems a link. Returns true for exactly one caller with the right code, at the server the link was created for.
pub(crate) fn redeem_link(home: &Home, code: &str, instance: &str) -> bool {
    let folder = links_dir(home);
    remove_expired_links(&folder);
    let Some((id, secret)) = code.split_once('.') else { return false };
    if !is_id(id) {
        return false;
    }
    let text = files::read_small(&link_file(&folder, id)).ok().flatten().unwrap_or_default();
    let content: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(expected) = content["secret"].as_str() else { return false };
    if !constant_time_eq(secret, expected) || content["server"] != instance {
        return false;
    }
    // Of several callers, the one that removes the file redeems the link.
    if fs::remove_file(link_file(&folder, id)).is_err() {
        return false;
    }
    let _ = fs::remove_file(folder.join(format!("{id}.html")));
    true
}

fn is_id(text: &str) -> bool {
    text.len() == 2 * ID_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Removes links that were not used in time.
fn remove_expired_links(folder: &Path) {
    let now = SystemTime::now();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(created) = entry.metadata().and_then(|metadata| metadata.modified()) else { continue };
        if matches!(now.duration_since(created), Ok(age) if age > LINK_TTL) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(instance: &str) -> RunningServer {
        let address = "127.0.0.1:7777".parse().unwrap();
        RunningServer { pid: 1, address, version: String::new(), instance: instance.to_owned() }
    }

    fn code(link: &OpenLink) -> String {
        link.url.split_once("#code=").unwrap().1.to_owned()
    }

    #[test]
    fn a_link_opens_once_and_only_its_own_server() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let link = make_link(&home, &server("a"), "http://127.0.0.1:7777").unwrap();
        let code = code(&link);
        assert!(fs::read_to_string(&link.page).unwrap().contains(&link.url));
        for wrong in
            ["", ".", "x.y", "../../x.y", &format!("{}0", &code[..code.len() - 1]), &code.replace('.', "")]
        {
            let is_right_by_chance = wrong == code;
            assert!(is_right_by_chance || !redeem_link(&home, wrong, "a"), "{wrong}");
        }
        assert!(!redeem_link(&home, &code, "b"), "another server");
        let redeemed: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| redeem_link(&home, &code, "a"))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(redeemed.iter().filter(|redeemed| **redeemed).count(), 1);
        assert!(!link.page.exists());
    }

    #[test]
    fn an_expired_link_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let link = make_link(&home, &server("a"), "http://x").unwrap();
        for entry in fs::read_dir(links_dir(&home)).unwrap().flatten() {
            let file = fs::File::options().write(true).open(entry.path()).unwrap();
            file.set_modified(SystemTime::now() - LINK_TTL - Duration::from_secs(1)).unwrap();
        }
        assert!(!redeem_link(&home, &code(&link), "a") && !link.page.exists());
    }
}
