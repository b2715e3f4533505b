//! What to say about a path where nothing, or a directory, stands: the model gets names it could
//! have meant, never content.

use toolgate_core::place::PathAnswer;

use super::Denied;
use crate::hands::disk::{self, Entry};

/// Names that a listing shows.
const LISTED: usize = 100;

/// Names that are offered for a missing one.
const OFFERED: usize = 5;

/// Names of a folder that are compared.
const COMPARED: usize = 5_000;

/// Longer names are not compared: the cost grows with the square.
const LONGEST: usize = 128;

/// "It does not exist", with what it may have meant.
pub(super) fn missing(answer: &PathAnswer, denied: &Denied) -> String {
    let path = answer.place.path();
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = if folder.is_empty() { "/" } else { folder };
    let mut text = format!("{} does not exist.", answer.lexical);
    if !disk::is_directory(folder) {
        text.push_str(&format!(" Its directory {folder} does not exist either."));
        return text;
    }
    let entries = visible(folder, COMPARED, denied).0;
    let similar = similar(name, &entries);
    if !similar.is_empty() {
        text.push_str(&format!(" In {folder} there are: {}.", similar.join(", ")));
    }
    text.push_str(" Use Glob to find files by name.");
    text
}

/// "It is a directory", with what is in it.
pub(super) fn directory(answer: &PathAnswer, denied: &Denied) -> String {
    let (entries, total) = visible(answer.place.path(), LISTED, denied);
    let mut text = format!(
        "{} is a directory, and Read shows files. It holds ",
        answer.lexical
    );
    if entries.is_empty() {
        text.push_str("nothing.");
        return text;
    }
    text.push_str(&super::count(total, "entry", "entries"));
    let cut = entries.len() < total;
    text.push_str(if cut { "; the first of them:" } else { ":" });
    for entry in entries {
        let slash = if entry.directory { "/" } else { "" };
        text.push_str(&format!("\n{}{slash}", spelt(&entry.name)));
    }
    text
}

fn visible(folder: &str, most: usize, denied: &Denied) -> (Vec<Entry>, usize) {
    let Ok((mut entries, total)) = disk::list(folder, most) else {
        return (Vec::new(), 0);
    };
    let before = entries.len();
    let path = |entry: &Entry| format!("{}/{}", folder.trim_end_matches('/'), entry.name);
    entries.retain(|entry| !denied(&path(entry)) && !disk::is_temporary(&entry.name));
    let hidden = before - entries.len();
    (entries, total - hidden)
}

/// Names that look or read like this one, nearest first, spelt so that they can be told apart.
fn similar(name: &str, entries: &[Entry]) -> Vec<String> {
    let wanted = letters(name);
    let limit = (wanted.len() / 2).min(6);
    let mut found: Vec<(usize, &str)> = entries
        .iter()
        .filter_map(|entry| {
            let far = distance(&wanted, &letters(&entry.name));
            (far <= limit).then_some((far, entry.name.as_str()))
        })
        .collect();
    found.sort_unstable();
    // Beside a name that is nearly it, those that are far are noise.
    let nearest = found.first().map_or(0, |(far, _)| *far);
    let names = found.into_iter().take_while(|(far, _)| *far <= nearest + 1);
    let names = names.take(OFFERED);
    names.map(|(_, name)| spelt(name)).collect()
}

/// A name for comparing: lower case, and without marks that are characters of their own.
fn letters(name: &str) -> Vec<char> {
    let mark = |character: &char| ('\u{300}'..='\u{36f}').contains(character);
    let letters = name.to_lowercase();
    let letters = letters.chars().filter(|character| !mark(character));
    letters.take(LONGEST).collect()
}

/// True for letters that may be the same one, with and without its mark.
fn alike(left: char, right: char) -> bool {
    let marked = |character: char| ('\u{c0}'..='\u{24f}').contains(&character);
    left == right
        || (marked(left) || marked(right)) && left.is_alphabetic() && right.is_alphabetic()
}

/// A name as it can be told apart from one that looks the same: what is not plain ASCII is spelt
/// out beside it.
fn spelt(name: &str) -> String {
    let plain = |character: char| character.is_ascii_graphic() || character == ' ';
    if name.chars().all(plain) {
        return name.to_owned();
    }
    let bytes: String = name
        .chars()
        .map(|character| match character {
            plain_one if plain(plain_one) => plain_one.to_string(),
            other => format!("\\u{{{:x}}}", u32::from(other)),
        })
        .collect();
    let harmless: String = name.chars().filter(|c| !c.is_control()).collect();
    format!("{harmless} (spelt {bytes})")
}

/// How many letters differ (Levenshtein).
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.iter().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        if let Some(first) = row.first_mut() {
            *first = before;
        }
        for (cell, to) in row.iter_mut().skip(1).zip(right) {
            let replaced = diagonal + usize::from(!alike(*from, *to));
            diagonal = *cell;
            before = replaced.min(*cell + 1).min(before + 1);
            *cell = before;
        }
    }
    row.last().copied().unwrap_or(left.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered_and_told_apart() {
        let entry = |name: &str| Entry {
            name: name.to_owned(),
            directory: false,
        };
        let entries = [
            entry("README.md"),
            entry("re\u{301}sume\u{301}.md"),
            entry("unrelated.bin"),
        ];
        let check = |name: &str, want: Option<&str>| {
            let found = similar(name, &entries);
            assert_eq!(found.first().map(String::as_str), want, "{name}");
        };
        check("readme.md", Some("README.md"));
        check("REEDME.md", Some("README.md"));
        check(
            "r\u{e9}sum\u{e9}.md",
            Some("re\u{301}sume\u{301}.md (spelt re\\u{301}sume\\u{301}.md)"),
        );
        check("x", None);
    }
}
