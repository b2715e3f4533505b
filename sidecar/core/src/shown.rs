//! Text as a person may see it: nothing in it can hide or disguise another part of it
//! (spec: permissions.md, section 5).

/// The text with control, bidi and zero-width characters spelt as `U+XXXX`.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let hidden = matches!(character,
            '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}'
            | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}' | '\u{061C}' | '\u{00AD}');
        if character == '\n' || character == '\t' {
            out.push(character);
        } else if character.is_control() || hidden {
            out.push_str(&format!("U+{:04X}", u32::from(character)));
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(
            shown("a\u{202E}b\u{200B}\u{1b}[0m"),
            "aU+202EbU+200BU+001B[0m"
        );
        assert_eq!(shown("zeile\n\tümlaut"), "zeile\n\tümlaut");
    }
}
