//! Plans a start of the client on a provider: the environment of the process, the contents of the shared settings, and
//! a private settings file where the environment alone would not win.
//!
//! The route and its keys are passed in the environment. Settings files win over it, so each value in them that would
//! send the client to another provider is either overruled by the private file or prevents the start.

use serde_json::Value;

use crate::providers::claim::{Claim, ClaimKind};
use crate::providers::config::Parts;
use crate::providers::conflicts::find_conflicts;
use crate::providers::fragment::merge;
use crate::providers::login::Login;
use crate::providers::route::{
    ALWAYS_OVERRIDDEN, CREDENTIALS, KEY_HELPER, Meaning, ROUTE_KEYS, cloud_of, is_third_party, meaning_of,
    uses_login,
};
use crate::providers::{
    CccPaths, Config, Conflict, ConflictKind, Fragment, Layer, Lookup, ProvidersError, SettingsArgument,
    Sources, owned,
};

const MODEL: &str = "ANTHROPIC_MODEL";

/// A requested start.
pub struct StartRequest<'a> {
    pub paths: &'a CccPaths,
    pub config: &'a Config,
    pub provider: &'a str,
    pub lookup: Lookup<'a>,
    pub sources: Sources<'a>,
    /// The settings that a supervised start adds.
    pub hook: Fragment,
    pub mode: StartMode,
}

/// Where settings may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartMode {
    /// To the shared file, and to a private one if needed.
    Plain,
    /// To the shared file only: the specification allows no `--settings` in a supervised start.
    Supervised,
    /// To a private file only.
    Isolated,
}

impl std::fmt::Debug for StartRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StartRequest")
            .field("provider", &self.provider)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// How to start the client.
pub struct StartPlan {
    /// The provider's variables.
    pub env: Fragment,
    /// Settings for the shared file; `None` if it must not be changed.
    pub shared: Option<Fragment>,
    /// Settings for a private file; `None` if no such file is needed.
    pub private: Option<Fragment>,
    /// Conflicts that do not prevent the start.
    pub conflicts: Vec<Conflict>,
}

/// Omits all values, which may be tokens.
impl std::fmt::Debug for StartPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StartPlan").field("conflicts", &self.conflicts).finish_non_exhaustive()
    }
}

/// Plans a start. Fails if a settings file would send the client to another provider and cannot be overruled.
pub fn plan_start(request: &StartRequest<'_>) -> Result<StartPlan, ProvidersError> {
    let Parts { general, mut own, env } = request.config.parts(request.provider, request.lookup)?;
    let env = complete_env(request.paths, env, &mut own);
    let has_helper = own.contains_key(KEY_HELPER);
    let found = find_conflicts(request.paths, &request.sources, &env, has_helper)?;
    check_start_is_possible(request, &found, &own)?;
    let can_overrule = |conflict: &Conflict| conflict.is_decisive && conflict.layer != Layer::Managed;
    let needs_private = match request.mode {
        StartMode::Isolated => true,
        StartMode::Plain => found.iter().any(can_overrule) || !own.is_empty(),
        StartMode::Supervised => false,
    };
    let mut shared = general.clone();
    merge(&mut shared, &request.hook);
    if request.mode == StartMode::Supervised {
        merge(&mut shared, &own);
    }
    // The private file must not repeat what is in the shared one: the client joins lists.
    let mut unshared = if request.mode == StartMode::Isolated { general } else { Fragment::new() };
    merge(&mut unshared, &own);
    if request.mode == StartMode::Isolated {
        merge(&mut unshared, &request.hook);
    }
    let private =
        if needs_private { Some(private_settings(request, &unshared, &env, &found)?) } else { None };
    let shared = if request.mode == StartMode::Isolated { None } else { Some(shared) };
    let conflicts = conflicts_to_report(found, request.mode);
    Ok(StartPlan { env, shared, private, conflicts })
}

/// The contents of the shared settings for a provider that is selected with `ccc use`.
pub fn shared_route(
    paths: &CccPaths,
    config: &Config,
    provider: &str,
    lookup: Lookup<'_>,
) -> Result<Fragment, ProvidersError> {
    let Parts { general, mut own, env } = config.parts(provider, lookup)?;
    let mut env = complete_env(paths, env, &mut own);
    if is_third_party(&env) {
        // Variables exported by a terminal must not reach this provider.
        for name in ALWAYS_OVERRIDDEN {
            env.entry(name).or_insert_with(|| "".into());
        }
    }
    let mut fragment = general;
    merge(&mut fragment, &own);
    if !env.is_empty() {
        fragment.insert("env".to_owned(), Value::Object(env));
    }
    Ok(fragment)
}

/// The provider's variables, including its model, completed so that no stored login is sent to a third party.
fn complete_env(paths: &CccPaths, mut env: Fragment, own: &mut Fragment) -> Fragment {
    // In the shared settings, the model would apply to every other session, too.
    if let Some(model) = own.remove("model") {
        env.entry(MODEL).or_insert(model);
    }
    if !own.contains_key(KEY_HELPER) {
        Login::read_stored(paths).withhold_from(&mut env);
    }
    env
}

/// Fails if a conflict cannot be overruled in this mode, or if the provider needs a private file and may not have one.
fn check_start_is_possible(
    request: &StartRequest<'_>,
    found: &[Conflict],
    own: &Fragment,
) -> Result<(), ProvidersError> {
    let is_fatal = |conflict: &&Conflict| {
        conflict.is_decisive && (conflict.layer == Layer::Managed || request.mode == StartMode::Supervised)
    };
    let fatal: Vec<_> = found.iter().filter(is_fatal).cloned().collect();
    if !fatal.is_empty() {
        return Err(ProvidersError::Overruled { provider: request.provider.to_owned(), conflicts: fatal });
    }
    if request.mode == StartMode::Supervised
        && let Some(key) = ROUTE_KEYS.iter().find(|key| own.contains_key(**key))
    {
        let (provider, key) = (request.provider.to_owned(), (*key).to_owned());
        return Err(ProvidersError::NeedsPrivate { provider, key });
    }
    Ok(())
}

/// The conflicts that the user has to know about.
fn conflicts_to_report(mut found: Vec<Conflict>, mode: StartMode) -> Vec<Conflict> {
    found.retain(|conflict| match conflict.kind {
        // The private file overrules it. In an isolated start that is expected and needs no report.
        _ if conflict.is_decisive => mode == StartMode::Plain,
        ConflictKind::Wins => mode != StartMode::Isolated || conflict.layer == Layer::Managed,
        ConflictKind::StaysInForce => true,
    });
    found
}

/// The private settings of one start: the user's `--settings` argument with the provider merged over it.
fn private_settings(
    request: &StartRequest<'_>,
    settings: &Fragment,
    env: &Fragment,
    found: &[Conflict],
) -> Result<Fragment, ProvidersError> {
    let mut content = request.sources.settings_argument.map(SettingsArgument::fragment).unwrap_or_default();
    let mut all = match content.remove("env") {
        Some(Value::Object(env)) => env,
        _ => Fragment::new(),
    };
    for (variable, original) in originals_of_claimed_variables(request.paths)? {
        all.entry(variable).or_insert(original);
    }
    for name in ALWAYS_OVERRIDDEN.iter().filter(|name| !(uses_login(env) && CREDENTIALS.contains(name))) {
        all.insert((*name).to_owned(), "".into());
    }
    for conflict in found.iter().filter(|conflict| conflict.is_decisive) {
        let is_key = ROUTE_KEYS.contains(&conflict.key.as_str());
        let target = if is_key { &mut content } else { &mut all };
        target.insert(conflict.key.clone(), "".into());
    }
    merge(&mut all, env);
    content.insert("env".to_owned(), Value::Object(all));
    // Merged last: the loop above may have emptied the key of a helper that the provider sets.
    merge(&mut content, settings);
    Ok(content)
}

/// The variables that `ccc use` has written to the shared settings, each with the user's original value, or an empty
/// one.
fn originals_of_claimed_variables(paths: &CccPaths) -> Result<Vec<(String, Value)>, ProvidersError> {
    let claims = owned::load(&paths.owned(), &paths.settings())?;
    let variable = |claim: &Claim| match (claim.path.as_slice(), &claim.kind) {
        ([env, variable], ClaimKind::Value { previous, .. }) if env == "env" => {
            Some((variable.clone(), previous.clone().unwrap_or_else(|| "".into())))
        }
        _ => None,
    };
    Ok(claims.iter().filter_map(variable).collect())
}

/// The names of inherited variables that must not reach a client on this provider. `keep` lists cloud credentials that
/// the user wants to pass on for the client's tools.
pub fn dropped_variables<'a>(
    env: &Fragment,
    keep: &[String],
    inherited: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Vec<String> {
    let cloud = cloud_of(env);
    let goes_elsewhere =
        inherited.clone().any(|(name, value)| name == "ANTHROPIC_BASE_URL" && !value.is_empty());
    let keeps_login = uses_login(env) && !goes_elsewhere;
    let is_dropped = |name: &str| match meaning_of(name) {
        _ if env.contains_key(name) => false,
        Meaning::Route if CREDENTIALS.contains(&name) => !keeps_login,
        Meaning::Route | Meaning::Model => true,
        Meaning::Cloud(of) => cloud != Some(of) && !keep.iter().any(|kept| kept == name),
        Meaning::Other => false,
    };
    inherited.map(|(name, _)| name).filter(|name| is_dropped(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn passed_on(env: &Value, keep: &[&str], inherited: &[(&str, &str)]) -> Vec<String> {
        let env = env.as_object().cloned().unwrap();
        let keep: Vec<_> = keep.iter().map(|name| (*name).to_owned()).collect();
        let dropped = dropped_variables(&env, &keep, inherited.iter().copied());
        inherited.iter().map(|(name, _)| (*name).to_owned()).filter(|name| !dropped.contains(name)).collect()
    }

    const SHELL: [(&str, &str); 8] = [
        ("PATH", "/bin"),
        ("ANTHROPIC_API_KEY", "k"),
        ("ANTHROPIC_MODEL", "m"),
        ("CLAUDE_CODE_USE_BEDROCK", "1"),
        ("CLAUDE_CONFIG_DIR", "/c"),
        ("AWS_PROFILE", "p"),
        ("AZURE_CLIENT_SECRET", "s"),
        ("HTTPS_PROXY", "http://p"),
    ];

    #[test]
    fn a_third_party_inherits_no_route_and_no_key() {
        let kimi = json!({ "ANTHROPIC_BASE_URL": "https://kimi.example", "ANTHROPIC_AUTH_TOKEN": "t" });
        assert_eq!(passed_on(&kimi, &[], &SHELL), ["PATH", "CLAUDE_CONFIG_DIR", "HTTPS_PROXY"]);
        let kept = passed_on(&kimi, &["AWS_PROFILE", "ANTHROPIC_API_KEY"], &SHELL);
        assert_eq!(kept, ["PATH", "CLAUDE_CONFIG_DIR", "AWS_PROFILE", "HTTPS_PROXY"]);
    }

    #[test]
    fn a_cloud_keeps_its_credentials() {
        let bedrock = json!({ "CLAUDE_CODE_USE_BEDROCK": "1" });
        let kept = passed_on(&bedrock, &[], &SHELL);
        assert_eq!(
            kept,
            ["PATH", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CONFIG_DIR", "AWS_PROFILE", "HTTPS_PROXY"]
        );
    }

    #[test]
    fn anthropic_itself_is_used_with_the_users_own_key() {
        let kept = passed_on(&json!({}), &[], &SHELL);
        assert_eq!(kept, ["PATH", "ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", "HTTPS_PROXY"]);
        let elsewhere = [("ANTHROPIC_BASE_URL", "https://kimi.example"), ("ANTHROPIC_API_KEY", "kimi's")];
        assert!(passed_on(&json!({}), &[], &elsewhere).is_empty());
        assert!(
            passed_on(&json!({ "ANTHROPIC_API_KEY": "own" }), &[], &[("ANTHROPIC_AUTH_TOKEN", "t")])
                .is_empty()
        );
    }
}
