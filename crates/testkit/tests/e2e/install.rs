//! `overtone up`, `doctor`, `down` and `uninstall` with the client's own plugin commands.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use overtone_testkit::Client;
use serde_json::{Value, json};

/// A user's home with a client on the search path.
struct UserHome {
    home: tempfile::TempDir,
    client: PathBuf,
}

/// Order, numbers and spaces are unusual on purpose: they are the user's own.
const SETTINGS: &str =
    "{\n    \"zeta\": 1.50,\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]},\n\t\"env\": {\"A\":\"b\"}\n}";

impl UserHome {
    fn new(client: &Client) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".claude")).unwrap();
        fs::create_dir_all(home.path().join(".local/bin")).unwrap();
        Self { home, client: client.program().parent().unwrap().to_owned() }
    }

    fn with_settings(client: &Client, text: &str) -> Self {
        let user = Self::new(client);
        put(&user.settings(), text);
        user
    }

    fn settings(&self) -> PathBuf {
        self.home.path().join(".claude/settings.json")
    }

    fn read_settings(&self) -> Value {
        serde_json::from_slice(&fs::read(self.settings()).unwrap()).unwrap()
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        let bin = self.home.path().join(".local/bin");
        let path =
            env::join_paths([self.client.as_path(), bin.as_path(), Path::new("/usr/bin"), Path::new("/bin")])
                .unwrap();
        Command::new(program)
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", path)
            .env("LANG", "en_US.UTF-8")
            .env("DISABLE_TELEMETRY", "1")
            .current_dir(self.home.path())
            .output()
            .unwrap()
    }

    fn overtone(&self, arguments: &[&str]) -> String {
        let output = self.run(Path::new(&env::var("OVERTONE_BIN").unwrap()), arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The names of the doctor's findings.
    fn findings(&self) -> Vec<String> {
        let output = self.run(Path::new(&env::var("OVERTONE_BIN").unwrap()), &["doctor", "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap();
        assert!(findings.iter().all(|f| !f["fix"].as_str().unwrap().is_empty()));
        findings.iter().map(|f| f["name"].as_str().unwrap().to_owned()).collect()
    }

    fn plugins(&self) -> Vec<Value> {
        let output = self.run(&self.client.join("claude"), &["plugin", "list", "--json"]);
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn put(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

#[test]
fn one_command_installs_and_the_doctor_finds_nothing() {
    for client in Client::all() {
        let user = UserHome::with_settings(&client, SETTINGS);
        let received = user.overtone(&["up"]);
        assert_eq!(received.lines().count(), 5, "{received}");
        assert!(received.contains(client.version()) && received.contains("/ot:auto"), "{received}");
        let plugins = user.plugins();
        assert_eq!((&plugins[0]["id"], &plugins[0]["enabled"]), (&json!("ot@overtone"), &json!(true)));
        assert!(user.findings().is_empty(), "{:?}", user.findings());
        // The locale speaks English, and the name can be typed.
        for name in ["overtone", "ccc"] {
            assert!(user.run(Path::new(name), &["--version"]).status.success(), "{name}");
        }
        let config = fs::read_to_string(user.home.path().join(".overtone/config.json")).unwrap();
        assert!(config.contains("\"en\""), "{config}");
    }
}

#[test]
fn the_settings_keep_their_form_and_come_back_byte_for_byte() {
    for client in Client::all() {
        let user = UserHome::with_settings(&client, SETTINGS);
        fs::set_permissions(user.settings(), fs::Permissions::from_mode(0o640)).unwrap();
        user.overtone(&["up"]);
        let installed = fs::read_to_string(user.settings()).unwrap();
        assert!(installed.starts_with(SETTINGS.trim_end_matches("\n}")), "{installed}");
        assert_eq!(fs::metadata(user.settings()).unwrap().permissions().mode() & 0o777, 0o640);
        user.overtone(&["up"]);
        assert_eq!(
            fs::read_to_string(user.settings()).unwrap(),
            installed,
            "the second time changes nothing"
        );
        user.overtone(&["uninstall"]);
        assert_eq!(fs::read_to_string(user.settings()).unwrap(), SETTINGS);
        assert_eq!(fs::read_dir(user.home.path().join(".local/bin")).unwrap().count(), 0);
        assert!(!user.home.path().join(".overtone/plugin").exists());
        assert!(!user.home.path().join(".claude/plugins/cache/overtone").exists());
        assert_eq!(user.plugins(), Vec::<Value>::new());
    }
}

#[test]
fn a_person_without_settings_has_none_afterwards() {
    for client in Client::all() {
        let user = UserHome::new(&client);
        user.overtone(&["up"]);
        assert!(user.read_settings()["statusLine"]["command"].as_str().unwrap().ends_with("statusline"));
        user.overtone(&["down"]);
        assert!(!user.settings().exists());
        assert!(user.home.path().join(".overtone/plugin").exists(), "down keeps the files");
        user.overtone(&["up"]);
        user.overtone(&["uninstall", "--purge", "--yes"]);
        assert!(!user.home.path().join(".overtone").exists());
    }
}

#[test]
fn what_the_person_changed_since_is_kept() {
    for client in Client::all() {
        let user = UserHome::with_settings(&client, SETTINGS);
        user.overtone(&["up"]);
        let changed = fs::read_to_string(user.settings()).unwrap().replace("1.50", "2.75");
        put(&user.settings(), &changed);
        user.overtone(&["uninstall"]);
        assert_eq!(fs::read_to_string(user.settings()).unwrap(), SETTINGS.replace("1.50", "2.75"));
    }
}

#[test]
fn a_status_line_of_their_own_is_left_alone() {
    for client in Client::all() {
        let own = r#"{"statusLine": {"type": "command", "command": "~/my-line.sh"}}"#;
        let user = UserHome::with_settings(&client, own);
        assert!(user.overtone(&["up"]).contains("yours is kept"));
        assert_eq!(user.read_settings()["statusLine"]["command"], "~/my-line.sh");
        user.overtone(&["uninstall"]);
        assert_eq!(fs::read_to_string(user.settings()).unwrap(), own);
    }
}

#[test]
fn an_older_plugin_is_upgraded_and_the_state_kept() {
    for client in Client::all() {
        let user = UserHome::new(&client);
        user.overtone(&["up"]);
        let plugin = user.home.path().join(".overtone/plugin");
        put(&plugin.join("agents/qa.md"), "---\nname: qa\n---\nold");
        put(&plugin.join("bin/overtone"), "old");
        let session = user.home.path().join(".overtone/sessions/s1");
        fs::create_dir_all(&session).unwrap();
        put(&session.join("workflow.json"), r#"{"workflowType":"quick","stages":{},"mine":1}"#);
        let findings = user.findings();
        assert!(
            findings.contains(&"plugin-file".into()) && findings.contains(&"program-stale".into()),
            "{findings:?}"
        );
        user.overtone(&["up"]);
        assert!(user.findings().is_empty(), "{:?}", user.findings());
        assert!(fs::read_to_string(session.join("workflow.json")).unwrap().contains("\"mine\":1"));
        // Older clients run a copy: it must be the new one.
        let copy = PathBuf::from(user.plugins()[0]["installPath"].as_str().unwrap());
        let loaded = if copy.join("agents/qa.md").exists() { copy } else { plugin };
        assert!(!fs::read_to_string(loaded.join("agents/qa.md")).unwrap().ends_with("old"));
    }
}

#[test]
fn the_doctor_only_looks() {
    for client in Client::all() {
        // 2.1.197 drops this model, and rewrites the rest, the first time it starts.
        let settings = "{\n    \"model\": \"opus\",\n    \"zeta\": 1.50\n}";
        let user = UserHome::with_settings(&client, settings);
        assert_eq!(user.findings(), ["not-registered", "plugin-missing"]);
        assert_eq!(fs::read_to_string(user.settings()).unwrap(), settings);
    }
}

#[test]
fn the_doctor_names_what_keeps_hooks_from_running() {
    for client in Client::all() {
        let user = UserHome::new(&client);
        assert_eq!(user.findings(), ["not-registered", "plugin-missing"]);
        user.overtone(&["up"]);
        let with = |key: &str, value: Value| {
            let mut settings = user.read_settings();
            settings[key] = value;
            put(&user.settings(), &settings.to_string());
        };
        with("disableAllHooks", json!(true));
        assert_eq!(user.findings(), ["hooks-disabled"]);
        with("disableAllHooks", json!(false));
        with("enabledPlugins", json!({"ot@overtone": false}));
        assert_eq!(user.findings(), ["plugin-disabled"]);
        with("enabledPlugins", json!({"ot@overtone": true}));
        let session = user.home.path().join(".overtone/sessions/s1");
        fs::create_dir_all(&session).unwrap();
        put(&session.join("workflow.json"), "{broken");
        assert_eq!(user.findings(), ["broken-file"]);
    }
}
