//! The format of scripts, and what `replay` makes of one.

use std::collections::BTreeMap;

use toolgate::provider::script::{Block, Script};

use crate::kit::{lines, replay, request, same, script};

fn told(text: &str) -> String {
    let vars = BTreeMap::from([("cwd".to_owned(), "/home/\"me\"\n".to_owned())]);
    Script::parse(text, &vars).map_or_else(|error| error.to_string(), |_| "fine".to_owned())
}

/// Scripts, and what is told of them.
const SCRIPTS: &[(&str, &str)] = &[
    ("{\"responses\":[]}", "fine"),
    ("", "line 1 column 1: EOF"),
    (
        "{\"responses\":[],\n \"lop\":true}",
        "line 2 column 6: unknown field `lop`",
    ),
    (
        "{\"responses\":[\n{\"contents\":[]}]}",
        "line 2 column 11: unknown field `contents`",
    ),
    (
        "{\"responses\":[{\n\"content\":[\n  {\"type\":\"text\",\"txt\":\"\"}]}]}",
        "line 3 column 22: unknown field `txt`",
    ),
    (
        "{\"responses\":[{\"content\":[{\"type\":\"tool_use\"}]}]}",
        "column 45: missing field `name`",
    ),
    (
        "{\"responses\":[{\"content\":[{\"text\":\"x\"}]}]}",
        "missing field `type`",
    ),
    (
        "{\"responses\":[{\"content\":[{\"type\":\"text\",\"text\":\"{{cwd}} {{ x }} {{\"}]}]}",
        "fine",
    ),
    (
        "{\"responses\":[{\"content\":[\n{\"type\":\"text\",\"text\":\"{{me}}\"}]}]}",
        "line 2 column 24: `{{me}}` has no value",
    ),
    (
        "{\"responses\":[{\"expect\":[\"{{cwd}}\"],\"x\":1}]}",
        "line 1 column 39: unknown field `x`",
    ),
    (
        "{\"responses\":[{\"delta\":0}]}",
        "column 15: `delta`, `split` and `repeat` are at least 1",
    ),
    (
        "{\"responses\":[{\"broken_input\":\"\"}]}",
        "`broken_input` needs a tool_use block",
    ),
    (
        "{\"responses\":[{\"cut_after_block\":1}]}",
        "names more blocks than there are",
    ),
    ("{\"responses\":[{\"cut_in_block\":0}]}", "names no block"),
    (
        "{\"responses\":[{\"cut_in_block\":1,\"cut_after_block\":0}]}",
        "exclude each other",
    ),
    ("{\"responses\":[{\"reset\":true}]}", "needs a place"),
    (
        "{\"responses\":[{\"reset\":true,\"stall\":true}]}",
        "exclude each other",
    ),
    ("{\"responses\":[{\"hold\":\"a/b\"}]}", "`hold` is a name"),
    (
        "{\"responses\":[{\"hold\":\"a\",\"cut_after_block\":0}]}",
        "never gets",
    ),
    (
        "{\"responses\":[{\"status\":500,\"stall\":true}]}",
        "belong to a stream",
    ),
    ("{\"responses\":[{\"status\":100}]}", "between 200 and 599"),
    (
        "{\"responses\":[{\"body\":\"\",\"raw_events\":[\"\"]}]}",
        "replace the stream",
    ),
];

#[test]
fn a_wrong_script_is_told_with_its_place() {
    for (text, wanted) in SCRIPTS {
        let came = told(text);
        assert!(
            came.contains(wanted),
            "{text}\ncame: {came}\nwanted: {wanted}"
        );
    }
}

#[test]
fn placeholders_are_filled_and_ids_are_numbered() {
    let vars = BTreeMap::from([("cwd".to_owned(), "/a \"b\"\\".to_owned())]);
    let text = r#"{ "responses": [ { "repeat": 2, "content": [
        { "type": "text", "text": "\u007b{cwd}} {{cwd}}" },
        { "type": "tool_use", "name": "A", "input": { "p": "{{cwd}}/x" } },
        { "type": "tool_use", "name": "B", "id": "own" },
        { "type": "tool_use", "name": "C" } ] }, {} ], "loop": true }"#;
    let script = Script::parse(text, &vars).unwrap();
    let blocks = script.response(4).unwrap().blocks(4);
    assert_eq!(blocks[0], Block::Text("{{cwd}} /a \"b\"\\".to_owned()));
    let ids: Vec<_> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse { id, .. } => id.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["toolu_5_1", "own", "toolu_5_3"]);
    let Block::ToolUse { input, .. } = &blocks[1] else {
        panic!("{blocks:?}");
    };
    assert_eq!(input, r#"{ "p": "/a \"b\"\\/x" }"#);
    assert!(script.response(2).unwrap().content.is_empty());
    assert!(script
        .response(3)
        .is_some_and(|response| !response.content.is_empty()));
}

#[tokio::test]
async fn replay_ends_where_the_script_ends() {
    let provider =
        replay(r#"{ "responses": [ { "content": [ { "type": "text", "text": "Hi" } ] } ] }"#);
    same(
        &lines(&provider, &request("go")).await,
        &["text Hi", "block ", "usage ", "ended EndTurn"],
    );
    let over = "failed Script: the script has no response left: this is request 2, it holds 1";
    same(&lines(&provider, &request("go")).await, &[over]);
    let none = replay(r#"{ "responses": [], "loop": true }"#);
    let came = lines(&none, &request("go")).await;
    same(
        &came,
        &["failed Script: the script has no response left: this is request 1, it holds 0"],
    );
}

#[tokio::test]
async fn replay_holds_a_request_to_what_is_expected() {
    let text = r#"{ "responses": [ { "expect": [ "say \"go\"", "\"role\":\"user\"" ] }, { "expect": [ "gone" ] } ] }"#;
    let provider = replay(text);
    same(
        &lines(&provider, &request("say \"go\"")).await,
        &["usage ", "ended EndTurn"],
    );
    let came = lines(&provider, &request("go")).await;
    same(
        &came,
        &["failed Script: response 2 of the script expects a request that holds \"gone\""],
    );
}

#[tokio::test]
async fn replay_refuses_what_only_a_server_can_play() {
    for field in [
        r#""hold":"x""#,
        r#""status":500"#,
        r#""cut_after_block":0"#,
        r#""stall":true"#,
        r#""split":1"#,
    ] {
        let provider = replay(&format!("{{ \"responses\": [ {{ {field} }} ] }}"));
        let came = lines(&provider, &request("go")).await;
        same(
            &came,
            &["failed Script: response 1 of the script holds, cuts or replaces its stream"],
        );
    }
}

#[tokio::test]
async fn replay_plays_a_broken_input_as_the_wire_does() {
    let text =
        r#"{ "content": [ { "type": "tool_use", "name": "Read" } ], "broken_input": "{\"a\"" }"#;
    let provider = replay(&format!("{{ \"responses\": [ {text} ] }}"));
    let came = lines(&provider, &request("go")).await;
    let wire = crate::kit::play(text).await;
    assert_eq!(crate::kit::shown(&came, "-"), wire);
    assert!(wire.contains("cut off"), "{wire}");
    assert!(script(&format!("{{ \"responses\": [ {text} ] }}"))
        .response(1)
        .is_none());
}
