//! Which repository a project is a clone of, by what its `.git` says: the same on every machine.

use std::path::{Path, PathBuf};

use overtone_store::files;

/// `host/owner/name` of its origin, else the folder's name. `None` outside of everything.
pub fn of(project: &Path) -> Option<String> {
    let called = || project.file_name().map(|name| name.to_string_lossy().into_owned());
    let config = project.ancestors().find_map(git_folder).and_then(|folder| read(&folder.join("config")));
    config.and_then(|config| origin(&config)).and_then(|url| normal(&url)).or_else(called)
}

/// The folder with the repository's settings; that of a work tree is elsewhere.
fn git_folder(place: &Path) -> Option<PathBuf> {
    let git = place.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = read(&git)?;
    let folder = place.join(text.strip_prefix("gitdir:")?.trim());
    let common = read(&folder.join("commondir"));
    Some(common.map_or(folder.clone(), |common| folder.join(common.trim())))
}

/// The project is not ours: a pipe or a device in it is not read, and nothing without bounds.
fn read(path: &Path) -> Option<String> {
    files::read_small(path).ok().flatten()
}

fn origin(config: &str) -> Option<String> {
    let mut lines = config.lines().map(str::trim).skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let section = lines.by_ref().take_while(|line| !line.starts_with('['));
    let mut urls = section.filter_map(|line| line.strip_prefix("url")?.trim_start().strip_prefix('='));
    urls.next().map(|url| url.trim().to_owned())
}

/// The same for all ways to write it, and without anybody's password.
fn normal(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    // `host:owner/name`, as with ssh; but `host:22/owner/name` has a port.
    let rest = match rest.split_once(':') {
        Some((host, path)) => {
            let path = path.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('/');
            format!("{host}/{path}")
        }
        None => rest.to_owned(),
    };
    let name = rest.trim_end_matches('/').trim_end_matches(".git").trim_matches('/').to_lowercase();
    let is_local = url.starts_with('/') || url.starts_with('.') || url.starts_with("file:");
    (!name.is_empty() && !is_local).then_some(name)
}

#[cfg(test)]
mod tests {
    use overtone_store::files;

    use std::fs;

    use super::*;

    #[test]
    fn all_ways_to_write_an_address_are_one_repository() {
        for url in [
            "https://example.org/Ann/shop.git",
            "https://ann:token@example.org/ann/shop",
            "git@example.org:ann/shop.git",
            "ssh://git@example.org:22/ann/shop.git/",
        ] {
            assert_eq!(normal(url).as_deref(), Some("example.org/ann/shop"), "{url}");
        }
        assert_eq!(normal("/srv/git/shop.git"), None);
    }

    #[test]
    fn a_clone_and_its_work_tree_are_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let config = "[core]\n\tbare = false\n[remote \"up\"]\n\turl = x\n[remote \"origin\"]\n\turl = git@h.org:a/b.git\n";
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            files::write_atomic(&path, text.as_bytes(), 0o600).unwrap();
        };
        put("shop/.git/config", config);
        put("shop/.git/worktrees/wt/commondir", "../..\n");
        put("wt/.git", &format!("gitdir: {}\n", dir.path().join("shop/.git/worktrees/wt").display()));
        assert_eq!(of(&dir.path().join("shop")).as_deref(), Some("h.org/a/b"));
        assert_eq!(of(&dir.path().join("wt")).as_deref(), Some("h.org/a/b"));
        fs::create_dir_all(dir.path().join("plain")).unwrap();
        assert_eq!(of(&dir.path().join("plain")).as_deref(), Some("plain"));
    }
}
