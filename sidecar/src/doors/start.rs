//! What every door needs to start the crew: settings, folders, provider (spec: settings.md).
//!
//! A wrong setting is a message and never keeps the sidecar from starting; a workspace that does
//! not exist does.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt;
use serde_json::Value;
use toolgate_core::buffers::Unit;
use toolgate_core::document::DocumentText;
use toolgate_protocol::requests::{DocumentEditParams, DocumentEditResult, DocumentSaveResult};

use crate::crew::hub::{Asker, Config};
use crate::provider::anthropic::AnthropicConfig;
use crate::provider::Provider;
use crate::settings::Settings;
use crate::tools::{Boxed, EditorHands};

/// What the command line says, for every door.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// Settings by key.
    pub settings: Vec<(String, Value)>,
    /// Allow rules.
    pub allow: Vec<String>,
    /// A script that is played instead of a provider: its text.
    pub script: Option<String>,
    /// Where sessions are kept, in place of the usual place.
    pub state: Option<PathBuf>,
}

/// The home directory; a place of its own under the temporary directory where there is none.
pub fn home() -> PathBuf {
    match std::env::var_os("HOME") {
        Some(home) if !home.is_empty() => PathBuf::from(home),
        _ => std::env::temp_dir().join(format!("toolgate-{}", rustix::process::getuid().as_raw())),
    }
}

fn base(variable: &str, under_home: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) if Path::new(&path).is_absolute() => PathBuf::from(path).join("toolgate"),
        _ => home().join(under_home).join("toolgate"),
    }
}

/// Where sessions and kept rules lie.
pub fn state_dir() -> PathBuf {
    base("XDG_STATE_HOME", ".local/state")
}

/// The user's settings file.
pub fn user_settings() -> PathBuf {
    base("XDG_CONFIG_HOME", ".config").join("toolgate.toml")
}

/// The settings of a workspace: files, environment, then editor, then flags.
pub fn settings(
    flags: &Flags,
    root: Option<&str>,
    editor: Option<&Value>,
) -> Result<Settings, String> {
    let workspace = root.map(|root| Path::new(root).join("toolgate.toml"));
    let mut settings = Settings::load(Some(&user_settings()), workspace.as_deref());
    if let Some(value) = editor {
        settings.editor(value);
    }
    for (key, value) in &flags.settings {
        settings.flag(key, value.clone())?;
    }
    Ok(settings)
}

/// What the crew is made with. `roots` are the workspace's folders as the door knows them.
pub fn config(
    flags: &Flags,
    roots: &[String],
    editor: Option<&Value>,
    asker: Asker,
) -> Result<Config, String> {
    let mut canonical = Vec::new();
    for root in roots {
        let path = std::fs::canonicalize(root)
            .map_err(|error| format!("the workspace {root} cannot be used: {error}"))?;
        if !path.is_dir() {
            return Err(format!("the workspace {root} is no folder"));
        }
        canonical.push(
            path.to_str()
                .ok_or_else(|| format!("the path of {root} is not valid UTF-8"))?
                .to_owned(),
        );
    }
    let settings = settings(flags, canonical.first().map(String::as_str), editor)?;
    let provider = provider(
        flags,
        &settings,
        canonical.first().map_or("/", String::as_str),
    )?;
    let home = std::fs::canonicalize(home()).unwrap_or_else(|_| home());
    Ok(Config {
        settings,
        state: flags.state.clone().unwrap_or_else(state_dir),
        home: home.to_string_lossy().into_owned(),
        roots: canonical,
        provider: Arc::new(provider),
        asker,
        editor: None,
        flag_rules: flags.allow.clone(),
        unit: Unit::default(),
    })
}

/// The provider that the settings choose.
fn provider(flags: &Flags, settings: &Settings, cwd: &str) -> Result<Provider, String> {
    let script = match (&flags.script, settings.text("provider.kind").as_str()) {
        (Some(script), _) => Some(script.clone()),
        (None, "replay") => {
            let path = settings.text_opt("provider.replay").ok_or(
                "the provider replay needs a script: --replay FILE or the setting provider.replay",
            )?;
            let text = std::fs::read_to_string(&path)
                .map_err(|error| format!("the script {path} cannot be read: {error}"))?;
            Some(text)
        }
        _ => None,
    };
    if let Some(script) = script {
        return Provider::replay(&script, cwd);
    }
    let key_env = settings.text("provider.key_env");
    let base_url = settings.text_opt("provider.base_url").or_else(|| {
        std::env::var("ANTHROPIC_BASE_URL")
            .ok()
            .filter(|url| !url.is_empty())
    });
    let headers = settings.get("provider.headers").0;
    let idle = settings.number("provider.idle_timeout").unwrap_or(120);
    let key = std::env::var(&key_env).ok().filter(|key| !key.is_empty());
    let mut config =
        AnthropicConfig::new(base_url, key).idle_timeout(std::time::Duration::from_secs(idle));
    for (name, value) in headers.as_object().into_iter().flatten() {
        config = config.header(name, value.as_str().unwrap_or_default());
    }
    Provider::anthropic(config)
}

/// The editor's hands, filled in once the editor is there: the crew is made before its client.
#[derive(Default)]
pub struct LateHands {
    inner: OnceLock<Arc<dyn EditorHands>>,
}

impl LateHands {
    /// Fills them in, once.
    pub fn fill(&self, hands: Arc<dyn EditorHands>) {
        // A second filling changes nothing: the first hands are those of this editor.
        let _ = self.inner.set(hands);
    }
}

impl EditorHands for LateHands {
    fn edit(&self, params: DocumentEditParams) -> Boxed<'_, Result<DocumentEditResult, String>> {
        match self.inner.get() {
            Some(hands) => hands.edit(params),
            None => async { Err("the editor is not there yet".to_owned()) }.boxed(),
        }
    }

    fn save(&self, uri: String) -> Boxed<'_, Result<DocumentSaveResult, String>> {
        match self.inner.get() {
            Some(hands) => hands.save(uri),
            None => async { Err("the editor is not there yet".to_owned()) }.boxed(),
        }
    }

    fn snapshot(&self, path: &str) -> Boxed<'_, Option<DocumentText>> {
        match self.inner.get() {
            Some(hands) => hands.snapshot(path),
            None => async { None }.boxed(),
        }
    }
}
