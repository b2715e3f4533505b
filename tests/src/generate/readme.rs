//! Fills the tables of `protocol/README.md` between its markers.

use schemars::SchemaGenerator;
use toolgate_protocol::methods::{self, Direction};

const BEGIN: &str = "<!-- generated: methods -->";
const END: &str = "<!-- end -->";

/// The README with fresh tables between the markers; unchanged if it has no markers.
pub fn fill(readme: &str) -> String {
    let (Some(begin), Some(end)) = (readme.find(BEGIN), readme.find(END)) else {
        return readme.to_owned();
    };
    let mut text = readme[..begin + BEGIN.len()].to_owned();
    text.push('\n');
    text.push_str(&tables());
    text.push_str(&readme[end..]);
    text
}

fn tables() -> String {
    let mut generator = SchemaGenerator::default();
    let all = methods::methods(&mut generator);
    let mut text = String::new();
    for direction in [
        Direction::Request,
        Direction::Notification,
        Direction::Notice,
        Direction::ServerRequest,
    ] {
        text.push_str(&format!("\n### {}\n\n", direction.label()));
        text.push_str("| method | parameters | answer | |\n|---|---|---|---|\n");
        for method in all.iter().filter(|m| m.direction == direction) {
            let about = if method.built {
                method.about.to_owned()
            } else {
                format!("{} Answered `unsupported` until it is built.", method.about)
            };
            text.push_str(&format!(
                "| `{}` | {} | {} | {about} |\n",
                method.name,
                code(&method.params),
                code(&method.result),
            ));
        }
    }
    text
}

fn code(name: &str) -> String {
    if name.is_empty() {
        "–".to_owned()
    } else {
        format!("`{name}`")
    }
}
