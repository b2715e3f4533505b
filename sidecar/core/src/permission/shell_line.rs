//! Takes a command line apart, as far as that is plain: literal words joined by `&& || ; |` and
//! newlines, with redirections (permissions.md 1.3 and 3.8). Whatever can run or become something
//! else — expansions, substitutions, control flow, functions, here-documents, background jobs —
//! makes the line *not understood*, which matches no allow rule and is never read-only.

/// One word of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its text after quote removal.
    pub text: String,
    /// False: it holds an unquoted glob, brace or leading tilde.
    pub literal: bool,
}

/// A redirection to or from a file; descriptor duplicates and `/dev/null` are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The file.
    pub target: Word,
    /// True when it is written.
    pub write: bool,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Names of leading assignments.
    pub assigns: Vec<String>,
    /// Program and operands.
    pub words: Vec<Word>,
    /// Its redirections.
    pub redirects: Vec<Redirect>,
}

impl Part {
    /// The words joined by single blanks: what rules are compared with.
    pub fn text(&self) -> String {
        join(&self.words)
    }
}

/// Words joined by single blanks.
pub fn join(words: &[Word]) -> String {
    words
        .iter()
        .map(|word| word.text.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Longest line that is looked into, in characters.
const MOST: usize = 10_000;

const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "coproc", "[[", "!", "{", "}",
];

/// The parts of a line; the error says why it is not understood.
pub fn parts(line: &str) -> Result<Vec<Part>, &'static str> {
    refuse(line)?;
    let mut reader = Reader {
        chars: line.chars().collect(),
        at: 0,
    };
    let mut parts = Vec::new();
    // True behind `&&`, `||` and `|`: a command must follow.
    let mut owed = false;
    loop {
        let part = reader.part()?;
        let empty = part.words.is_empty() && part.redirects.is_empty() && part.assigns.is_empty();
        if !empty {
            parts.push(part);
            owed = false;
        }
        match reader.separator()? {
            Some(Separator::Joins) if empty => return Err("a part is missing"),
            Some(Separator::Ends) if empty => return Err("a part is missing"),
            Some(Separator::Joins) => owed = true,
            Some(Separator::Ends | Separator::Line) => {}
            None if owed => return Err("a part is missing"),
            None => break,
        }
    }
    match parts.is_empty() {
        true => Err("it is empty"),
        false => Ok(parts),
    }
}

/// Refuses before anything is read: what a person could not see, or a parser not bear.
fn refuse(line: &str) -> Result<(), &'static str> {
    if line.chars().count() > MOST {
        return Err("it is longer than 10,000 characters");
    }
    let bad = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || (!c.is_ascii() && c.is_whitespace())
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}' | '\u{061C}'
                | '\u{00AD}' | '\u{2800}' | '\u{3164}' | '\u{115F}' | '\u{1160}' | '\u{FFA0}'
                | '\u{180E}' | '\u{FE00}'..='\u{FE0F}')
    };
    match line.chars().any(bad) {
        true => Err("it holds control or invisible characters"),
        false => Ok(()),
    }
}

/// What stands between two parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// `&&`, `||`, `|`: both sides need a command.
    Joins,
    /// `;`: the left side needs one.
    Ends,
    /// A newline: neither does.
    Line,
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn blanks(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(' ' | '\t'), _) => self.at += 1,
                (Some('\\'), Some('\n')) => self.at += 2,
                (Some('#'), _) => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Passes a separator; none: the end.
    fn separator(&mut self) -> Result<Option<Separator>, &'static str> {
        self.blanks();
        let (length, separator) = match (self.peek(0), self.peek(1)) {
            (None, _) => return Ok(None),
            (Some('&'), Some('&')) | (Some('|'), Some('|' | '&')) => (2, Separator::Joins),
            (Some('|'), _) => (1, Separator::Joins),
            (Some(';'), Some(';' | '&')) => return Err("it holds a case"),
            (Some(';'), _) => (1, Separator::Ends),
            (Some('\n'), _) => (1, Separator::Line),
            (Some('&'), _) => return Err("it runs something in the background"),
            _ => return Err("it holds a subshell or function"),
        };
        self.at += length;
        Ok(Some(separator))
    }

    fn part(&mut self) -> Result<Part, &'static str> {
        let mut part = Part::default();
        loop {
            self.blanks();
            match self.peek(0) {
                None | Some('\n' | ';' | '|') => break,
                Some('&') if self.peek(1) != Some('>') => break,
                Some('(' | ')') => return Err("it holds a subshell or function"),
                _ => {}
            }
            if let Some(redirect) = self.redirect()? {
                part.redirects.extend(redirect);
                continue;
            }
            let quoted_from = self.at;
            let word = self.word()?;
            let plain = self.chars[quoted_from..self.at].iter().collect::<String>() == word.text;
            if part.words.is_empty() {
                if let Some(name) = assignment(&word.text).filter(|_| word.literal) {
                    part.assigns.push(name);
                    continue;
                }
                if plain && KEYWORDS.contains(&word.text.as_str()) {
                    return Err("it holds control flow");
                }
                if !word.literal || !word.text.is_ascii() || word.text.is_empty() {
                    return Err("the program's name is not literal");
                }
            }
            part.words.push(word);
        }
        Ok(part)
    }

    /// A redirection, if one stands here: `Some(None)` for one without a file.
    fn redirect(&mut self) -> Result<Option<Option<Redirect>>, &'static str> {
        let mut ahead = 0;
        while self.peek(ahead).is_some_and(|c| c.is_ascii_digit()) {
            ahead += 1;
        }
        let both = self.peek(0) == Some('&');
        if both {
            ahead = 1;
        }
        let write = match self.peek(ahead) {
            Some('>') => true,
            Some('<') if !both => false,
            _ => return Ok(None),
        };
        self.at += ahead + 1;
        match (write, self.peek(0)) {
            (true, Some('>' | '|')) => self.at += 1,
            (false, Some('<')) => return Err("it holds a here-document"),
            (false, Some('>')) => return Err("it opens a file for reading and writing"),
            (_, Some('(')) => return Err("it holds a process substitution"),
            (_, Some('&')) => {
                self.at += 1;
                let start = self.at;
                while self.peek(0).is_some_and(|c| c.is_ascii_digit() || c == '-') {
                    self.at += 1;
                }
                let ends = self
                    .peek(0)
                    .is_none_or(|c| c.is_whitespace() || ";|&".contains(c));
                return match self.at > start && ends {
                    true => Ok(Some(None)),
                    false => Err("it duplicates a descriptor by name"),
                };
            }
            _ => {}
        }
        self.blanks();
        let target = self.word()?;
        if target.text.is_empty() {
            return Err("a redirection has no file");
        }
        if target.literal && target.text == "/dev/null" {
            return Ok(Some(None));
        }
        Ok(Some(Some(Redirect { target, write })))
    }

    fn word(&mut self) -> Result<Word, &'static str> {
        let mut word = Word {
            text: String::new(),
            literal: true,
        };
        let start = self.at;
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' => break,
                '(' | ')' => return Err("it holds a subshell or function"),
                '$' | '`' => return Err("it holds an expansion"),
                '\'' => self.single(&mut word.text)?,
                '"' => self.double(&mut word.text)?,
                '\\' => {
                    let Some(next) = self.peek(1) else {
                        return Err("it ends in a backslash");
                    };
                    if next != '\n' {
                        word.text.push(next);
                    }
                    self.at += 2;
                }
                '*' | '?' | '[' | '{' | '}' => {
                    word.literal = false;
                    word.text.push(c);
                    self.at += 1;
                }
                '~' if self.at == start => {
                    word.literal = false;
                    word.text.push(c);
                    self.at += 1;
                }
                _ => {
                    word.text.push(c);
                    self.at += 1;
                }
            }
        }
        Ok(word)
    }

    fn single(&mut self, text: &mut String) -> Result<(), &'static str> {
        self.at += 1;
        loop {
            match self.peek(0) {
                None => return Err("a quote is not closed"),
                Some('\'') => break,
                Some(c) => text.push(c),
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(())
    }

    fn double(&mut self, text: &mut String) -> Result<(), &'static str> {
        self.at += 1;
        loop {
            match (self.peek(0), self.peek(1)) {
                (None, _) => return Err("a quote is not closed"),
                (Some('"'), _) => break,
                (Some('$' | '`'), _) => return Err("it holds an expansion"),
                (Some('\\'), Some(c @ ('"' | '\\' | '$' | '`'))) => {
                    text.push(c);
                    self.at += 1;
                }
                (Some('\\'), Some('\n')) => self.at += 1,
                (Some(c), _) => text.push(c),
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(())
    }
}

/// The name of an assignment word.
fn assignment(text: &str) -> Option<String> {
    let (name, _) = text.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut chars = name.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    (first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, want: &[&str]) {
        let got: Vec<String> = parts(line).unwrap().iter().map(Part::text).collect();
        assert_eq!(got, want, "{line}");
    }

    #[test]
    fn plain_lines_are_taken_apart() {
        check("git  push", &["git push"]);
        check("r''m a", &["rm a"]);
        check("\\rm 'a b'", &["rm a b"]);
        check("a && b || c; d | e\nf # g", &["a", "b", "c", "d", "e", "f"]);
        check("X=1 rm a 2>/dev/null 2>&1", &["rm a"]);
        check("echo a >out.txt", &["echo a"]);
        assert_eq!(parts("ls >o").unwrap()[0].redirects.len(), 1);
        assert!(!parts("ls *.rs").unwrap()[0].words[1].literal);
    }

    #[test]
    fn the_rest_is_not_understood() {
        for line in [
            "echo $(rm a)",
            "echo `rm a`",
            "echo \"$x\"",
            "(ls)",
            "{ ls; }",
            "ls &",
            "cat <<E\nE",
            "diff <(a) <(b)",
            "if true; then ls; fi",
            "f() { ls; }",
            "$x a",
            "l?s",
            "ls 'a",
            "ls\ra",
            "ls \u{202E}x",
            "a &&",
            "&& a",
            "! ls",
            "~/bin/x",
            "",
            "# only",
            "ls >&word",
            "cat <> f",
            "ls\u{00A0}-l",
            "case a in a) ls;; esac",
        ] {
            assert!(parts(line).is_err(), "{line:?}: {:?}", parts(line));
        }
    }
}
