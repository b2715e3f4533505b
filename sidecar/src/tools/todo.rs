//! `TodoWrite`: the model's plan, shown in the panel. It touches nothing but the session's state.

use serde_json::{json, Value};
use toolgate_core::command::Task;
use toolgate_core::definition::{Access, CallKind, Definition, Effects, Face};
use toolgate_core::outcome::{Effect, Raw};
use toolgate_core::place::PathAnswer;
use toolgate_protocol::render::{Payload, PlanEntry, PlanStatus};

use super::{count, text, Context};

/// The tool.
pub struct TodoWrite;

const DESCRIPTION: &str = "\
Writes your plan: the steps of the present task and how far each is. The person sees it beside the \
conversation. Each call replaces the whole plan.

Use it for work of three steps or more. Keep exactly one step in_progress while you work, and set \
a step to completed as soon as it is done, not earlier. content says what is to be done (\"Run the \
tests\"), activeForm how it reads while it is being done (\"Running the tests\").";

impl Face for TodoWrite {
    fn definition(&self) -> Definition {
        Definition {
            name: "TodoWrite".to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "todos": {
                        "type": "array",
                        "maxItems": 200,
                        "description": "All steps, in order; an empty list clears the plan.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "content": { "type": "string", "minLength": 1 },
                                "status": {
                                    "type": "string",
                                    "enum": ["pending", "in_progress", "completed"],
                                },
                                "activeForm": { "type": "string", "minLength": 1 },
                            },
                            "required": ["content", "status", "activeForm"],
                            "additionalProperties": false,
                        },
                    },
                },
                "required": ["todos"],
                "additionalProperties": false,
            }),
        }
    }

    fn kind(&self) -> CallKind {
        CallKind::Think
    }

    fn effects(&self, _input: &Value, _answers: &[PathAnswer]) -> Effects {
        Effects {
            concurrency_safe: false,
            interruptible: false,
            ..Effects::reading(Access::state("todo"))
        }
    }

    fn describe(&self, input: &Value) -> String {
        let steps = input
            .get("todos")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        format!("Write the plan: {}", count(steps, "step", "steps"))
    }
}

fn entries(input: &Value) -> Option<Vec<PlanEntry>> {
    let todos = input.get("todos")?.as_array()?;
    let entry = |todo: &Value| {
        let status = match text(todo, "status") {
            "pending" => PlanStatus::Pending,
            "in_progress" => PlanStatus::InProgress,
            "completed" => PlanStatus::Completed,
            _ => return None,
        };
        Some(PlanEntry {
            content: text(todo, "content").to_owned(),
            active_form: text(todo, "activeForm").to_owned(),
            status,
        })
    };
    todos.iter().map(entry).collect()
}

/// Hands the plan on; the core keeps it and tells the editor.
pub async fn execute(task: Task, _context: &Context) -> Raw {
    let Some(entries) = entries(&task.input) else {
        return Raw::failed("The plan has another form than its schema.", Effect::None);
    };
    let of = |status: PlanStatus| {
        entries
            .iter()
            .filter(|entry| entry.status == status)
            .count()
    };
    let text = format!(
        "The plan is written: {}, {} completed, {} in progress, {} pending.",
        count(entries.len(), "step", "steps"),
        of(PlanStatus::Completed),
        of(PlanStatus::InProgress),
        of(PlanStatus::Pending)
    );
    let structured = json!({ "newTodos": task.input.get("todos") });
    Raw {
        effect: Effect::Happened,
        structured: Some(structured),
        payload: Some(Payload::Plan { entries }),
        ..Raw::done(text)
    }
}
