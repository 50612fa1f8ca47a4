use super::RulesError;
use super::read::{Reader, error};
use crate::rules::{Entry, RuleTable};
use crate::tag::Tag;
use crate::wiring::Wiring;

const HEADER: &str = "switch,tag,in_ports,out_ports,new_tag";

/// Writes CSV (RFC 4180), an entry per line; ports (`0-3 7`) start at 0 per switch.
pub fn write_csv(wiring: &Wiring<'_>, table: &RuleTable) -> String {
    let mut text = format!("{HEADER}\n");
    for (switch, entries) in table.switches() {
        let name = quoted(wiring.name(switch));
        for Entry { tag, inputs, outputs, new_tag } in entries {
            text += &format!("{name},{tag},{},{},{new_tag}\n", ranges(inputs), ranges(outputs));
        }
    }
    text
}

fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.into(),
    }
}

fn ranges(ports: &[u32]) -> String {
    let runs = ports.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [only] => only.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    runs.collect::<Vec<_>>().join(" ")
}

/// Reads [`write_csv`]'s format.
///
/// # Errors
/// An invalid line or entry, with its place.
pub fn read_csv(wiring: &Wiring<'_>, text: &str) -> Result<RuleTable, RulesError> {
    let mut reader = Reader::new(wiring);
    let mut rest = text;
    let mut line = 0;
    while !rest.is_empty() {
        let place = format!("line {}", line + 1);
        let (fields, lines, after) = record(rest).map_err(|what| error(&place, what))?;
        if line == 0 && fields.join(",") != HEADER {
            return Err(error(&place, format!("`{}`; allowed: `{HEADER}`", fields.join(","))));
        }
        if line > 0 && fields != [""] {
            let [name, tag, inputs, outputs, new_tag] = &fields[..] else {
                return Err(error(&place, format!("{} fields; allowed: 5, as in `{HEADER}`", fields.len())));
            };
            let switch = reader.switch(&place, name)?;
            let number = |text: &str| {
                text.parse().map(Tag).map_err(|_| error(&place, format!("`{text}` is no tag; allowed: 1 to 255")))
            };
            let entry = Entry {
                tag: number(tag)?,
                inputs: ports(inputs).map_err(|what| error(&place, what))?,
                outputs: ports(outputs).map_err(|what| error(&place, what))?,
                new_tag: number(new_tag)?,
            };
            reader.add(switch, entry, |field| format!("{place}, {field}"))?;
        }
        line += lines;
        rest = after;
    }
    reader.finish()
}

/// First record, its lines, the rest.
fn record(text: &str) -> Result<(Vec<String>, usize, &str), String> {
    let (mut fields, mut lines) = (vec![String::new()], 1);
    let mut characters = text.char_indices().peekable();
    let mut in_quotes = false;
    while let Some((at, character)) = characters.next() {
        let field = fields.last_mut().expect("there is a field");
        match character {
            '"' if in_quotes && characters.next_if(|&(_, next)| next == '"').is_some() => field.push('"'),
            '"' if in_quotes => in_quotes = false,
            '"' if field.is_empty() => in_quotes = true,
            '\n' if !in_quotes => {
                if field.ends_with('\r') {
                    field.pop();
                }
                return Ok((fields, lines, &text[at + 1..]));
            }
            ',' if !in_quotes => fields.push(String::new()),
            _ => {
                lines += usize::from(character == '\n');
                field.push(character);
            }
        }
    }
    if in_quotes { Err("a quoted name without an end".into()) } else { Ok((fields, lines, "")) }
}

fn ports(text: &str) -> Result<Vec<u32>, String> {
    let bad = |word: &str| format!("`{word}` is no port; allowed: numbers and ranges, such as `0-3 7`");
    let mut ports = Vec::new();
    for word in text.split_whitespace() {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        match (first.parse::<u32>(), last.parse::<u32>()) {
            // No switch has more ports.
            (Ok(first), Ok(last)) if first <= last && last < 1 << 24 => ports.extend(first..=last),
            _ => return Err(bad(word)),
        }
    }
    Ok(ports)
}
