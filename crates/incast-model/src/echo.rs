//! Foreign text in messages, cut and without control characters.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Most characters of a foreign word or line: a terminal's width (our choice).
pub const SHOWN: usize = 120;

/// Most characters of names of schemes, labels and tenants (our choice).
pub const LONGEST_NAME: usize = 200;

/// Lists of valid names fit (our choice).
const MOST_MESSAGE: usize = 2_000;

/// Returns true for control characters (C0, DEL, C1), line and paragraph separators, invisible characters (soft hyphen,
/// zero-width, byte-order mark), and bidirectional controls (Boucher and Anderson, "Trojan Source", 2021).
pub const fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Escapes control characters as in TOML, such as `\u001b` and `\n`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| push_visible(&mut shown, c));
    Cow::Owned(shown)
}

fn push_visible(text: &mut String, c: char) {
    match c {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        c if is_control(c) => {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        }
        c => text.push(c),
    }
}

fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}… ({} characters)", &text[..end], text.chars().count())),
    }
}

/// Cuts a word to [`SHOWN`] characters and makes it [`visible`].
pub fn word(text: &str) -> String {
    visible(&shortened(text, SHOWN)).into_owned()
}

/// Cuts a message and its quotations in backticks, and makes it [`visible`].
pub fn message(text: &str) -> Cow<'_, str> {
    if text.len() <= SHOWN {
        return visible(text);
    }
    let mut parts = text.split('`');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for (number, part) in parts.enumerate() {
        shown.push('`');
        shown.push_str(&if number % 2 == 0 { shortened(part, SHOWN) } else { Cow::Borrowed(part) });
    }
    Cow::Owned(shortened(&visible(&shown), MOST_MESSAGE).into_owned())
}

/// Position in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Line, or [`SHOWN`] characters of it around the position, between ellipses.
    pub line: String,
    /// Blanks as wide as the text before the position; tabs stay, so a mark lines up.
    pub indent: String,
    /// Characters of the position in `line`; at least 1.
    pub width: usize,
}

impl Excerpt {
    /// Excerpt around `width` characters at `column` (from 1).
    pub fn new(text: &str, column: usize, width: usize) -> Self {
        let (at, count) = (column.saturating_sub(1), text.chars().count());
        let from = if count <= SHOWN { 0 } else { at.saturating_sub(SHOWN / 3).min(count - SHOWN) };
        let until = count.min(from + SHOWN);
        let mut excerpt = Self { line: String::new(), indent: String::new(), width: 0 };
        if from > 0 {
            excerpt.line.push('…');
            excerpt.indent.push(' ');
        }
        for (place, c) in text.chars().enumerate().take(until).skip(from) {
            let before = excerpt.line.len();
            if c == '\t' {
                excerpt.line.push(c)
            } else {
                push_visible(&mut excerpt.line, c)
            }
            let wide = excerpt.line[before..].chars().count();
            if place < at {
                excerpt.indent.extend(std::iter::repeat_n(if c == '\t' { '\t' } else { ' ' }, wide));
            } else if place < at + width {
                excerpt.width += wide;
            }
        }
        if until < count {
            excerpt.line.push('…');
        }
        excerpt.width = excerpt.width.max(1);
        excerpt
    }
}

/// A number of things, such as `2 NACKs` or `1,024 switches`.
pub fn counted(count: u64, what: &str) -> String {
    let plural = match (count, what.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{} {what}{plural}", grouped(count))
}

/// Digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(visible("\u{1b}[31mred\u{1b}]0;pwn\u{7}\t"), r"\u001b[31mred\u001b]0;pwn\u0007\t");
        assert_eq!(visible("a\u{9b}b\u{7f}\u{202e}c\r\n"), r"a\u009bb\u007f\u202ec\r\n");
        assert!(matches!(visible("DCQCN+w, µs, 日本, שלום"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(word("short"), "short");
        let long = "x".repeat(100_000);
        assert_eq!(word(&long), format!("{}… (100000 characters)", "x".repeat(SHOWN)));
        let said = message(&format!("unknown field `{long}`, expected `a` or `{long}`")).into_owned();
        assert!(said.len() < 400 && said.contains("expected `a` or `x"), "{said}");
        for text in [long, "\0".repeat(1000)] {
            assert!(message(&text).chars().count() < MOST_MESSAGE + 30);
        }
        assert_eq!(message("forged `x`\nerror: none"), r"forged `x`\nerror: none");
    }

    #[test]
    fn a_long_line_is_shown_around_its_place() {
        let line = format!("{}bad{}", "a".repeat(500_000), "z".repeat(500_000));
        let shown = Excerpt::new(&line, 500_001, 3);
        assert_eq!(shown.line.chars().count(), SHOWN + 2);
        assert!(shown.line.starts_with('…') && shown.line.ends_with('…'));
        assert_eq!(shown.line.chars().skip(shown.indent.len()).take(3).collect::<String>(), "bad");
        assert_eq!(shown.width, 3);
        assert_eq!(Excerpt::new(&line, 1, 1_000_000).width, SHOWN);
        assert_eq!(Excerpt::new("", 1, 1), Excerpt { line: String::new(), indent: String::new(), width: 1 });
    }

    #[test]
    fn marks_stand_under_what_is_written_out() {
        let shown = Excerpt::new("\ta\u{1b}b", 4, 1);
        assert_eq!((shown.line.as_str(), shown.indent.as_str(), shown.width), ("\ta\\u001bb", "\t       ", 1));
        assert_eq!(Excerpt::new("\ta\u{1b}b", 3, 1).width, 6);
    }
}
