//! The shape gate: an input against its tool's JSON Schema (spec: call-lifecycle.md, gate 2).
//!
//! All drafts are understood; remote references are off. Nothing is coerced. The refusal names
//! each failing field, what was expected and what came.

use serde_json::Value;

/// A compiled schema.
pub struct Schema {
    validator: jsonschema::Validator,
}

/// Most failing fields that one refusal names.
const MOST_ERRORS: usize = 8;

/// Larger schemas are refused: compiling and failing them costs too much.
const MOST_BYTES: usize = 256 * 1024;

impl Schema {
    /// Compiles a schema of any draft. The error is for the person.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        if schema.to_string().len() > MOST_BYTES {
            return Err(format!("larger than {MOST_BYTES} bytes"));
        }
        jsonschema::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(schema)
            .map(|validator| Self { validator })
            .map_err(|error| error.to_string())
    }

    /// Does the input fit? The error is for the model.
    pub fn check(&self, input: &Value) -> Result<(), String> {
        if self.validator.is_valid(input) {
            return Ok(());
        }
        let mut lines: Vec<String> = Vec::new();
        for error in self.validator.iter_errors(input).take(MOST_ERRORS) {
            let field = error.instance_path().to_string();
            let field = if field.is_empty() {
                "the input".to_owned()
            } else {
                field
            };
            let mut text = error.to_string();
            if text.len() > 300 {
                // The value itself would push out what was expected of it.
                text = error.masked().to_string().chars().take(300).collect();
            }
            lines.push(format!("- {field}: {text}"));
        }
        Err(lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(schema: Value, input: Value, want: Result<(), &str>) {
        let got = Schema::compile(&schema).unwrap().check(&input);
        match (got, want) {
            (Ok(()), Ok(())) => {}
            (Err(text), Err(part)) => assert!(text.contains(part), "{text}"),
            (got, want) => panic!("{got:?} instead of {want:?}"),
        }
    }

    #[test]
    fn names_each_failing_field() {
        let schema = json!({"type":"object","properties":{"path":{"type":"string"},
            "n":{"type":"integer"}},"required":["path"],"additionalProperties":false});
        check(schema.clone(), json!({"path":"a"}), Ok(()));
        check(schema.clone(), json!({"path":["a"]}), Err("/path"));
        check(schema.clone(), json!({"path":"a","n":"1"}), Err("/n"));
        check(schema.clone(), json!({"path":"a","x":1}), Err("'x'"));
        check(schema, json!({}), Err("path"));
    }

    #[test]
    fn understands_every_draft() {
        for draft in [
            "http://json-schema.org/draft-04/schema#",
            "http://json-schema.org/draft-06/schema#",
            "http://json-schema.org/draft-07/schema#",
            "https://json-schema.org/draft/2019-09/schema",
            "https://json-schema.org/draft/2020-12/schema",
        ] {
            let schema = json!({"$schema": draft, "type": "object", "required": ["a"]});
            check(schema.clone(), json!({"a": 1}), Ok(()));
            check(schema, json!({}), Err("a"));
        }
    }

    #[test]
    fn remote_references_are_off() {
        let schema = json!({"$ref": "http://127.0.0.1:1/x.json"});
        assert!(Schema::compile(&schema).is_err());
        assert!(Schema::compile(&json!({"$ref": "file:///etc/passwd"})).is_err());
    }

    #[test]
    fn a_hostile_pattern_does_not_hang() {
        let schema = json!({"type":"string","pattern":"^(a+)+$"});
        check(schema, json!("a".repeat(5_000) + "!"), Err("match"));
    }
}
