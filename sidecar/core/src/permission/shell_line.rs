//! A conservative reader of command lines: it splits what it understands to the letter, and says
//! `Unclear` to everything else.
//!
//! It understands literal words with quotes and backslashes, leading assignments, comments, and
//! redirects to literal words, joined by `&&`, `||`, `;`, `|`, `|&` and newline. Expansions,
//! substitutions, braces, here-documents, control flow, functions and `&` are unclear. It must
//! never drop, merge or reorder a command: a line that it splits runs exactly these parts.

/// Longer lines are not read.
pub(super) const MAX_CHARS: usize = 10_000;

/// Why a line is not understood; a phrase that fits behind "it".
pub(super) type Unclear = &'static str;

/// One word after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The text that the program gets, if the shell expands nothing in it.
    pub(super) text: String,
    /// Any part of it was quoted or escaped.
    pub(super) quoted: bool,
    /// It holds a glob that the shell expands.
    pub(super) glob: bool,
    /// It begins with a tilde that the shell expands.
    pub(super) tilde: bool,
    /// Where the `=` of an assignment stands, were this word to stand in front.
    assign: Option<usize>,
}

impl Word {
    /// A word that stands for a name, though no line holds it so.
    pub(super) fn named(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// True when the program gets exactly `text`.
    pub(super) fn literal(&self) -> bool {
        !self.glob && !self.tilde
    }
}

/// One redirect to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    /// It writes; otherwise it reads.
    pub(super) write: bool,
    /// The file.
    pub(super) target: Word,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Leading assignments.
    pub(super) assigns: Vec<(String, String)>,
    /// The program and its arguments; never empty.
    pub(super) words: Vec<Word>,
    /// Its redirects to files; those to `/dev/null` and to descriptors are left out.
    pub(super) redirects: Vec<Redirect>,
}

/// The shell reads these as its own grammar when they stand in front, unquoted.
const RESERVED: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "until", "while", "{", "}",
];

/// The simple commands of a line, in their order.
pub(super) fn split(line: &str) -> Result<Vec<Part>, Unclear> {
    if line.chars().nth(MAX_CHARS).is_some() {
        return Err("is longer than 10,000 characters");
    }
    if line.chars().any(misleading) {
        return Err("holds characters that hide or disguise text");
    }
    let mut reader = Reader {
        chars: line.chars().collect(),
        at: 0,
        part: Part::default(),
        parts: Vec::new(),
        open: false,
    };
    reader.line()?;
    Ok(reader.parts)
}

/// The line's words as a rule's text may occur in them: quotes removed, cut at every character
/// that the shell could treat as a border. For lines that are not understood.
pub(super) fn loose_words(line: &str) -> Vec<String> {
    let bare: String = line
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\') && (*c == '\n' || !misleading(*c)))
        .collect();
    bare.split(|c: char| c.is_whitespace() || ";|&()<>{}$`!".contains(c))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Characters that show as nothing, as another, or elsewhere than they stand.
fn misleading(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && c != '\t' && c != '\n';
    }
    c.is_control()
        || c.is_whitespace()
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    part: Part,
    parts: Vec<Part>,
    /// An operator was read that needs a command behind it.
    open: bool,
}

impl Reader {
    fn line(&mut self) -> Result<(), Unclear> {
        loop {
            self.skip_blanks();
            let Some(c) = self.next() else { break };
            match c {
                '\n' => self.newline()?,
                ';' => {
                    self.end_part()?;
                    self.open = false;
                }
                '&' => match self.next() {
                    Some('&') => self.end_part()?,
                    Some('>') => self.redirect('>')?,
                    _ => return Err("runs something in the background"),
                },
                '|' => {
                    if matches!(self.peek(), Some('|' | '&')) {
                        self.at += 1;
                    }
                    self.end_part()?;
                }
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '<' | '>' => self.redirect(c)?,
                first => {
                    if let Some(word) = self.word(first)? {
                        self.take(word)?;
                    }
                }
            }
        }
        self.newline()?;
        if self.open {
            return Err("ends in an operator");
        }
        Ok(())
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// Skips blanks and joined lines; never a newline of its own.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.chars.get(self.at + 1) == Some(&'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// A newline ends a part, but is only a blank behind an operator or on an empty line.
    fn newline(&mut self) -> Result<(), Unclear> {
        if self.part == Part::default() {
            return Ok(());
        }
        self.end_part()?;
        self.open = false;
        Ok(())
    }

    fn end_part(&mut self) -> Result<(), Unclear> {
        let part = std::mem::take(&mut self.part);
        if part.words.is_empty() {
            // `X=1; …` sets a variable of the shell, `> f` empties a file, `;;` is no command.
            return Err("has a part without a program");
        }
        self.parts.push(part);
        self.open = true;
        Ok(())
    }

    /// A word was read: an assignment, the program, or an argument.
    fn take(&mut self, word: Word) -> Result<(), Unclear> {
        if !self.part.words.is_empty() {
            self.part.words.push(word);
            return Ok(());
        }
        if let Some(at) = word.assign {
            let (name, value) = word.text.split_at(at);
            if name.contains(['[', '+']) || word.tilde {
                return Err("holds an assignment that is not plain");
            }
            let value = value.strip_prefix('=').unwrap_or(value);
            self.part.assigns.push((name.to_owned(), value.to_owned()));
            return Ok(());
        }
        if !word.quoted && RESERVED.contains(&word.text.as_str()) {
            return Err("holds control flow");
        }
        if !word.text.is_ascii() {
            return Err("names a program with letters outside ASCII");
        }
        self.part.words.push(word);
        Ok(())
    }

    /// Reads a word to its end; `None` when it was the number of a redirect, now read too.
    fn word(&mut self, first: char) -> Result<Option<Word>, Unclear> {
        let mut word = Word {
            tilde: first == '~',
            ..Word::default()
        };
        let mut c = first;
        loop {
            self.character(c, &mut word)?;
            let number = !word.quoted
                && !word.text.is_empty()
                && word.text.bytes().all(|b| b.is_ascii_digit());
            match self.peek() {
                Some(operator @ ('<' | '>')) if number => {
                    self.at += 1;
                    self.redirect(operator)?;
                    return Ok(None);
                }
                None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>') => break,
                Some(next) => {
                    self.at += 1;
                    c = next;
                }
            }
        }
        if word.text.is_empty() && !word.quoted {
            return Err("joins lines in a way that is not understood");
        }
        Ok(Some(word))
    }

    /// One character of a word, and what belongs to it.
    fn character(&mut self, c: char, word: &mut Word) -> Result<(), Unclear> {
        match c {
            '\'' => {
                word.quoted = true;
                self.single(&mut word.text)?;
            }
            '"' => {
                word.quoted = true;
                self.double(&mut word.text)?;
            }
            '\\' => match self.next() {
                Some('\n') => {}
                Some(c) => {
                    word.quoted = true;
                    word.text.push(c);
                }
                None => return Err("ends in a backslash"),
            },
            '$' | '`' => return Err("holds an expansion or a substitution"),
            '(' | ')' => return Err("holds parentheses"),
            '{' if self.peek() == Some('}') => {
                // `{}` alone is no brace expansion: `find -exec` and `xargs -I` use it.
                self.at += 1;
                word.text.push_str("{}");
            }
            '{' | '}' => return Err("holds braces"),
            '*' | '?' | '[' => {
                word.glob = true;
                word.text.push(c);
            }
            '=' => {
                if word.assign.is_none() && !word.quoted && assignable(&word.text) {
                    word.assign = Some(word.text.len());
                }
                word.text.push(c);
            }
            // In a word that looks like an assignment bash expands tildes inside, too.
            '~' if word.assign.is_some() => {
                word.tilde = true;
                word.text.push(c);
            }
            c => word.text.push(c),
        }
        Ok(())
    }

    fn single(&mut self, text: &mut String) -> Result<(), Unclear> {
        while let Some(c) = self.next() {
            if c == '\'' {
                return Ok(());
            }
            text.push(c);
        }
        Err("has a quote without its end")
    }

    fn double(&mut self, text: &mut String) -> Result<(), Unclear> {
        while let Some(c) = self.next() {
            match c {
                '"' => return Ok(()),
                '`' => return Err("holds an expansion or a substitution"),
                // A dollar before these stands for itself, as in "foo$".
                '$' if matches!(self.peek(), Some('"' | ' ' | '|' | ')')) => text.push(c),
                '$' => return Err("holds an expansion or a substitution"),
                '\\' => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => text.push(c),
                    Some(c) => text.extend(['\\', c]),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err("has a quote without its end")
    }

    /// Behind `<` or `>`: which redirect, and to what.
    fn redirect(&mut self, operator: char) -> Result<(), Unclear> {
        let write = operator == '>';
        match self.peek() {
            Some('<') if !write => return Err("holds a here-document or a here-string"),
            Some('>') if !write => return Err("opens a file for reading and writing"),
            Some('(') => return Err("holds a process substitution"),
            Some('&') => return self.duplicate(),
            Some('>' | '|') if write => self.at += 1,
            _ => {}
        }
        self.skip_blanks();
        let target = match self.next() {
            None | Some('\n' | ';' | '&' | '|' | '<' | '>' | '#') => None,
            Some(c) => self.word(c)?,
        };
        let Some(target) = target else {
            return Err("has a redirect without a file");
        };
        if target.text != "/dev/null" || !target.literal() {
            self.part.redirects.push(Redirect { write, target });
        }
        Ok(())
    }

    /// `>&1`, `2>&-`: no file is touched. Anything else behind `>&` is one.
    fn duplicate(&mut self) -> Result<(), Unclear> {
        self.at += 1;
        let from = self.at;
        while self.peek().is_some_and(|c| !" \t\n;&|<>".contains(c)) {
            self.at += 1;
        }
        let name = &self.chars[from..self.at];
        let number = !name.is_empty() && name.iter().all(char::is_ascii_digit);
        if number || name == ['-'] {
            return Ok(());
        }
        Err("redirects to something that is neither a plain file nor a number")
    }
}

/// True when an unquoted `=` behind this text makes an assignment.
fn assignable(text: &str) -> bool {
    let name = text.strip_suffix('+').unwrap_or(text);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words in brackets, assignments in front, redirects behind.
    fn check(line: &str, want: &str) {
        let shown = match split(line) {
            Err(why) => format!("unclear: {why}"),
            Ok(parts) => parts.iter().map(part_text).collect::<Vec<_>>().join(" ; "),
        };
        assert!(
            shown == want || (want == "unclear" && shown.starts_with("unclear")),
            "{line}\n{shown}\n{want}"
        );
    }

    fn part_text(part: &Part) -> String {
        let mut out = String::new();
        for (name, value) in &part.assigns {
            out.push_str(&format!("{name}={value} "));
        }
        for word in &part.words {
            let mark = match (word.glob, word.tilde) {
                (false, false) => "",
                (true, _) => "*",
                (false, true) => "~",
            };
            out.push_str(&format!("[{}]{mark}", word.text));
        }
        for redirect in &part.redirects {
            let sign = if redirect.write { '>' } else { '<' };
            out.push_str(&format!("{sign}{}", redirect.target.text));
        }
        out
    }

    #[test]
    fn what_is_understood_is_split_exactly() {
        check("git  push", "[git][push]");
        check(r#"r''m 'a b' "c$" \d"#, "[rm][a b][c$][d]");
        check(
            "a && b||c;d|e|&f\ng",
            "[a] ; [b] ; [c] ; [d] ; [e] ; [f] ; [g]",
        );
        check("ls &&\n pwd", "[ls] ; [pwd]");
        check("ls \\\n -l # rm a\n", "[ls][-l]");
        check("ls a#b '#'", "[ls][a#b][#]");
        check("X=1 Y='a b' ls Z=2", "X=1 Y=a b [ls][Z=2]");
        check("ls *.rs '*' ~/x '~' a=~", "[ls][*.rs]*[*][~/x]~[~][a=~]~");
        check("a 2>/dev/null >&2 2>&1 &>/dev/null", "[a]");
        check("a >b >>c >|d <e 2>f &>g 3< h", "[a]>b>c>d<e>f>g<h");
        check("a b2>c '2'>d", "[a][b2][2]>c>d");
        check("find . -exec rm {} \\;", "[find][.][-exec][rm][{}][;]");
        check("", "");
        check("a;", "[a]");
    }

    #[test]
    fn everything_else_is_unclear() {
        for line in [
            "a $x",
            "a \"$x\"",
            "a `b`",
            "a $(b)",
            "(a)",
            "{ a; }",
            "a {b,c}",
            "a & b",
            "a &",
            "a <<E\nE",
            "a <<< b",
            "a <> b",
            "a >&b",
            "a >& b",
            "a >(b)",
            "a <(b)",
            "if a; then b; fi",
            "for i in a; do b; done",
            "! a",
            "[[ a ]]",
            "f() { a; }",
            "function f",
            "X=1",
            "X=1; a",
            "X[0]=1 a",
            "X+=1 a",
            "X=~ a",
            "> a",
            "a ;; b",
            "a &&",
            "a | ",
            "| a",
            "a \"b",
            "a 'b",
            "a \\",
            "a\r",
            "a\u{202e}b",
            "a\u{3000}b",
            "\u{feff}a",
            "\u{e9} a",
            "a {v}>b",
            "a > ",
            "a >\\\n >b",
            "a > \\\n",
            "a <| b",
            "a $'b'",
            "a 2>&1x",
            "time -p\u{200b}",
        ] {
            check(line, "unclear");
        }
        check(&format!("a {}", "b".repeat(MAX_CHARS)), "unclear");
    }

    #[test]
    fn loose_words_see_through_quotes_and_borders() {
        let words = loose_words("for i in 1; do r''m \"$(x)\"`\\curl`; done");
        assert_eq!(words.join(" "), "for i in 1 do rm x curl done");
    }
}
