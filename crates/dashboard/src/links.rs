//! One-time links. The command line writes the secret of a link into the user's own folder, where only the user and the
//! server read it; so the token goes nowhere, and no other process learns anything that opens the server.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use overtone_store::{Home, create_private_dir, files};
use serde_json::{Value, json};

use crate::instance::{Running, folder};
use crate::random::{hex, is_same};

/// How long a link waits to be used: a browser may take its time to start.
const LIFETIME: Duration = Duration::from_mins(5);
const ID_BYTES: usize = 8;
const SECRET_BYTES: usize = 24;

/// A link that was made.
#[derive(Debug)]
pub struct OpenLink {
    /// The address that opens the page once.
    pub url: String,
    /// A page that leads there, readable for the user alone. Whoever starts a browser names this file: what is named on
    /// a command line is seen by every user of the machine.
    pub page: PathBuf,
}

fn links(home: &Home) -> PathBuf {
    folder(home).join("links")
}

/// Makes a link to this server. It opens the page once, and only while this very server runs.
pub fn make_link(home: &Home, server: &Running, address: &str) -> io::Result<OpenLink> {
    let folder = links(home);
    create_private_dir(&folder)?;
    sweep(&folder);
    let (id, secret) = (hex(ID_BYTES)?, hex(SECRET_BYTES)?);
    let about = json!({ "secret": secret, "server": server.instance });
    files::write_atomic(&note(&folder, &id), about.to_string().as_bytes(), files::PRIVATE)?;
    let url = format!("{address}/#code={id}.{secret}");
    let page = folder.join(format!("{id}.html"));
    files::write_atomic(&page, redirect(&url).as_bytes(), files::PRIVATE)?;
    Ok(OpenLink { url, page })
}

fn note(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.json"))
}

/// An address of ours has nothing in it that HTML would take for its own.
fn redirect(url: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\">\n<title>Overtone</title>\n<a href=\"{url}\">Overtone</a>\n"
    )
}

/// Uses a link up. True for exactly one caller, with the right code, at the server that the link was made for.
pub(crate) fn use_link(home: &Home, code: &str, instance: &str) -> bool {
    let folder = links(home);
    sweep(&folder);
    let Some((id, secret)) = code.split_once('.').filter(|(id, _)| is_id(id)) else { return false };
    let text = files::read_small(&note(&folder, id)).ok().flatten().unwrap_or_default();
    let about: Value = serde_json::from_str(&text).unwrap_or_default();
    let is_right =
        about["secret"].as_str().is_some_and(|own| is_same(secret, own)) && about["server"] == instance;
    // Whoever removes the note has used the link.
    let is_first = is_right && fs::remove_file(note(&folder, id)).is_ok();
    if is_first {
        let _ = fs::remove_file(folder.join(format!("{id}.html")));
    }
    is_first
}

fn is_id(text: &str) -> bool {
    text.len() == 2 * ID_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Removes links that nobody has used.
fn sweep(folder: &Path) {
    let now = SystemTime::now();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let made = entry.metadata().and_then(|about| about.modified());
        let is_old = made.is_ok_and(|made| now.duration_since(made).is_ok_and(|age| age > LIFETIME));
        if is_old {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(instance: &str) -> Running {
        let address = "127.0.0.1:7777".parse().unwrap();
        Running { pid: 1, address, version: String::new(), instance: instance.to_owned() }
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
            let is_same_by_chance = wrong == code;
            assert!(is_same_by_chance || !use_link(&home, wrong, "a"), "{wrong}");
        }
        assert!(!use_link(&home, &code, "b"), "another server");
        let used: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| use_link(&home, &code, "a"))).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(used.iter().filter(|used| **used).count(), 1);
        assert!(!link.page.exists());
    }

    #[test]
    fn an_old_link_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let link = make_link(&home, &server("a"), "http://x").unwrap();
        for entry in fs::read_dir(links(&home)).unwrap().flatten() {
            let file = fs::File::options().write(true).open(entry.path()).unwrap();
            file.set_modified(SystemTime::now() - LIFETIME - Duration::from_secs(1)).unwrap();
        }
        assert!(!use_link(&home, &code(&link), "a") && !link.page.exists());
    }
}
