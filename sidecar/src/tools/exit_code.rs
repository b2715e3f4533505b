//! What an exit code means: for some programs 1 is an answer, not a failure (compat.md 2.15).
//!
//! Only about the words shown to the model. It takes a line apart no further than it must and
//! answers nothing where it is not sure: then 1 is a failure.

/// What exit code 1 says, when it is an answer of the line's last program.
pub(super) fn meaning_of_one(command: &str) -> Option<&'static str> {
    let parts = parts(command)?;
    let (last, before) = parts.split_last()?;
    let meaning = meaning(last.text)?;
    // In `a && b` the 1 may be a's: then it must be an answer of a, too.
    let mut chained = last.joined == Join::And;
    for part in before.iter().rev() {
        if !chained {
            break;
        }
        if part.piped_into {
            continue;
        }
        self::meaning(part.text)?;
        chained = part.joined == Join::And;
    }
    Some(meaning)
}

/// How a part is joined to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// It is the first, or comes behind `;`, a newline, `&` or `||`.
    Free,
    /// Behind `&&`.
    And,
    /// Behind `|`: the part before it does not give the exit code.
    Pipe,
}

struct Part<'a> {
    text: &'a str,
    joined: Join,
    piped_into: bool,
}

/// The commands of a line; none when it holds anything but plain words and operators.
fn parts(command: &str) -> Option<Vec<Part<'_>>> {
    let bytes = command.as_bytes();
    let mut parts: Vec<Part<'_>> = Vec::new();
    let (mut start, mut at, mut joined) = (0, 0, Join::Free);
    let mut quote: Option<u8> = None;
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1).copied();
        let (width, join) = match (quote, byte) {
            // What is evaluated elsewhere could hold anything.
            (None | Some(b'"'), b'`') => return None,
            (None | Some(b'"'), b'$') if next == Some(b'(') => return None,
            (None, b'(' | b')' | b'{' | b'}' | b'<') if byte != b'<' || next == Some(b'<') => {
                return None
            }
            (None | Some(b'"'), b'\\') => (2, None),
            (Some(open), _) if open == byte => {
                quote = None;
                (1, None)
            }
            (Some(_), _) => (1, None),
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                (1, None)
            }
            (None, b'&') if next == Some(b'&') => (2, Some(Join::And)),
            (None, b'|') if next == Some(b'|') => (2, Some(Join::Free)),
            (None, b'|') => (1, Some(Join::Pipe)),
            (None, b'&') if at > 0 && bytes.get(at - 1) == Some(&b'>') => (1, None),
            (None, b'&') if next == Some(b'>') => (1, None),
            (None, b';' | b'\n' | b'&') => (1, Some(Join::Free)),
            (None, _) => (1, None),
        };
        if let Some(join) = join {
            push(
                &mut parts,
                command.get(start..at)?,
                joined,
                join == Join::Pipe,
            );
            joined = join;
            start = at + width;
        }
        at += width;
    }
    if quote.is_some() {
        return None;
    }
    push(&mut parts, command.get(start..)?, joined, false);
    Some(parts)
}

fn push<'a>(parts: &mut Vec<Part<'a>>, text: &'a str, joined: Join, piped_into: bool) {
    let text = text.trim();
    if !text.is_empty() {
        parts.push(Part {
            text,
            joined,
            piped_into,
        });
    }
}

/// What exit code 1 of one simple command says.
fn meaning(command: &str) -> Option<&'static str> {
    let mut words = command.split_ascii_whitespace();
    let first = words.find(|word| !is_assignment(word))?;
    let program = first.rsplit('/').next().unwrap_or(first);
    let program = if program == "git" {
        // Options of git itself may stand before its command.
        let command = words.find(|word| !word.starts_with('-'));
        command.filter(|word| matches!(*word, "diff" | "grep"))?
    } else {
        program
    };
    match program {
        "grep" | "egrep" | "fgrep" | "rg" => Some("No matches found"),
        "diff" => Some("Files differ"),
        "test" | "[" => Some("Condition is false"),
        "find" => Some("Some directories were inaccessible"),
        _ => None,
    }
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_an_answer_of_some_programs() {
        let check = |command: &str, want: Option<&str>| {
            assert_eq!(meaning_of_one(command), want, "{command}");
        };
        let none = Some("No matches found");
        check("grep x a.txt", none);
        check("LC_ALL=C /usr/bin/grep 'a|b; c' a.txt 2>&1", none);
        check("cat a.txt | grep x", none);
        check("cd a; rg x", none);
        check("git diff --quiet", Some("Files differ"));
        check("git grep x", none);
        check("test -f a && grep x a", none);
        check("[ -f a ]", Some("Condition is false"));
        check("make && grep x log", None);
        check("grep x a | sort", None);
        check("npm test", None);
        check("git commit", None);
        check("grep x $(make list)", None);
        check("(grep x a)", None);
        check("grep 'x", None);
        check("", None);
    }
}
