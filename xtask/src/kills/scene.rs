//! A home with everything in it that can be torn: a session at work, lessons, features, and a person's settings.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::sandbox::Sandbox;
use crate::shell::write_file;

pub(super) const SESSION: &str = "at-work";

/// What the client of `ccc` is.
const CLIENT: &str = "/bin/true";

/// One home, and the program under both of its names.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) sandbox: Sandbox,
    root: PathBuf,
    bin: PathBuf,
}

impl Scene {
    pub(super) fn create(root: PathBuf, binary: &Path) -> Result<Self> {
        // Beside the root: programs are no state.
        let bin = root.with_added_extension("bin");
        let scene = Self { sandbox: Sandbox::create(root.clone(), binary)?, root, bin };
        scene.install(binary)?;
        scene.furnish()?;
        Ok(scene)
    }

    /// Everything that is state lies below it.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn claude(&self) -> PathBuf {
        self.sandbox.home().join(".claude")
    }

    pub(super) fn ccc(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command_of(&self.bin.join("ccc"), arguments);
        command
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.bin.display()))
            .env("EDITOR", "true");
        command
    }

    fn install(&self, binary: &Path) -> Result<()> {
        fs::create_dir_all(&self.bin).map_err(|e| Error::io("cannot create folder", &self.bin, &e))?;
        for (target, name) in [(binary, "ccc"), (Path::new(CLIENT), "claude")] {
            let link = self.bin.join(name);
            symlink(target, &link).map_err(|e| Error::io("cannot create", &link, &e))?;
        }
        Ok(())
    }

    fn furnish(&self) -> Result<()> {
        for (name, content) in [("ccc.json", config()), ("settings.json", settings())] {
            write_file(&self.claude().join(name), format!("{content:#}\n").as_bytes())?;
        }
        write_file(&self.sandbox.project().join("README.md"), b"a project\n")?;
        let start = self.sandbox.event(SESSION, Hook::OnStart, json!({ "source": "startup" }));
        self.sandbox.hook(Hook::OnStart, &start)?;
        self.sandbox.succeed(&["init", "quick", "--feature", "login", "--session", SESSION]).map(drop)
    }
}

fn config() -> Value {
    let provider = |name: &str| {
        json!({ "env": {
            "ANTHROPIC_BASE_URL": format!("https://{name}.example/anthropic"),
            "ANTHROPIC_AUTH_TOKEN": format!("sk-{name}-0123456789abcdef"), "ANTHROPIC_MODEL": format!("{name}-large"),
        } })
    };
    json!({
        "mine": "kept", "settings": { "permissions": { "allow": ["Read"] } },
        "providers": { "a": provider("a"), "b": provider("b") }, "current_provider": "a",
    })
}

fn settings() -> Value {
    json!({
        "mine": "kept", "model": "opus", "permissions": { "allow": ["Bash(ls)"] },
        "env": { "HTTP_PROXY": "", "MINE": "kept" },
    })
}

/// What of the person's own is gone from a file; nothing for other files.
pub(super) fn lost_keys(path: &Path, text: &str) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    let value: Value = serde_json::from_str(text).ok()?;
    let kept = |pointer: &str, wanted: &Value| value.pointer(pointer) == Some(wanted);
    let has_rule =
        |rule: &str| value["permissions"]["allow"].as_array().is_some_and(|all| all.contains(&json!(rule)));
    match name {
        "settings.json" | "ccc.json" if !kept("/mine", &json!("kept")) => Some("mine"),
        "settings.json" if !kept("/model", &json!("opus")) => Some("model"),
        "settings.json" if !kept("/env/MINE", &json!("kept")) => Some("env.MINE"),
        "settings.json" if !has_rule("Bash(ls)") => Some("permissions.allow"),
        "ccc.json" if value.pointer("/providers/a").is_none() => Some("providers.a"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_key_is_noticed() {
        let path = Path::new("/h/.claude/settings.json");
        assert_eq!(lost_keys(path, &settings().to_string()), None);
        assert_eq!(lost_keys(path, r#"{"mine":"kept"}"#), Some("model"));
        assert_eq!(lost_keys(Path::new("ccc.json"), &config().to_string()), None);
        assert_eq!(lost_keys(Path::new("ccc.json"), r#"{"mine":"kept"}"#), Some("providers.a"));
        assert_eq!(lost_keys(Path::new("loop.json"), "{}"), None);
    }
}
