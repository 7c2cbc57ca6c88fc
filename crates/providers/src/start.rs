//! What a start of the client on a provider consists of: the environment of the process, what the shared settings are
//! to hold, and a private file where the environment alone would not win.
//!
//! The route and its keys travel in the environment. Settings files win over it, so each value in them that would
//! send the client elsewhere is either overruled by the private file or keeps the client from starting.

use serde_json::Value;

use crate::claim::{Claim, Hold};
use crate::config::Parts;
use crate::conflicts::conflicts;
use crate::fragment::merge;
use crate::login::Login;
use crate::route::{ALWAYS_SETTLED, CREDENTIALS, Meaning, cloud_of, meaning, uses_login};
use crate::{
    Config, Conflict, ConflictKind, Fragment, Given, Layer, Lookup, Places, ProvidersError, Sources, owned,
};

const MODEL: &str = "ANTHROPIC_MODEL";

/// A start that somebody asks for.
pub struct StartRequest<'a> {
    pub places: &'a Places,
    pub config: &'a Config,
    pub provider: &'a str,
    pub lookup: Lookup<'a>,
    pub sources: Sources<'a>,
    /// What a supervised start adds to the settings.
    pub hook: Fragment,
    pub mode: Mode,
}

/// Where settings may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Into the shared file, and into a private one where that is needed.
    Plain,
    /// Into the shared file only: the specification allows no `--settings` in a supervised start.
    Supervised,
    /// Into a private file only.
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

/// How the client is to be started.
pub struct Plan {
    /// The provider's variables.
    pub env: Fragment,
    /// Settings for the shared file; none if it is not to be touched.
    pub shared: Option<Fragment>,
    /// Settings for a private file; none if no such file is needed.
    pub private: Option<Fragment>,
    /// What gets in the way without keeping the client from starting.
    pub conflicts: Vec<Conflict>,
}

/// Shows no value: it may be a token.
impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("conflicts", &self.conflicts).finish_non_exhaustive()
    }
}

/// Works out a start. Fails where a settings file would send the client to another provider and nothing can overrule
/// it.
pub fn plan(request: &StartRequest<'_>) -> Result<Plan, ProvidersError> {
    let Parts { general, mut own, env } = request.config.parts(request.provider, request.lookup)?;
    let env = complete(request.places, env, &mut own);
    let has_helper = own.contains_key(crate::route::KEY_HELPER);
    let found = conflicts(request.places, &request.sources, &env, has_helper)?;
    refuse(request, &found, &own)?;
    let overruled = |conflict: &Conflict| conflict.is_decisive && conflict.layer != Layer::Managed;
    let needs_private = match request.mode {
        Mode::Isolated => true,
        Mode::Plain => found.iter().any(overruled) || !own.is_empty(),
        Mode::Supervised => false,
    };
    let mut shared = general.clone();
    merge(&mut shared, &request.hook);
    if request.mode == Mode::Supervised {
        merge(&mut shared, &own);
    }
    // What is in the shared file already must not be said twice: the client joins lists.
    let mut apart = if request.mode == Mode::Isolated { general } else { Fragment::new() };
    merge(&mut apart, &own);
    if request.mode == Mode::Isolated {
        merge(&mut apart, &request.hook);
    }
    let private = if needs_private { Some(private(request, &apart, &env, &found)?) } else { None };
    let conflicts = worth_naming(found, request.mode);
    Ok(Plan { env, shared: (request.mode != Mode::Isolated).then_some(shared), private, conflicts })
}

/// All that the shared settings hold for a provider that was chosen with `ccc use`.
pub fn shared_route(
    places: &Places,
    config: &Config,
    provider: &str,
    lookup: Lookup<'_>,
) -> Result<Fragment, ProvidersError> {
    let Parts { general, mut own, env } = config.parts(provider, lookup)?;
    let mut env = complete(places, env, &mut own);
    if crate::route::is_third_party(&env) {
        // Whatever a terminal has exported is not for this provider.
        for name in ALWAYS_SETTLED {
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

/// The provider's variables, with its model among them and without any stored login.
fn complete(places: &Places, mut env: Fragment, own: &mut Fragment) -> Fragment {
    // The shared settings would give the model to every other session, too.
    if let Some(model) = own.remove("model") {
        env.entry(MODEL).or_insert(model);
    }
    if !own.contains_key(crate::route::KEY_HELPER) {
        Login::stored(places).keep_from(&mut env);
    }
    env
}

fn refuse(request: &StartRequest<'_>, found: &[Conflict], own: &Fragment) -> Result<(), ProvidersError> {
    let is_fatal = |conflict: &&Conflict| {
        conflict.is_decisive && (conflict.layer == Layer::Managed || request.mode == Mode::Supervised)
    };
    let fatal: Vec<_> = found.iter().filter(is_fatal).cloned().collect();
    if !fatal.is_empty() {
        return Err(ProvidersError::Overruled { provider: request.provider.to_owned(), conflicts: fatal });
    }
    let key = crate::route::ROUTE_KEYS.iter().find(|key| own.contains_key(**key));
    match key {
        Some(key) if request.mode == Mode::Supervised => Err(ProvidersError::NeedsPrivate {
            provider: request.provider.to_owned(),
            key: (*key).to_owned(),
        }),
        _ => Ok(()),
    }
}

/// The conflicts that a user has to know of.
fn worth_naming(mut found: Vec<Conflict>, mode: Mode) -> Vec<Conflict> {
    found.retain(|conflict| match conflict.kind {
        // A private file overrules it, and a file of this start only is what was asked for.
        _ if conflict.is_decisive => mode == Mode::Plain,
        ConflictKind::Wins => mode != Mode::Isolated || conflict.layer == Layer::Managed,
        ConflictKind::StaysInForce => true,
    });
    found
}

/// The settings for one start: the user's own `--settings` first, the provider over them.
fn private(
    request: &StartRequest<'_>,
    settings: &Fragment,
    env: &Fragment,
    found: &[Conflict],
) -> Result<Fragment, ProvidersError> {
    let mut content = request.sources.given.map(Given::fragment).unwrap_or_default();
    let mut all = match content.remove("env") {
        Some(Value::Object(given)) => given,
        _ => Fragment::new(),
    };
    for (variable, own) in other_provider(request.places)? {
        all.entry(variable).or_insert(own);
    }
    for name in ALWAYS_SETTLED.iter().filter(|name| !(uses_login(env) && CREDENTIALS.contains(name))) {
        all.insert((*name).to_owned(), "".into());
    }
    for conflict in found.iter().filter(|conflict| conflict.is_decisive) {
        let is_key = crate::route::ROUTE_KEYS.contains(&conflict.key.as_str());
        let target = if is_key { &mut content } else { &mut all };
        target.insert(conflict.key.clone(), "".into());
    }
    merge(&mut all, env);
    content.insert("env".to_owned(), Value::Object(all));
    // The provider's own helper comes last: one of the user's may have been emptied above.
    merge(&mut content, settings);
    Ok(content)
}

/// The variables of the provider that `ccc use` has put into the shared settings: each gets the user's own value
/// again, or an empty one.
fn other_provider(places: &Places) -> Result<Vec<(String, Value)>, ProvidersError> {
    let claims = owned::load(&places.owned(), &places.settings())?;
    let variable = |claim: &Claim| match (claim.path.as_slice(), &claim.hold) {
        ([env, variable], Hold::Value { previous, .. }) if env == "env" => {
            Some((variable.clone(), previous.clone().unwrap_or_else(|| "".into())))
        }
        _ => None,
    };
    Ok(claims.iter().filter_map(variable).collect())
}

/// The names of inherited variables that must not reach a client on this provider. `keep`: cloud credentials that the
/// user wants it to have for its tools.
pub fn dropped<'a>(
    env: &Fragment,
    keep: &[String],
    inherited: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Vec<String> {
    let cloud = cloud_of(env);
    let goes_elsewhere =
        inherited.clone().any(|(name, value)| name == "ANTHROPIC_BASE_URL" && !value.is_empty());
    let keeps_login = uses_login(env) && !goes_elsewhere;
    let is_dropped = |name: &str| match meaning(name) {
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

    fn left(env: &Value, keep: &[&str], inherited: &[(&str, &str)]) -> Vec<String> {
        let env = env.as_object().cloned().unwrap();
        let keep: Vec<_> = keep.iter().map(|name| (*name).to_owned()).collect();
        let dropped = dropped(&env, &keep, inherited.iter().copied());
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
        assert_eq!(left(&kimi, &[], &SHELL), ["PATH", "CLAUDE_CONFIG_DIR", "HTTPS_PROXY"]);
        let kept = left(&kimi, &["AWS_PROFILE", "ANTHROPIC_API_KEY"], &SHELL);
        assert_eq!(kept, ["PATH", "CLAUDE_CONFIG_DIR", "AWS_PROFILE", "HTTPS_PROXY"]);
    }

    #[test]
    fn a_cloud_keeps_its_credentials() {
        let bedrock = json!({ "CLAUDE_CODE_USE_BEDROCK": "1" });
        let kept = left(&bedrock, &[], &SHELL);
        assert_eq!(
            kept,
            ["PATH", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CONFIG_DIR", "AWS_PROFILE", "HTTPS_PROXY"]
        );
    }

    #[test]
    fn anthropic_itself_is_asked_with_the_users_own_key() {
        let kept = left(&json!({}), &[], &SHELL);
        assert_eq!(kept, ["PATH", "ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", "HTTPS_PROXY"]);
        let elsewhere = [("ANTHROPIC_BASE_URL", "https://kimi.example"), ("ANTHROPIC_API_KEY", "kimi's")];
        assert!(left(&json!({}), &[], &elsewhere).is_empty());
        assert!(
            left(&json!({ "ANTHROPIC_API_KEY": "own" }), &[], &[("ANTHROPIC_AUTH_TOKEN", "t")]).is_empty()
        );
    }
}
