use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use super::error::{Notice, Ns3Error, Severity};
use crate::input;

pub(crate) fn read_text(path: &Path) -> Result<String, Ns3Error> {
    input::read_text(path, input::LARGE)
        .map_err(|why| Ns3Error::Unreadable { file: path.display().to_string().into(), why: why.to_string().into() })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) line: usize,
    /// In the line, in bytes.
    pub(crate) at: usize,
    pub(crate) text: &'a str,
}

#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    file: &'a str,
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    words: std::str::SplitWhitespace<'a>,
    line: usize,
    row: &'a str,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str, file: &'a str) -> Self {
        Self { file, lines: text.lines().enumerate(), words: "".split_whitespace(), line: 1, row: "" }
    }

    pub(crate) fn next(&mut self) -> Option<Token<'a>> {
        loop {
            if let Some(text) = self.words.next() {
                let at = text.as_ptr() as usize - self.row.as_ptr() as usize;
                return Some(Token { line: self.line, at, text });
            }
            let (index, line) = self.lines.next()?;
            self.line = index + 1;
            (self.row, self.words) = (line, line.split_whitespace());
        }
    }

    pub(crate) fn skip_to(&mut self, wanted: impl Fn(Token<'a>) -> bool) {
        let mut ahead = self.clone();
        while let Some(token) = ahead.next() {
            if wanted(token) {
                return;
            }
            *self = ahead.clone();
        }
    }

    /// `allowed` states the expected amount.
    pub(crate) fn want(&mut self, field: impl Display, allowed: impl Display) -> Result<Token<'a>, Ns3Error> {
        self.next().ok_or_else(|| Ns3Error::Truncated {
            file: self.file.into(),
            line: self.line,
            field: field.to_string().into(),
            allowed: allowed.to_string().into(),
        })
    }

    pub(crate) fn number<T: FromStr + PartialOrd + Display>(
        &mut self,
        field: &str,
        (least, most): (T, T),
        rows: impl Display,
    ) -> Result<T, Ns3Error> {
        let token = self.want(field, rows)?;
        match token.text.parse() {
            Ok(value) if digits(token.text) && value >= least && value <= most => Ok(value),
            _ => Err(self.wrong(token, field, format!("an integer from {least} to {most}"))),
        }
    }

    /// Notices that more follows: the authors' ns-3 reads as many rows as the header says.
    pub(crate) fn unread(&mut self, rows: impl Display) -> Option<Notice> {
        let first = self.next()?;
        let text = format!("not read from here on: the header has {rows}");
        Some(Notice { file: self.file.into(), line: first.line, severity: Severity::Warning, text })
    }

    pub(crate) fn wrong(&self, token: Token<'_>, field: impl Display, allowed: impl Display) -> Ns3Error {
        Ns3Error::Value {
            file: self.file.into(),
            line: token.line,
            at: Some(token.at),
            field: field.to_string().into(),
            value: token.text.into(),
            allowed: allowed.to_string().into(),
            nearest: None,
        }
    }

    pub(crate) fn file(&self) -> &'a str {
        self.file
    }
}

/// `parse` alone would accept a sign.
pub(crate) fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_know_their_lines() {
        let mut tokens = Tokens::new("\n 1  2\r\n\t\n3", "t.txt");
        let mut seen = Vec::new();
        while let Some(token) = tokens.next() {
            seen.push((token.line, token.text));
        }
        assert_eq!(seen, [(2, "1"), (2, "2"), (4, "3")]);
        assert_eq!(
            tokens.want("the size", "4 flows").unwrap_err().to_string(),
            "t.txt:4: the file ends before the size; allowed: 4 flows"
        );
    }

    #[test]
    fn equal_tokens_of_a_line_have_their_own_places() {
        let mut tokens = Tokens::new("0\n 0 12  0\n", "t.txt");
        let places: Vec<(usize, usize)> =
            std::iter::from_fn(|| tokens.next()).map(|token| (token.line, token.at)).collect();
        assert_eq!(places, [(1, 0), (2, 1), (2, 3), (2, 7)]);
    }

    #[test]
    fn numbers_are_digits_within_limits() {
        let number = |text| Tokens::new(text, "t.txt").number::<u32>("the size", (1, 10), "1");
        assert_eq!(number("10"), Ok(10));
        for wrong in ["0", "11", "+1", "-1", "1.0", "x", "99999999999"] {
            let message = number(wrong).unwrap_err().to_string();
            assert_eq!(message, format!("t.txt:1: the size is `{wrong}`; allowed: an integer from 1 to 10"));
        }
    }
}
