use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry::{Collector, Entry, Pattern, UNASSIGNED};
use super::list::{PRIORITY_RULE, is_priority};
use super::table_file;
use super::waits::{Named, Spot, gates};
use crate::entry::{EntryError, LABEL_RULE, Place, is_label};
use crate::fabric::HostId;
use crate::flow::{Flow, MAX_TIME};
use crate::units::Time;

/// Replays the flows of a CSV or Parquet file.
///
/// Columns, in any order: `src`, `dst` (host numbers from 0), `size_bytes` and one of `start_ps`, `start_ns`,
/// `start_us` and `start_s`; optionally `priority`, `label`, `sport` and `dport`. Empty cells mean the entry's priority
/// and label, a source port of its own, and destination port 100. Cells are not quoted, lines need no order. Starts
/// count from the entry's start and are rounded to picoseconds.
///
/// A flow with names in `after`, separated by blanks, waits for the flows with these names in `name`, then for
/// `delay_ps`, `delay_ns`, `delay_us` or `delay_s`; it never starts before its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// CSV file, or Parquet with the same columns, relative to the scenario's folder.
    pub file: PathBuf,
}

impl Pattern for Trace {
    fn has_labels(&self) -> bool {
        true
    }

    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let table = table_file::read(entry.field("file"), entry.base_dir.join(&self.file))?;
        parse(&table.text, &table.file, entry, out).map_err(|error| table.located(error))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Src,
    Dst,
    Size,
    /// Unit in ps.
    Start(u64),
    Priority,
    Label,
    Sport,
    Dport,
    Name,
    After,
    /// Unit in ps.
    Delay(u64),
}

const COLUMNS: [(&str, Column); 17] = [
    ("src", Column::Src),
    ("dst", Column::Dst),
    ("size_bytes", Column::Size),
    ("start_ps", Column::Start(1)),
    ("start_ns", Column::Start(1_000)),
    ("start_us", Column::Start(1_000_000)),
    ("start_s", Column::Start(1_000_000_000_000)),
    ("priority", Column::Priority),
    ("label", Column::Label),
    ("sport", Column::Sport),
    ("dport", Column::Dport),
    ("name", Column::Name),
    ("after", Column::After),
    ("delay_ps", Column::Delay(1)),
    ("delay_ns", Column::Delay(1_000)),
    ("delay_us", Column::Delay(1_000_000)),
    ("delay_s", Column::Delay(1_000_000_000_000)),
];

struct Row<'a> {
    flow: Flow,
    named: Named<'a>,
    line: usize,
    dst_at: usize,
    sport_at: usize,
    name_at: usize,
    after: &'a str,
    after_at: usize,
    delay_at: Option<usize>,
}

impl<'a> Row<'a> {
    /// Errors state the allowed values.
    fn read(
        &mut self,
        kind: Column,
        text: &'a str,
        begin: usize,
        entry: &Entry<'_>,
        out: &mut Collector,
    ) -> Result<(), String> {
        const TIME: &str = "a time of 0 or more, below 4000 s, without a unit";
        const START: &str = "a time from the start of the run, 0 or more and below 4000 s, without a unit";
        const PORT: &str = "a port, 1 to 65535";
        let flow = &mut self.flow;
        match kind {
            Column::Src => flow.src = host(text, entry)?,
            Column::Dst => (flow.dst, self.dst_at) = (host(text, entry)?, begin),
            Column::Size => match table_file::whole(text) {
                Some(bytes) if bytes > 0 => flow.size.0 = bytes,
                _ => return Err("a whole number of bytes, at least 1".into()),
            },
            Column::Start(factor) => {
                let start = time(text, factor).and_then(|start| start.0.checked_add(entry.start.0));
                flow.start = start.map(Time).filter(|start| *start < MAX_TIME).ok_or(START)?;
            }
            // Optional columns.
            _ if text.is_empty() => {}
            Column::Priority => match text.parse() {
                Ok(priority) if is_priority(priority) => flow.priority = priority,
                _ => return Err(PRIORITY_RULE.into()),
            },
            Column::Label if !is_label(text) => return Err(LABEL_RULE.into()),
            Column::Label => flow.label = out.label(text).ok_or("one of at most 65536 labels")?,
            Column::Sport => (flow.sport, self.sport_at) = (port(text).ok_or(PORT)?, begin),
            Column::Dport => flow.dport = port(text).ok_or(PORT)?,
            Column::Name if text.contains(char::is_whitespace) => return Err("a name without blanks".into()),
            Column::Name => (self.named.name, self.name_at) = (Some(text), begin),
            Column::After => {
                self.named.after = text.split_whitespace().collect();
                (self.after, self.after_at) = (text, begin);
            }
            Column::Delay(factor) => {
                (self.named.delay, self.delay_at) =
                    (time(text, factor).filter(|delay| *delay < MAX_TIME).ok_or(TIME)?, Some(begin));
            }
        }
        Ok(())
    }

    fn check(&self, file: &Path, entry: &Entry<'_>) -> Result<(), EntryError> {
        let place = |column| Place { file, line: self.line, column };
        let flow = &self.flow;
        if flow.sport != UNASSIGNED && entry.qps > 1 {
            let allowed = "empty if messages are split over several queue pairs (qps)";
            return Err(EntryError::file(&place(self.sport_at), flow.sport, allowed));
        }
        if flow.src == flow.dst {
            return Err(EntryError::file(&place(self.dst_at), flow.dst.0, "another host than src"));
        }
        match self.delay_at.filter(|_| self.named.after.is_empty() && self.named.delay > Time::ZERO) {
            Some(at) => Err(EntryError::file(&place(at), self.named.delay, "0 or empty: there is no after")),
            None => Ok(()),
        }
    }
}

/// `first`: number of the first flow.
fn add_gates(
    rows: Vec<Row<'_>>,
    first: u32,
    file: &Path,
    entry: &Entry<'_>,
    out: &mut Collector,
) -> Result<(), EntryError> {
    let named: Vec<Named<'_>> = rows.iter().map(|row| row.named.clone()).collect();
    let gates = gates(&named, |index, spot, value, allowed| {
        let row = &rows[index];
        let column = match spot {
            Spot::Name => row.name_at,
            // Names are parts of the cell: their offset is the error's position.
            Spot::After(nth) => {
                let before = row.named.after[nth].as_ptr() as usize - row.after.as_ptr() as usize;
                row.after_at + row.after[..before].chars().count()
            }
        };
        EntryError::file(&Place { file, line: row.line, column }, value, allowed)
    })?;
    out.gates_from(first, gates, entry);
    Ok(())
}

fn parse(text: &str, file: &Path, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate();
    let (_, header) = lines.next().unwrap_or_default();
    let columns = columns(header, file)?;
    let waits = columns.iter().any(|column| matches!(column, Column::Name | Column::After | Column::Delay(_)));
    let mut rows = Vec::new();
    let mut first = None;
    for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let place = |column| Place { file, line: index + 1, column };
        let count = line.split(',').count();
        if count != columns.len() {
            let allowed = format!("{} cells, as in the header; there are {count}", columns.len());
            return Err(EntryError::file(&place(1), line.trim(), allowed));
        }
        let flow = entry.flow(HostId(0), HostId(0), 0, entry.start);
        let mut row = Row {
            flow,
            named: Named::default(),
            line: index + 1,
            dst_at: 1,
            sport_at: 1,
            name_at: 1,
            after: "",
            after_at: 1,
            delay_at: None,
        };
        let mut column = 1;
        for (cell, kind) in line.split(',').zip(&columns) {
            let text = cell.trim();
            let begin = column + cell.chars().take_while(|c| c.is_whitespace()).count();
            column += cell.chars().count() + 1;
            row.read(*kind, text, begin, entry, out)
                .map_err(|allowed| EntryError::file(&place(begin), text, allowed))?;
        }
        row.check(file, entry)?;
        let number = out.push(row.flow.clone())?;
        first.get_or_insert(number);
        if waits {
            rows.push(row);
        }
    }
    add_gates(rows, first.unwrap_or_default(), file, entry, out)
}

fn columns(header: &str, file: &Path) -> Result<Vec<Column>, EntryError> {
    let names = || COLUMNS.iter().map(|(name, _)| *name);
    let mut found: Vec<Column> = Vec::new();
    let mut column = 1;
    for cell in header.split(',') {
        let name = cell.trim();
        let place = Place { file, line: 1, column: column + cell.chars().take_while(|c| c.is_whitespace()).count() };
        column += cell.chars().count() + 1;
        let Some((_, kind)) = COLUMNS.iter().find(|(known, _)| *known == name) else {
            if name.contains([';', '\t']) {
                return Err(EntryError::file(&place, name, "columns separated by commas"));
            }
            let allowed = format!("a column of a trace ({})", names().collect::<Vec<_>>().join(", "));
            return Err(EntryError::file(&place, name, allowed).near(names()));
        };
        if found.iter().any(|other| std::mem::discriminant(other) == std::mem::discriminant(kind)) {
            return Err(EntryError::file(&place, name, "the only column of its kind"));
        }
        found.push(*kind);
    }
    let missing = |wanted: Column, name| {
        let there = found.iter().any(|other| std::mem::discriminant(other) == std::mem::discriminant(&wanted));
        (!there).then_some(name)
    };
    let start = "start_ps, start_ns, start_us or start_s";
    let needed = [(Column::Src, "src"), (Column::Dst, "dst"), (Column::Size, "size_bytes"), (Column::Start(1), start)];
    match needed.into_iter().find_map(|(column, name)| missing(column, name)) {
        None => Ok(found),
        Some(name) => {
            let place = Place { file, line: 1, column: 1 };
            Err(EntryError::file(&place, header.trim(), format!("a header with a column {name}")))
        }
    }
}

fn host(text: &str, entry: &Entry<'_>) -> Result<HostId, String> {
    let host = text.parse().ok().filter(|&host| host < entry.host_count());
    host.map(HostId).ok_or_else(|| entry.members.numbers())
}

fn port(text: &str) -> Option<u16> {
    text.parse().ok().filter(|&port| port > 0)
}

/// In units of `factor` ps. Whole numbers are exact; others are read as the binary fraction that the program most likely had.
fn time(text: &str, factor: u64) -> Option<Time> {
    if let Ok(whole) = text.parse::<u64>() {
        return whole.checked_mul(factor).map(Time);
    }
    let ps = (text.parse::<f64>().ok()? * factor as f64).round();
    (ps >= 0.0 && ps < u64::MAX as f64).then_some(Time(ps as u64))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::{folder, generate_in, pattern, refused_in, star};
    use super::*;
    use crate::flow::{FlowSet, Gate};
    use crate::units::Rate;

    fn read(text: &str) -> Result<FlowSet, EntryError> {
        let folder = folder();
        fs::write(folder.path().join("t.csv"), text).unwrap();
        generate_in(folder.path(), &star(16, Rate::gbps(100)), &pattern("trace", r#"{"file": "t.csv"}"#), 1)
    }

    fn why(text: &str) -> String {
        let message = read(text).unwrap_err().to_string();
        message[message.find("t.csv").unwrap()..].to_owned()
    }

    #[test]
    fn columns_come_in_any_order_and_unit() {
        let set = read("start_us, dst, src, size_bytes\n2.5,1,0,1000\r\n\n1e-6,3,2,7\n").unwrap();
        let got: Vec<_> = set.flows.iter().map(|f| (f.src.0, f.dst.0, f.size.0, f.start.0, f.sport, f.dport)).collect();
        assert_eq!(got, [(2, 3, 7, 1, 10000, 100), (0, 1, 1000, 2_500_000, 10000, 100)]);
        assert_eq!((set.labels[0].as_str(), set.flows[0].priority), ("trace", 3));
        // Script output for 0.1 + 0.2.
        for row in ["start_s\n0,1,1,0.30000000000000004\n", "start_ns\n0,1,1,300000000\n"] {
            assert_eq!(read(&format!("src,dst,size_bytes,{row}")).unwrap().flows[0].start, Time::ms(300));
        }
        let set =
            read("src,dst,size_bytes,start_ns,priority,label,sport,dport\n0,1,1,0,,,,\n0,1,1,0,6,bulk,7,8\n").unwrap();
        let got: Vec<_> = set.flows.iter().map(|f| (f.priority, f.label, f.sport, f.dport)).collect();
        assert_eq!((got, set.labels), (vec![(3, 0, 10000, 100), (6, 1, 7, 8)], vec!["trace".into(), "bulk".into()]));
        assert_eq!(read("src,dst,size_bytes,start_ns,label\n0,1,1,0,bulk\n").unwrap().labels, ["bulk"]);
    }

    #[test]
    fn starts_count_from_the_entry() {
        let folder = folder();
        fs::write(folder.path().join("t.csv"), "src,dst,size_bytes,start_us\n0,1,1,2\n").unwrap();
        let mut spec = pattern("trace", r#"{"file": "t.csv"}"#);
        spec.start = Time::us(5);
        let set = generate_in(folder.path(), &star(2, Rate::gbps(1)), &spec, 1).unwrap();
        assert_eq!(set.flows[0].start, Time::us(7));
    }

    #[test]
    fn faults_are_located() {
        let row =
            |row: &str| why(&format!("src,dst,size_bytes,start_ns,priority,label,sport,dport\n0,1,1,0,,,,\n{row}\n"));
        assert_eq!(
            why("src,dts,size_bytes,start_ps\n"),
            "t.csv:1:5: `dts`: must be a column of a trace (src, dst, size_bytes, start_ps, start_ns, start_us, \
             start_s, priority, label, sport, dport, name, after, delay_ps, delay_ns, delay_us, delay_s); did you mean `dst`?"
        );
        assert_eq!(
            why("src,dst,start_ps\n"),
            "t.csv:1:1: `src,dst,start_ps`: must be a header with a column size_bytes"
        );
        assert_eq!(why("src,dst,start_ps,start_s\n"), "t.csv:1:18: `start_s`: must be the only column of its kind");
        assert!(why("").starts_with("t.csv:1:1: ``: must be a column of a trace"));
        assert_eq!(why("src;dst;size_bytes\n"), "t.csv:1:1: `src;dst;size_bytes`: must be columns separated by commas");
        let since_1970 =
            "t.csv:3:7: `1700000000000000000000`: must be a time from the start of the run, 0 or more and below 4000 s";
        assert!(row("0,1,1,1700000000000000000000,,,,").starts_with(since_1970));
        assert_eq!(row("0,1,1"), "t.csv:3:1: `0,1,1`: must be 8 cells, as in the header; there are 3");
        assert_eq!(row("16,1,1,0,,,,"), "t.csv:3:1: `16`: must be a host of this fabric, 0 to 15");
        assert_eq!(row("0, x,1,0,,,,"), "t.csv:3:4: `x`: must be a host of this fabric, 0 to 15");
        assert_eq!(row("3,3,1,0,,,,"), "t.csv:3:3: `3`: must be another host than src");
        assert_eq!(row("0,1,0,0,,,,"), "t.csv:3:5: `0`: must be a whole number of bytes, at least 1");
        assert_eq!(row("0,1,1kB,0,,,,"), "t.csv:3:5: `1kB`: must be a whole number of bytes, at least 1");
        assert!(read("src,dst,size_bytes,start_ns\n0,1,1000.0,0\n").is_ok());
        assert_eq!(row("0,1,1.5,0,,,,"), "t.csv:3:5: `1.5`: must be a whole number of bytes, at least 1");
        assert_eq!(
            row("0,1,1,-1,,,,"),
            "t.csv:3:7: `-1`: must be a time from the start of the run, 0 or more and below 4000 s, without a unit"
        );
        assert_eq!(
            row("0,1,1,nan,,,,"),
            "t.csv:3:7: `nan`: must be a time from the start of the run, 0 or more and below 4000 s, without a unit"
        );
        assert_eq!(row("0,1,1,0,8,,,"), "t.csv:3:9: `8`: must be a traffic class, 1 to 7 (0 carries PFC frames)");
        assert!(
            row("0,1,1,0,,\"a\",,")
                .starts_with("t.csv:3:10: `\"a\"`: must be a name of at most 200 characters without commas")
        );
        assert_eq!(row("0,1,1,0,,,0,"), "t.csv:3:11: `0`: must be a port, 1 to 65535");
        assert_eq!(row("0,1,1,0,,,,65536"), "t.csv:3:12: `65536`: must be a port, 1 to 65535");
        let folder = folder();
        let spec = pattern("trace", r#"{"file": "none.csv"}"#);
        let message = refused_in(folder.path(), &star(2, Rate::gbps(1)), &spec);
        assert!(message.starts_with("workload[0].trace.file: cannot read /"), "{message}");
    }

    #[test]
    fn flows_of_a_trace_wait() {
        let header = "src,dst,size_bytes,start_us,name,after,delay_ns\n";
        let set = read(&format!("{header}0,1,7,5,a,,\n1,0,8,1,,b  a,30\n2,1,9,0,b,,\n3,1,6,0,,b,\n")).unwrap();
        assert_eq!(set.flows.iter().map(|flow| flow.size.0).collect::<Vec<_>>(), [9, 6, 8, 7]);
        let gate = |waits_for: &[u32], ns, starts: &[u32]| Gate {
            waits_for: waits_for.to_vec(),
            delay: Time::ns(ns),
            starts: starts.to_vec(),
            round: None,
        };
        assert_eq!(set.gates, [gate(&[0, 3], 30, &[2]), gate(&[0], 0, &[1])]);
        let row = |rows: &str| why(&format!("{header}0,1,1,0,first,,\n{rows}\n"));
        assert_eq!(row("0,1,1,0,,,3"), "t.csv:3:11: `3ns`: must be 0 or empty: there is no after");
        assert_eq!(
            row("0,1,1,0,,first,x"),
            "t.csv:3:16: `x`: must be a time of 0 or more, below 4000 s, without a unit"
        );
        assert_eq!(row("0,1,1,0,x y,,"), "t.csv:3:9: `x y`: must be a name without blanks");
        assert_eq!(row("0,1,1,0,first,,"), "t.csv:3:9: `first`: must be a name of its own: another flow has this one");
        assert_eq!(
            row("0,1,1,0,x, first frist,"),
            "t.csv:3:18: `frist`: must be the name of another flow here; did you mean `first`?"
        );
        assert!(row("0,1,1,0,x,x,").starts_with("t.csv:3:11: `x after x`: must be "));
    }

    #[test]
    fn a_port_cannot_be_that_of_several_queue_pairs() {
        let folder = folder();
        fs::write(folder.path().join("t.csv"), "src,dst,size_bytes,start_us,sport\n0,1,9,2,\n0,1,9,2,77\n").unwrap();
        let mut spec = pattern("trace", r#"{"file": "t.csv"}"#);
        spec.qps = 2;
        let message = refused_in(folder.path(), &star(2, Rate::gbps(1)), &spec);
        assert!(
            message.ends_with("t.csv:3:9: `77`: must be empty if messages are split over several queue pairs (qps)")
        );
    }
}
