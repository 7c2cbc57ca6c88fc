//! The name of the repository that a project is a clone of. It is the same on every machine.

use std::path::{Path, PathBuf};

use overtone_store::files;

/// `host/owner/name` of the origin, or the name of the project's folder if there is no usable origin.
pub fn repository_name(project: &Path) -> Option<String> {
    if let Some(git_dir) = project.ancestors().find_map(git_dir)
        && let Some(config) = read(&git_dir.join("config"))
        && let Some(url) = origin_url(&config)
        && let Some(name) = normalize_url(&url)
    {
        return Some(name);
    }
    project.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// The folder with the repository's configuration. For a linked work tree it is outside of the project.
fn git_dir(project: &Path) -> Option<PathBuf> {
    let git = project.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = read(&git)?;
    let folder = project.join(text.strip_prefix("gitdir:")?.trim());
    match read(&folder.join("commondir")) {
        Some(common) => Some(folder.join(common.trim())),
        None => Some(folder),
    }
}

/// Reads a small regular file. The project is untrusted, so pipes, devices and huge files are not read.
fn read(path: &Path) -> Option<String> {
    files::read_small(path).ok().flatten()
}

fn origin_url(config: &str) -> Option<String> {
    let mut lines = config.lines().map(str::trim).skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let section = lines.by_ref().take_while(|line| !line.starts_with('['));
    let mut urls = section.filter_map(|line| line.strip_prefix("url")?.trim_start().strip_prefix('='));
    urls.next().map(|url| url.trim().to_owned())
}

/// `host/owner/name` of a URL in any of its forms, without logins. `None` for paths on this machine.
fn normalize_url(url: &str) -> Option<String> {
    let rest = match url.split_once("://") {
        Some((_scheme, rest)) => rest,
        None => url,
    };
    let rest = match rest.rsplit_once('@') {
        Some((_login, rest)) => rest,
        None => rest,
    };
    // `host:owner/name` is the short form of ssh. In `host:22/owner/name` the number is a port.
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
    fn all_forms_of_a_url_name_the_same_repository() {
        for url in [
            "https://example.org/Ann/shop.git",
            "https://ann:token@example.org/ann/shop",
            "git@example.org:ann/shop.git",
            "ssh://git@example.org:22/ann/shop.git/",
        ] {
            assert_eq!(normalize_url(url).as_deref(), Some("example.org/ann/shop"), "{url}");
        }
        assert_eq!(normalize_url("/srv/git/shop.git"), None);
    }

    #[test]
    fn a_clone_and_its_work_tree_have_the_same_name() {
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
        assert_eq!(repository_name(&dir.path().join("shop")).as_deref(), Some("h.org/a/b"));
        assert_eq!(repository_name(&dir.path().join("wt")).as_deref(), Some("h.org/a/b"));
        fs::create_dir_all(dir.path().join("plain")).unwrap();
        assert_eq!(repository_name(&dir.path().join("plain")).as_deref(), Some("plain"));
    }
}
