//! Reads a story. A block or a step that is not known is an error: a misspelt expectation would
//! otherwise pass for ever.

use std::collections::BTreeMap;

use serde_json::Value;

/// A file's text and how it is spelt on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File(pub Vec<u8>);

/// One thing that the person or the world does.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A prompt.
    Say(String),
    /// Answers the next prompt, which must be this tool's.
    Answer {
        /// The tool.
        tool: String,
        /// The option.
        option: String,
        /// Hunks that are refused, counted from 1.
        without: Vec<usize>,
        /// A word to the model.
        saying: Option<String>,
    },
    /// Waits until a prompt of this tool is open.
    WaitAsk(String),
    /// Waits until the model holds an answer back.
    WaitHeld(String),
    /// Waits for progress that holds this text.
    WaitProgress(String),
    /// Lets the model go on.
    Release(String),
    /// A stranger writes a file.
    Write(String, String),
    /// A stranger removes a file.
    Remove(String),
    /// The person changes a buffer.
    Type(String, String),
    /// The person saves a buffer.
    Save(String),
    /// The person stops the turn.
    Stop,
    /// The turn ends for this reason.
    End(String),
}

/// One call as it must have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its status.
    pub status: String,
    /// Its tool.
    pub tool: String,
    /// Texts that its outcome holds, or must not hold (false).
    pub texts: Vec<(bool, String)>,
}

/// A story.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// Files at the start.
    pub files: BTreeMap<String, File>,
    /// Open documents at the start, in order.
    pub open: Vec<(String, String)>,
    /// Settings of the editor.
    pub settings: Option<Value>,
    /// The model's script.
    pub model: String,
    /// What is done.
    pub steps: Vec<Step>,
    /// Files that are otherwise at the end.
    pub then_files: BTreeMap<String, File>,
    /// Buffers at the end.
    pub buffers: BTreeMap<String, String>,
    /// Calls in their order.
    pub outcomes: Vec<Wanted>,
    /// Updates in their order.
    pub updates: Vec<String>,
    /// Texts that the last request holds.
    pub notes: Vec<String>,
}

/// Reads a story.
pub fn parse(text: &str) -> Result<Scenario, String> {
    let mut scenario = Scenario::default();
    let mut then = false;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        then |= line.trim() == "## Then";
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let mut body = String::new();
        let closed = lines.by_ref().any(|(_, line)| {
            let end = line.starts_with("```");
            if !end {
                body.push_str(line);
                body.push('\n');
            }
            end
        });
        let at = |what: String| format!("line {}: {what}", number + 1);
        if !closed {
            return Err(at("the block is not closed".to_owned()));
        }
        block(&mut scenario, then, info, body).map_err(at)?;
    }
    if scenario.steps.is_empty() || scenario.outcomes.is_empty() {
        return Err("a story needs the blocks `person` and `outcomes`".to_owned());
    }
    Ok(scenario)
}

fn block(scenario: &mut Scenario, then: bool, info: &str, body: String) -> Result<(), String> {
    let mut words = info.split_whitespace();
    let kind = words.next().unwrap_or_default();
    let mut path = || words.next().map(str::to_owned).ok_or("a path is missing");
    match kind {
        "file" => {
            let path = path()?;
            let file = File(spelt(body, words)?);
            let files = if then {
                &mut scenario.then_files
            } else {
                &mut scenario.files
            };
            files.insert(path, file);
        }
        "open" => scenario.open.push((path()?, body)),
        "buffer" => {
            scenario.buffers.insert(path()?, body);
        }
        "settings" => {
            let value = serde_json::from_str(&body).map_err(|error| error.to_string())?;
            scenario.settings = Some(value);
        }
        "model" => scenario.model = body,
        "person" => {
            for line in body.lines().filter(|line| !line.trim().is_empty()) {
                let step = step(line.trim()).map_err(|what| format!("{what}: {line}"))?;
                scenario.steps.push(step);
            }
        }
        "outcomes" => scenario.outcomes = outcomes(&body)?,
        "updates" => scenario.updates = body.lines().map(str::to_owned).collect(),
        "notes" => scenario.notes = body.lines().map(str::to_owned).collect(),
        other => return Err(format!("unknown block {other:?}")),
    }
    Ok(())
}

/// A text as it is spelt on disk.
fn spelt<'a>(mut text: String, words: impl Iterator<Item = &'a str>) -> Result<Vec<u8>, String> {
    let mut bom = false;
    for word in words {
        match word {
            "crlf" => text = text.replace('\n', "\r\n"),
            "unended" => text.truncate(text.trim_end_matches(['\r', '\n']).len()),
            "bom" => bom = true,
            other => return Err(format!("unknown word {other:?}")),
        }
    }
    let mark = if bom { "\u{feff}" } else { "" };
    Ok(format!("{mark}{text}").into_bytes())
}

fn step(line: &str) -> Result<Step, &'static str> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim();
    let named = || -> Result<(String, String), &'static str> {
        let (path, text) = rest.split_once(' ').ok_or("a path and a text are needed")?;
        let text = serde_json::from_str(text).map_err(|_| "the text is no JSON string")?;
        Ok((path.to_owned(), text))
    };
    Ok(match word {
        "say" => Step::Say(rest.to_owned()),
        "answer" => answer(rest)?,
        "wait" => match rest.split_once(' ').ok_or("wait for what?")? {
            ("ask", tool) => Step::WaitAsk(tool.to_owned()),
            ("held", name) => Step::WaitHeld(name.to_owned()),
            ("progress", text) => Step::WaitProgress(text.to_owned()),
            _ => return Err("unknown step"),
        },
        "release" => Step::Release(rest.to_owned()),
        "write" => {
            let (path, text) = named()?;
            Step::Write(path, text)
        }
        "remove" => Step::Remove(rest.to_owned()),
        "type" => {
            let (path, text) = named()?;
            Step::Type(path, text)
        }
        "save" => Step::Save(rest.to_owned()),
        "stop" => Step::Stop,
        "end" => Step::End(rest.to_owned()),
        _ => return Err("unknown step"),
    })
}

fn answer(rest: &str) -> Result<Step, &'static str> {
    let (rest, saying) = match rest.split_once(" saying ") {
        Some((rest, saying)) => (rest, Some(saying.to_owned())),
        None => (rest, None),
    };
    let (rest, without) = match rest.split_once(" without ") {
        Some((rest, list)) => (rest, list),
        None => (rest, ""),
    };
    let (tool, option) = rest
        .split_once(' ')
        .ok_or("a tool and an option are needed")?;
    let hunks = without.split(',').filter(|word| !word.is_empty());
    let without: Result<Vec<usize>, _> = hunks.map(|word| word.trim().parse()).collect();
    Ok(Step::Answer {
        tool: tool.to_owned(),
        option: option.trim().to_owned(),
        without: without.map_err(|_| "a hunk is a number")?,
        saying,
    })
}

fn outcomes(body: &str) -> Result<Vec<Wanted>, String> {
    let mut all: Vec<Wanted> = Vec::new();
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        let text = line.trim();
        if line.starts_with(' ') {
            let last = all.last_mut().ok_or("a text without its call")?;
            let text = match text.strip_prefix("not ") {
                Some(text) => (false, text.to_owned()),
                None => (true, text.to_owned()),
            };
            last.texts.push(text);
            continue;
        }
        let (status, tool) = text.split_once(' ').ok_or("write STATUS TOOL")?;
        all.push(Wanted {
            status: status.to_owned(),
            tool: tool.to_owned(),
            texts: Vec::new(),
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_misspelt_is_an_error() {
        let story = |block: &str| format!("# A story\n\n{block}\n");
        for (text, says) in [
            ("```fiel a.txt\n```", "line 3: unknown block \"fiel\""),
            ("```file a.txt cr\n```", "line 3: unknown word \"cr\""),
            ("```person\nsing\n```", "line 3: unknown step: sing"),
            (
                "```person\nwrite a.txt plain\n```",
                "line 3: the text is no",
            ),
            ("```person\nsay it", "line 3: the block is not closed"),
            ("nothing", "a story needs"),
        ] {
            let error = parse(&story(text)).err().unwrap_or_default();
            assert!(error.starts_with(says), "{error}");
        }
    }

    #[test]
    fn files_are_spelt_as_said() {
        let text = "```file a crlf bom unended\nx\ny\n```\n```person\nend end_turn\n```\n\
                    ```outcomes\ncompleted Read\n  x\n  not y\n```";
        let scenario = parse(text).unwrap_or_default();
        let file = &scenario.files["a"].0;
        assert_eq!(file, "\u{feff}x\r\ny".as_bytes());
        let texts = &scenario.outcomes[0].texts;
        assert_eq!(texts[..], [(true, "x".to_owned()), (false, "y".to_owned())]);
    }
}
