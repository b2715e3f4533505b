//! What a terminal would show of an output: progress lines folded, escapes removed. Pure.
//!
//! The model gets plain text; the panel may keep colours and nothing else, since every other
//! escape can hide or move text that the person believes to see.

/// The text as the model reads it: no escapes, only the last state of a line that was drawn over.
pub(super) fn plain(text: &str) -> String {
    fold(&clean(text, false))
}

/// The text as the panel shows it: colours stay.
pub(super) fn coloured(text: &str) -> String {
    fold(&clean(text, true))
}

/// Removes escape sequences and control characters, but newline, tab and carriage return.
fn clean(text: &str, colours: bool) -> String {
    if !text
        .bytes()
        .any(|byte| byte < 0x20 || byte == 0x7f || byte >= 0x80)
    {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => escape(&mut rest, colours, &mut out),
            // The one-character form of ESC [.
            '\u{9b}' => control_sequence(&mut rest, colours, &mut out),
            '\u{8}' => {
                let newline = out.ends_with('\n');
                if !newline {
                    out.pop();
                }
            }
            '\n' | '\t' | '\r' => out.push(character),
            character if character.is_control() => {}
            character => out.push(character),
        }
    }
    out
}

fn escape(rest: &mut std::str::Chars<'_>, colours: bool, out: &mut String) {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some('[') => {
            *rest = ahead;
            control_sequence(rest, colours, out);
        }
        // Strings (title, clipboard, hyperlink): to BEL or ESC backslash. One that never ends
        // must not swallow what follows it.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            *rest = ahead.clone();
            let mut before = '\0';
            for (index, character) in ahead.by_ref().enumerate() {
                if index > 4_096 || character == '\n' {
                    return;
                }
                if character == '\u{7}' || (before == '\u{1b}' && character == '\\') {
                    *rest = ahead;
                    return;
                }
                before = character;
            }
        }
        // Two characters: character sets have a third.
        Some('(' | ')' | '*' | '+' | '#' | '%') => {
            ahead.next();
            *rest = ahead;
        }
        Some(character) if ('\u{30}'..='\u{7e}').contains(&character) => *rest = ahead,
        Some(_) | None => {}
    }
}

/// `ESC [ parameters final`: a colour is kept when wanted, everything else goes.
fn control_sequence(rest: &mut std::str::Chars<'_>, colours: bool, out: &mut String) {
    let mut ahead = rest.clone();
    let mut parameters = String::new();
    while let Some(character) = ahead.next() {
        if ('\u{20}'..='\u{3f}').contains(&character) && parameters.len() < 64 {
            parameters.push(character);
            continue;
        }
        if ('\u{40}'..='\u{7e}').contains(&character) {
            *rest = ahead;
            let plain = parameters.chars().all(|p| p.is_ascii_digit() || p == ';');
            // Concealed text (8) would be there for the model and not for the person.
            let concealed = parameters.split(';').any(|part| part == "8");
            if colours && character == 'm' && plain && !concealed {
                out.push_str(&format!("\u{1b}[{parameters}m"));
            }
        }
        return;
    }
    *rest = ahead;
}

/// A carriage return begins the line anew: what was before it was drawn over.
fn fold(text: &str) -> String {
    if !text.contains('\r') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line.trim_end_matches('\r'), "\n"),
            None => (line.trim_end_matches('\r'), ""),
        };
        let last = line.rsplit('\r').next().unwrap_or(line);
        out.push_str(last);
        out.push_str(end);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_reads_plain_text() {
        let check = |text: &str, want: &str| assert_eq!(plain(text), want, "{text:?}");
        check("\u{1b}[32mok\u{1b}[0m\n", "ok\n");
        check("\r1%\r2%\r100%\n", "100%\n");
        check("a\r\nb\r\n", "a\nb\n");
        check("x\u{1b}]0;title\u{7}y", "xy");
        check("x\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\", "xlink");
        check("x\u{1b}]never ends\nnext", "xnever ends\nnext");
        check("abc\u{8}d", "abd");
        check("\u{1b}(Bplain \u{1b}[2K\u{1b}[1;1Hhere", "plain here");
        check("bell\u{7} and \u{0} nul", "bell and  nul");
        check("\u{9b}31mred", "red");
        check("\u{1b}", "");
        check("\u{1b}[", "");
    }

    #[test]
    fn the_panel_keeps_colours_only() {
        let check = |text: &str, want: &str| assert_eq!(coloured(text), want, "{text:?}");
        check("\u{1b}[1;32mok\u{1b}[0m", "\u{1b}[1;32mok\u{1b}[0m");
        check("\u{1b}[8mhidden\u{1b}[2J", "hidden");
    }
}
