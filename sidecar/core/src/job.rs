//! Pure work that is too long for `handle`: matching, diffing, hashing, schema checks,
//! serialising. The runner carries jobs out on a worker; the same job gives the same `Done`.

use std::sync::Arc;

use serde_json::Value;
use toolgate_protocol::render::Payload;
use toolgate_protocol::requests::PromptBlock;

use crate::definition::Change;
use crate::document::OpenDocument;
use crate::edit::{self, Plan};
use crate::hunks;
use crate::ledger::{Admission, Ledger, ReadPolicy, Seen};
use crate::message::{image_block, quote, text_block, Part};
use crate::outcome::{status, Gate, Lines, Outcome, Raw};
use crate::place::Place;
use crate::schema::Schema;
use crate::shown::shown;
use crate::text::FileText;

/// What is to be computed.
#[derive(Clone)]
pub enum Job {
    /// Serialise a prompt.
    Freeze(Vec<PromptBlock>),
    /// Does the input fit its schema?
    Fit {
        /// The compiled schema.
        schema: Arc<Schema>,
        /// The input as received.
        input: Part,
    },
    /// Can the change be made?
    Plan(Box<PlanJob>),
    /// Make an outcome of what an executor or a gate handed back.
    Settle {
        /// The provider's id of the call.
        provider_id: String,
        /// What was handed back.
        raw: Box<Raw>,
        /// True when the person or a rule said no.
        denied: bool,
        /// True when it was cancelled.
        cancelled: bool,
        /// What goes behind its text: who stopped it, a word of the person.
        notes: Vec<String>,
    },
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Freeze(_) => "Freeze",
            Self::Fit { .. } => "Fit",
            Self::Plan(_) => "Plan",
            Self::Settle { .. } => "Settle",
        })
    }
}

/// All that planning a change needs.
#[derive(Clone)]
pub struct PlanJob {
    /// Prefix of the hunks' ids: the call's.
    pub prefix: String,
    /// The file.
    pub place: Place,
    /// Its text now; none when nothing stands there.
    pub text: Option<Arc<FileText>>,
    /// The document, when it is open.
    pub open: Option<OpenDocument>,
    /// What is wanted.
    pub change: Change,
    /// What the model saw.
    pub seen: Option<Seen>,
    /// `files.read_before_edit`.
    pub policy: ReadPolicy,
}

/// What came out.
#[derive(Clone, Debug)]
pub enum Done {
    /// The blocks of a prompt, and its text.
    Frozen {
        /// Serialised blocks, at least one.
        blocks: Vec<Part>,
        /// For the panel and lists of sessions.
        text: String,
    },
    /// The input fits its schema.
    Fits {
        /// It, parsed.
        input: Arc<Value>,
        /// blake3 of it with sorted keys.
        digest: String,
    },
    /// A gate refuses.
    Refused(Box<Raw>),
    /// The change can be made.
    Planned {
        /// How.
        plan: Arc<Plan>,
        /// What the model must be told with the outcome.
        note: Option<String>,
    },
    /// The outcome.
    Settled(Box<Outcome>),
}

/// Carries a job out.
pub fn run(job: Job) -> Done {
    match job {
        Job::Freeze(blocks) => freeze(&blocks),
        Job::Fit { schema, input } => fit(&schema, &input),
        Job::Plan(job) => plan(*job),
        Job::Settle {
            provider_id,
            raw,
            denied,
            cancelled,
            notes,
        } => Done::Settled(Box::new(settle(
            &provider_id,
            *raw,
            denied,
            cancelled,
            &notes,
        ))),
    }
}

fn freeze(blocks: &[PromptBlock]) -> Done {
    let mut parts: Vec<Part> = Vec::new();
    let mut text = String::new();
    for block in blocks {
        let shown = match block {
            PromptBlock::Text { text } => text.clone(),
            PromptBlock::Image { media_type, data } => {
                parts.push(Arc::from(image_block(media_type, data)));
                continue;
            }
            PromptBlock::ResourceLink { uri } => format!("[file: {uri}]"),
            PromptBlock::Selection {
                uri,
                start_line,
                end_line,
                text,
            } => format!(
                "[selected in {uri}, lines {} to {}]\n{text}",
                start_line + 1,
                end_line + 1
            ),
        };
        if shown.trim().is_empty() {
            continue;
        }
        parts.push(text_block(&shown));
        text.push_str(&shown);
        text.push('\n');
    }
    if parts.is_empty() {
        parts.push(text_block(""));
    }
    Done::Frozen {
        blocks: parts,
        text: text.trim_end().to_owned(),
    }
}

fn fit(schema: &Schema, input: &str) -> Done {
    let refuse = |text: String| {
        Done::Refused(Box::new(Raw::refused(
            Gate::Shape,
            format!(
                "<tool_use_error>{text}\nNothing was done. Call the tool again with an input that \
                 fits its schema.</tool_use_error>"
            ),
        )))
    };
    let value: Value = match serde_json::from_str(input) {
        Ok(value) => value,
        Err(error) => return refuse(format!("The input is not valid JSON: {error}")),
    };
    match schema.check(&value) {
        Ok(()) => {
            // serde_json's map keeps its keys sorted: this is the canonical text.
            let digest = blake3::hash(value.to_string().as_bytes())
                .to_hex()
                .to_string();
            Done::Fits {
                input: Arc::new(value),
                digest,
            }
        }
        Err(lines) => refuse(format!(
            "The input does not fit the tool's schema:\n{lines}"
        )),
    }
}

fn plan(job: PlanJob) -> Done {
    let refuse = |text: String| Done::Refused(Box::new(Raw::refused(Gate::Meaning, text)));
    let seen = job.seen.as_ref();
    let (place, policy) = (&job.place, job.policy);
    let admission = |covered: &[Lines]| match (&job.change, &job.text) {
        (_, None) => Admission::Ok,
        (Change::Whole(_), Some(text)) => Ledger::admit_write(place, seen, text, policy),
        (Change::Replace(_), Some(text)) => Ledger::admit_edit(place, seen, text, covered, policy),
    };
    // What was not seen or has changed is told first, whether or not the old text occurs.
    if let Err(raw) = admitted(admission(&[])) {
        return Done::Refused(raw);
    }
    let open = job.open.clone();
    let plan = match edit::plan(&job.prefix, place, job.text.as_ref(), open, &job.change) {
        Ok(plan) => plan,
        Err(text) => return refuse(text),
    };
    match admitted(admission(&plan.covered)) {
        Ok(note) => Done::Planned {
            plan: Arc::new(plan),
            note,
        },
        Err(raw) => Done::Refused(raw),
    }
}

/// Goes on, perhaps with a note for the model, or refuses.
fn admitted(admission: Admission) -> Result<Option<String>, Box<Raw>> {
    match admission {
        Admission::Ok => Ok(None),
        Admission::Noted(note) => Ok(Some(note)),
        Admission::Unread(text) => Err(Box::new(Raw::refused(Gate::Meaning, text))),
        Admission::Stale { text, shown } => Err(Box::new(Raw {
            shown: shown.map(|shown| *shown).into_iter().collect(),
            ..Raw::refused(Gate::Meaning, text)
        })),
    }
}

fn settle(
    provider_id: &str,
    mut raw: Raw,
    denied: bool,
    cancelled: bool,
    notes: &[String],
) -> Outcome {
    let mut text = std::mem::take(&mut raw.text);
    for note in raw.notice.iter().chain(notes) {
        text.push_str("\n\n");
        text.push_str(note);
    }
    let is_error = raw.is_error();
    let body = if raw.images.is_empty() || is_error {
        quote(if text.trim().is_empty() {
            "(no output)"
        } else {
            &text
        })
    } else {
        let images = raw
            .images
            .iter()
            .map(|image| image_block(&image.media_type, &image.base64));
        let words = (!text.trim().is_empty()).then(|| text_block(&text).to_string());
        format!(
            "[{}]",
            words
                .into_iter()
                .chain(images)
                .collect::<Vec<_>>()
                .join(",")
        )
    };
    let error = if is_error { ",\"is_error\":true" } else { "" };
    let block: Part = Arc::from(format!(
        "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":{body}{error}}}",
        quote(provider_id)
    ));
    let payload = raw.payload.take().unwrap_or_else(|| Payload::Fallback {
        text: shown(&unwrap_error(&text)),
    });
    let text_digest = blake3::hash(text.as_bytes()).to_hex().to_string();
    let structured = raw.structured.take().map(Arc::new);
    raw.text = text;
    let status = status(&raw, denied, cancelled);
    Outcome {
        raw: Arc::new(raw),
        block,
        text_digest,
        structured,
        payload,
        status,
    }
}

/// The wrappers written for the model are never shown to the person.
fn unwrap_error(text: &str) -> String {
    text.replace("<tool_use_error>", "")
        .replace("</tool_use_error>", "")
}

/// What a permission prompt shows for a planned change.
pub fn diff_of(plan: &Plan) -> toolgate_protocol::render::Diff {
    hunks::payload(
        plan.place.path(),
        plan.open.as_ref().map(|open| open.uri.clone()),
        plan.open.as_ref().map(|open| open.version),
        plan.base.is_none(),
        &plan.hunks,
        &[],
        toolgate_protocol::render::HunkState::Proposed,
    )
}
