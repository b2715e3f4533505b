//! The one table of settings: it makes the validation, the help and the JSON schema
//! (spec: settings.md). A key that is not here does not exist.

use serde_json::{json, Value};

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds, both included.
    Int(u64, u64),
    /// A text.
    Text,
    /// A list of texts.
    List,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A table of texts.
    Map,
}

/// Where a key may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Anywhere.
    Anywhere,
    /// Anywhere but in a workspace's file: it could harm the person.
    NotWorkspace,
    /// In a workspace's file only after the person trusts the workspace.
    Trusted,
}

impl Scope {
    /// As the help says it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Anywhere => "anywhere",
            Self::NotWorkspace => "never from a workspace",
            Self::Trusted => "from a workspace only after trust",
        }
    }
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its key.
    pub key: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Its default, as JSON; empty: none.
    pub default: &'static str,
    /// The unit of a number, empty if it has none.
    pub unit: &'static str,
    /// Where it may be set.
    pub scope: Scope,
    /// False: accepted and reported as not built.
    pub built: bool,
    /// What it does.
    pub help: &'static str,
}

const fn row(
    key: &'static str,
    kind: Kind,
    default: &'static str,
    unit: &'static str,
    scope: Scope,
    help: &'static str,
) -> Row {
    Row {
        key,
        kind,
        default,
        unit,
        scope,
        built: true,
        help,
    }
}

const fn later(key: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Row {
    Row {
        key,
        kind,
        default,
        unit: "",
        scope: Scope::NotWorkspace,
        built: false,
        help,
    }
}

use Kind::{Bool, Choice, Int, List, Map, Text};
use Scope::{Anywhere, NotWorkspace, Trusted};

const MOST: u64 = (1 << 53) - 1;
const MODES: &[&str] = &[
    "default",
    "acceptEdits",
    "plan",
    "dontAsk",
    "bypassPermissions",
];

/// Every setting.
pub const TABLE: &[Row] = &[
    row("provider.kind", Choice(&["anthropic", "replay"]), "\"anthropic\"", "", NotWorkspace,
        "Which provider answers."),
    row("provider.base_url", Text, "", "", NotWorkspace,
        "Where requests are sent; the provider's public address by default."),
    row("provider.model", Text, "\"claude-sonnet-4-5\"", "", Anywhere, "The model."),
    row("provider.key_env", Text, "\"ANTHROPIC_API_KEY\"", "", NotWorkspace,
        "Environment variable that holds the key."),
    row("provider.headers", Map, "", "", NotWorkspace, "Further headers of every request."),
    row("provider.replay", Text, "", "", NotWorkspace, "Script that the replay provider plays."),
    row("provider.idle_timeout", Int(1, 3_600), "120", "s", NotWorkspace,
        "A stream that is silent for so long is broken off."),
    row("provider.max_retries", Int(0, 100), "8", "", Anywhere,
        "Most tries of one request after the first."),
    row("provider.max_tokens", Int(1, 1_000_000), "32000", "tokens", Anywhere,
        "Most tokens of one answer."),
    row("permissions.mode", Choice(MODES), "\"default\"", "", Anywhere,
        "Mode of new sessions. A workspace cannot choose bypassPermissions."),
    row("permissions.allow", List, "[]", "", Trusted, "Rules that allow."),
    row("permissions.ask", List, "[]", "", Anywhere, "Rules that ask."),
    row("permissions.deny", List, "[]", "", Anywhere, "Rules that deny."),
    row("permissions.additional_directories", List, "[]", "", Trusted,
        "Further directories that count as working directories."),
    row("permissions.prompt_timeout", Int(1, 86_400), "1800", "s", Anywhere,
        "A prompt that nobody answers for so long settles as no answer."),
    row("files.read_before_edit", Choice(&["auto", "whole", "relaxed"]), "\"auto\"", "", Anywhere,
        "What the model must have seen of a file before it changes it."),
    row("files.save", Choice(&["clean", "always", "never"]), "\"clean\"", "", Anywhere,
        "Which open documents are saved after an edit: those that had no unsaved changes, all, none."),
    row("scheduler.policy", Choice(&["resources", "batches", "sequential"]), "\"resources\"", "",
        Anywhere, "Which calls run together."),
    row("scheduler.max_concurrency", Int(1, 100), "10", "", Anywhere,
        "Most calls that execute at once."),
    row("scheduler.early_start", Choice(&["safe", "all", "off"]), "\"safe\"", "", Anywhere,
        "Which calls may start while the model's message still arrives."),
    row("scheduler.cancel_siblings", Choice(&["bash_effectful", "bash", "never"]),
        "\"bash_effectful\"", "", Anywhere, "Whom a failing command takes along."),
    row("scheduler.sequential_tool", Choice(&["barrier", "whole_response"]), "\"barrier\"", "",
        Anywhere, "What a sequential tool does under the policy batches."),
    row("bash.timeout", Int(1, 600_000), "120000", "ms", Anywhere, "Time a command gets by default."),
    row("bash.max_timeout", Int(1, 86_400_000), "600000", "ms", Anywhere,
        "Most time a command can get."),
    row("limits.max_turns", Int(1, 1_000_000), "", "", Anywhere, "Most requests of one turn."),
    row("limits.repetition", Int(1, 1_000), "3", "", Anywhere,
        "The same call failing the same way so often in a row asks the person."),
    row("outcomes.max_persisted", Int(1, MOST), "1073741824", "bytes", Anywhere,
        "Output of one call beyond this is cut."),
    row("ui.coalesce_ms", Int(0, 1_000), "16", "ms", Anywhere,
        "Streamed text is sent at most once in this time."),
    row("log.level", Choice(&["error", "warn", "info", "debug", "trace"]), "\"info\"", "", Anywhere,
        "What is written to the log (standard error)."),
    later("provider.key_command", Text, "", "Command that prints the key."),
    later("provider.proxy", Text, "", "Proxy; the system's by default."),
    later("provider.ca", Text, "", "Further certificate authority."),
    later("files.on_change", Choice(&["refuse", "merge"]), "\"refuse\"",
        "Whether an edit whose lines have not changed is applied to a changed file."),
    later("files.durability", Choice(&["full", "none"]), "\"full\"", "Whether writes are synced."),
    later("files.snapshot_max_file", Int(0, MOST), "10485760", "Largest file kept for undo."),
    later("files.snapshot_max_total", Int(0, MOST), "1073741824", "Most bytes kept for undo."),
    later("scheduler.max_per_host", Int(1, 1_000), "", "Most calls at once to one host."),
    later("history.message_budget", Int(1_000, MOST), "200000", "Characters of results a message."),
    later("tools.defer_threshold", Text, "\"0.10\"", "Share of the window from which tools are deferred."),
    later("tools.search", Choice(&["auto", "on", "off"]), "\"auto\"", "Whether tools are searched."),
    later("bash.sandbox", Choice(&["off", "auto", "required"]), "\"off\"", "Whether commands are confined."),
    later("agents.max_depth", Int(0, 10), "1", "How deep agents nest."),
    later("agents.max_running", Int(1, 100), "10", "Most agents at once."),
    later("limits.max_tokens", Int(1, MOST), "", "Most tokens of a turn."),
    later("limits.max_cost", Text, "", "Most money of a turn."),
    later("hooks.fail_closed", Bool, "false", "Whether a failing hook denies."),
    later("hooks.disable", Bool, "false", "Whether hooks are off."),
    later("mcp.start_timeout", Int(1, 3_600), "30", "Time a server gets to start, in s."),
    later("mcp.call_timeout", Int(1, 86_400), "600", "Time a call of a server gets, in s."),
    later("mcp.idle_timeout", Int(1, 86_400), "300", "Silence that ends such a call, in s."),
    later("sessions.keep_days", Int(1, 36_500), "30", "How long sessions are kept."),
    later("sessions.trace", Choice(&["off", "redacted", "full"]), "\"off\"", "Whether events are traced."),
    later("telemetry.otlp_endpoint", Text, "", "Where telemetry is sent."),
    later("telemetry.details", List, "[]", "Fields that telemetry may carry."),
];

/// The row of a key.
pub fn find(key: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.key == key)
}

/// The known key that is nearest to an unknown one.
pub fn nearest(key: &str) -> &'static str {
    let score = |row: &&Row| {
        let common = row
            .key
            .chars()
            .zip(key.chars())
            .take_while(|(a, b)| a == b)
            .count();
        let tail = row
            .key
            .chars()
            .rev()
            .zip(key.chars().rev())
            .take_while(|(a, b)| a == b)
            .count();
        common + tail
    };
    TABLE.iter().max_by_key(score).map_or("", |row| row.key)
}

/// Checks a value; the error says what was expected.
pub fn check(row: &Row, value: &Value) -> Result<(), String> {
    let text_list = |value: &Value| {
        value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string))
    };
    let fits = match row.kind {
        Bool => value.is_boolean(),
        Int(least, most) => value.as_u64().is_some_and(|n| (least..=most).contains(&n)),
        Text => value.is_string(),
        List => text_list(value),
        Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        Map => value
            .as_object()
            .is_some_and(|map| map.values().all(Value::is_string)),
    };
    if fits {
        Ok(())
    } else {
        Err(format!("expected {}, found {value}", expected(row.kind)))
    }
}

/// What a kind expects, in words.
pub fn expected(kind: Kind) -> String {
    match kind {
        Bool => "true or false".to_owned(),
        Int(least, most) => format!("a whole number from {least} to {most}"),
        Text => "a text".to_owned(),
        List => "a list of texts".to_owned(),
        Choice(words) => format!("one of {}", words.join(", ")),
        Map => "a table of texts".to_owned(),
    }
}

/// The JSON schema that editors offer for a `toolgate.toml`.
pub fn schema() -> Value {
    let mut root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "toolgate.toml", "type": "object", "properties": {}
    });
    for row in TABLE {
        let mut leaf = match row.kind {
            Bool => json!({"type": "boolean"}),
            Int(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Text => json!({"type": "string"}),
            List => json!({"type": "array", "items": {"type": "string"}}),
            Choice(words) => json!({"enum": words}),
            Map => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        };
        leaf["description"] = Value::from(row.help);
        if let Ok(default) = serde_json::from_str::<Value>(row.default) {
            leaf["default"] = default;
        }
        let Some((section, name)) = row.key.split_once('.') else {
            continue;
        };
        root["properties"][section]["type"] = Value::from("object");
        root["properties"][section]["properties"][name] = leaf;
    }
    root
}

/// The reference page: one line a setting.
pub fn help() -> String {
    let mut text = String::new();
    for row in TABLE {
        let default = if row.default.is_empty() {
            "–"
        } else {
            row.default
        };
        let unit = if row.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", row.unit)
        };
        let built = if row.built { "" } else { " Not built yet." };
        text.push_str(&format!(
            "{} = {default}{unit}\n    {}{built} ({}; {})\n",
            row.key,
            row.help,
            expected(row.kind),
            row.scope.label()
        ));
    }
    text
}
