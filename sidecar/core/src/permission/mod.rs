//! stub
use crate::definition::Effects;
use crate::place::PathAnswer;
use serde_json::Value;
use toolgate_protocol::notices::Mode;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}
#[derive(Clone, Debug)]
pub struct Decision {
    pub verdict: Verdict,
    pub text: String,
    pub rule: Option<String>,
    pub source: Option<String>,
    pub suggestions: Vec<String>,
}
#[derive(Clone, Copy, Debug)]
pub enum HookOpinion {
    Allow,
    Ask,
    Deny,
}
#[derive(Clone, Debug, Default)]
pub struct RuleSet {}
impl RuleSet {
    pub fn add(&mut self, _rule: &str, _allow: bool, _source: &str) -> Result<(), String> {
        Ok(())
    }
}
pub struct Question<'a> {
    pub tool: &'a str,
    pub input: &'a Value,
    pub effects: &'a Effects,
    pub answers: &'a [PathAnswer],
    pub command: Option<&'a str>,
    pub cwd: &'a str,
    pub home: &'a str,
    pub roots: &'a [String],
    pub mode: Mode,
    pub hook: Option<HookOpinion>,
    pub fold_case: bool,
}
pub fn decide(_q: &Question<'_>, _r: &RuleSet) -> Decision {
    Decision {
        verdict: Verdict::Ask,
        text: String::new(),
        rule: None,
        source: None,
        suggestions: vec![],
    }
}
pub fn denied(_q: &Question<'_>, _r: &RuleSet) -> Option<Decision> {
    None
}
