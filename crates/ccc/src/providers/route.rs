//! Classifies variables and settings that decide where the client's requests go, which key they carry, or which model
//! they ask for. None of them reaches a client that `ccc` starts unless the chosen provider sets it.

use serde_json::Value;

use crate::providers::Fragment;

/// What a variable of the environment means for a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It decides where requests go, or contains a secret of the client.
    Route,
    /// It only selects what is requested: a model, a beta feature.
    Model,
    /// A credential that the client uses when its requests go through this cloud.
    Cloud(Cloud),
    /// It is unrelated to providers.
    Other,
}

/// The clouds that the client supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cloud {
    Aws,
    Google,
    Azure,
}

/// Keys of the client's settings with the effect of a [`Meaning::Route`] variable.
pub(crate) const ROUTE_KEYS: [&str; 4] =
    [KEY_HELPER, "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh"];

/// Names a program that prints a key. The client sends this key to whichever server its requests go to.
pub(crate) const KEY_HELPER: &str = "apiKeyHelper";

/// Variables that identify the user.
pub(crate) const CREDENTIALS: [&str; 3] =
    ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

/// Variables that a private settings file always sets, so that a later change of the shared settings cannot move the
/// session to another provider. For the client, an empty value counts as not set.
pub(crate) const ALWAYS_OVERRIDDEN: [&str; 8] = [
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// Variables that look like routes by their prefix but are preferences of the user.
const PREFERENCES: [&str; 2] = ["CLAUDE_CODE_USE_NATIVE_FILE_SEARCH", "CLAUDE_CODE_USE_POWERSHELL_TOOL"];

/// Name parts that indicate a secret or an address.
const DECISIVE_PARTS: [&str; 18] = [
    "TOKEN",
    "KEY",
    "SECRET",
    "PASSWORD",
    "PASSPHRASE",
    "AUTH",
    "OAUTH",
    "BEARER",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "COOKIE",
    "CERT",
    "HEADERS",
    "URL",
    "SOCKET",
    "ENDPOINT",
    "GATEWAY",
];

/// Name parts that indicate a switch or a limit, whatever else the name contains.
const HARMLESS_PARTS: [&str; 9] =
    ["DISABLE", "ENABLE", "MS", "TTL", "TIMEOUT", "REMINDER", "STORE", "THRESHOLD", "SHAPE"];

const CLOUDS: [(Cloud, &[&str]); 3] = [
    (Cloud::Aws, &["AWS_", "BEDROCK_"]),
    (Cloud::Google, &["GOOGLE_", "GCLOUD_", "GCP_", "CLOUDSDK_", "CLOUD_ML_", "VERTEX_"]),
    (Cloud::Azure, &["AZURE_", "FOUNDRY_", "IDENTITY_ENDPOINT", "IDENTITY_HEADER", "MSI_", "IMDS_"]),
];

/// The variables that route the client through a cloud.
const CLOUD_SWITCHES: [(&str, Cloud); 6] = [
    ("CLAUDE_CODE_USE_BEDROCK", Cloud::Aws),
    ("CLAUDE_CODE_USE_MANTLE", Cloud::Aws),
    ("CLAUDE_CODE_USE_ANTHROPIC_AWS", Cloud::Aws),
    ("CLAUDE_CODE_USE_VERTEX", Cloud::Google),
    ("CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD", Cloud::Google),
    ("CLAUDE_CODE_USE_FOUNDRY", Cloud::Azure),
];

pub(crate) fn meaning_of(variable: &str) -> Meaning {
    if let Some(rest) = variable.strip_prefix("ANTHROPIC_") {
        let is_choice = rest.split('_').any(|part| part == "MODEL") || rest == "BETAS" || rest == "LOG";
        return if is_choice { Meaning::Model } else { Meaning::Route };
    }
    if let Some(rest) = variable.strip_prefix("CLAUDE_") {
        return meaning_of_client_variable(variable, rest);
    }
    for (cloud, prefixes) in CLOUDS {
        if prefixes.iter().any(|prefix| variable.starts_with(prefix)) {
            return Meaning::Cloud(cloud);
        }
    }
    Meaning::Other
}

/// The client has hundreds of variables. Those that do not concern routes, secrets or models belong to the user.
fn meaning_of_client_variable(variable: &str, rest: &str) -> Meaning {
    if PREFERENCES.contains(&variable) {
        return Meaning::Other;
    }
    if rest.starts_with("CODE_USE_") || rest.starts_with("CODE_PROVIDER_") {
        return Meaning::Route;
    }
    let has = |parts: &[&str]| rest.split('_').any(|part| parts.contains(&part));
    if has(&HARMLESS_PARTS) {
        return Meaning::Other;
    }
    if has(&DECISIVE_PARTS) {
        return Meaning::Route;
    }
    if rest.ends_with("_MODEL") { Meaning::Model } else { Meaning::Other }
}

/// Whether the variable belongs to a provider rather than to the user.
pub(crate) fn belongs_to_provider(variable: &str) -> bool {
    matches!(meaning_of(variable), Meaning::Route | Meaning::Model)
}

/// The cloud that a provider uses, if any.
pub(crate) fn cloud_of(env: &Fragment) -> Option<Cloud> {
    let is_on = |name: &str| {
        let value = env.get(name).and_then(Value::as_str).unwrap_or_default();
        !["", "0", "false", "no", "off"].contains(&value.to_ascii_lowercase().as_str())
    };
    CLOUD_SWITCHES.iter().find(|(name, _)| is_on(name)).map(|(_, cloud)| *cloud)
}

/// Whether the provider is Anthropic itself, used with the login that the user has.
pub(crate) fn uses_login(env: &Fragment) -> bool {
    let is_set = |name: &str| matches!(env.get(name), Some(value) if value != "");
    !is_third_party(env) && cloud_of(env).is_none() && !CREDENTIALS.iter().any(|name| is_set(name))
}

/// Whether requests go to a server other than Anthropic's and the clouds'.
pub(crate) fn is_third_party(env: &Fragment) -> bool {
    let address = env.get("ANTHROPIC_BASE_URL").and_then(Value::as_str).unwrap_or_default();
    if address.is_empty() || cloud_of(env).is_some() {
        return false;
    }
    let rest = match address.split_once("://") {
        Some((_, rest)) => rest,
        None => address,
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    host != "anthropic.com" && !host.ends_with(".anthropic.com")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn routes_and_secrets_are_distinguished_from_preferences() {
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_SOMETHING_OF_TOMORROW",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_WHATEVER_COMES",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_API_BASE_URL",
            "CLAUDE_CODE_SKIP_VERTEX_AUTH",
            "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
            "CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST",
            "CLAUDE_CODE_HOST_CREDS_FILE",
            "CLAUDE_API_KEY",
        ] {
            assert_eq!(meaning_of(name), Meaning::Route, "{name}");
        }
        for name in ["ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL_NAME", "CLAUDE_CODE_SUBAGENT_MODEL"] {
            assert_eq!(meaning_of(name), Meaning::Model, "{name}");
        }
        for name in [
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_USE_NATIVE_FILE_SEARCH",
            "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
            "HTTPS_PROXY",
            "PATH",
            "GITHUB_TOKEN",
        ] {
            assert_eq!(meaning_of(name), Meaning::Other, "{name}");
        }
        assert_eq!(meaning_of("AWS_SECRET_ACCESS_KEY"), Meaning::Cloud(Cloud::Aws));
        assert_eq!(meaning_of("GOOGLE_APPLICATION_CREDENTIALS"), Meaning::Cloud(Cloud::Google));
        assert_eq!(meaning_of("AZURE_CLIENT_SECRET"), Meaning::Cloud(Cloud::Azure));
    }

    #[test]
    fn every_server_but_anthropic_and_the_clouds_is_a_third_party() {
        let env = |value: Value| value.as_object().cloned().unwrap();
        let is_foreign = |address: &str| is_third_party(&env(json!({ "ANTHROPIC_BASE_URL": address })));
        for foreign in
            ["https://api.moonshot.cn/anthropic", "http://127.0.0.1:1", "https://anthropic.com.evil.example/"]
        {
            assert!(is_foreign(foreign), "{foreign}");
        }
        for own in ["", "https://api.anthropic.com", "https://API.Anthropic.com:443/v1"] {
            assert!(!is_foreign(own), "{own}");
        }
        assert!(is_foreign("https://api.anthropic.com@evil.example/"));
        let bedrock = json!({ "ANTHROPIC_BASE_URL": "http://x", "CLAUDE_CODE_USE_BEDROCK": "1" });
        assert!(!is_third_party(&env(bedrock)));
        assert_eq!(cloud_of(&env(json!({ "CLAUDE_CODE_USE_VERTEX": "0" }))), None);
    }
}
