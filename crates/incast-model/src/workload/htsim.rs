use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry::{Collector, Entry, Pattern};
use super::members::Members;
use crate::entry::{EntryError, Place};
use crate::fabric::HostId;
use crate::flow::Gate;
use crate::gates::cycle;
use crate::input;
use crate::units::Time;

/// Replays a connection matrix (`.cm`) of htsim as its loader reads it (Broadcom/csg-htsim, commit 841d9e7,
/// `sim/datacenter/connection_matrix.cpp`): `Nodes`, `Connections`, `Triggers`, and lines such as `0->1 id 1 start 0
/// size 2000000 send_done_trigger 1`. Starts are picoseconds after the entry's start.
///
/// A flow behind a trigger starts when the flows that activate it have ended: one for a `oneshot`, its count for a
/// `barrier`. In htsim a trigger acts at any host without delay, when the sender has the last ACK (`send_done_trigger`)
/// or the receiver the last byte (`recv_done_trigger`). Here a flow of the same sender waits for the ACK, one of
/// another host for the last byte. Refused: link failures, pull priorities, `multishot` triggers, `addon`, endless
/// flows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Htsim {
    /// Connection matrix, relative to the scenario's folder.
    pub file: PathBuf,
}

impl Pattern for Htsim {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let file = entry.base_dir.join(&self.file);
        match input::read_text(&file, input::LARGE) {
            Ok(text) => Matrix::parse(&text, &file, entry.members)?.add(entry, out),
            Err(error) => Err(EntryError::unreadable(entry.field("file"), &file, error)),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    place: Place<'a>,
}

impl<'a> Word<'a> {
    fn refuse(&self, allowed: impl Into<String>) -> EntryError {
        EntryError::file(&self.place, self.text, allowed)
    }

    fn number<T: FromStr>(&self, allowed: &str) -> Result<T, EntryError> {
        self.text.parse().map_err(|_| self.refuse(allowed))
    }

    fn all(line: &'a str, number: usize, file: &'a Path) -> Vec<Self> {
        let mut words = Vec::new();
        let mut column = 1;
        for text in line.split([' ', '\t', '\r']) {
            if !text.is_empty() {
                words.push(Self { text, place: Place { file, line: number, column } });
            }
            column += text.chars().count() + 1;
        }
        words
    }
}

struct Connection<'a> {
    src: u32,
    dst: u32,
    size: u64,
    start: Time,
    trigger: Option<(u32, Word<'a>)>,
    activates: Vec<(u32, Word<'a>)>,
}

struct Trigger<'a> {
    line: Word<'a>,
    count: usize,
}

#[derive(Default)]
struct Matrix<'a> {
    connections: Vec<Connection<'a>>,
    triggers: BTreeMap<u32, Trigger<'a>>,
    header: BTreeMap<&'static str, (usize, Word<'a>)>,
}

const HEADER: [&str; 4] = ["Nodes", "Connections", "Triggers", "Failures"];
const TWICE: &str = "omitted: it was given before";
const CONNECTION: [&str; 6] = ["id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger"];
const ID: &str = "a whole number from 1 to 4294967295";

impl<'a> Matrix<'a> {
    fn parse(text: &'a str, file: &'a Path, members: Members<'_>) -> Result<Self, EntryError> {
        let hosts = members.count();
        let mut matrix = Self::default();
        let mut ids = BTreeMap::new();
        for (index, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
            let words = Word::all(line, index + 1, file);
            let Some(&first) = words.first().filter(|word| !word.text.starts_with('#')) else { continue };
            if let Some(name) = HEADER.iter().find(|name| **name == first.text) {
                let count = value(&words, 0)?.number("a whole number")?;
                if let Some(more) = words.get(2) {
                    return Err(more.refuse("omitted: one number belongs here"));
                }
                if matrix.header.insert(name, (count, words[1])).is_some() {
                    return Err(first.refuse(TWICE));
                }
            } else if first.text == "trigger" {
                matrix.trigger(&words)?;
            } else if first.text.contains("->") {
                let (connection, id) = connection(&words, members)?;
                if let Some((id, word)) = id
                    && ids.insert(id, ()).is_some()
                {
                    return Err(word.refuse("an id that no connection has yet"));
                }
                matrix.connections.push(connection);
            } else if first.text == "failure" {
                return Err(first.refuse("omitted: a connection matrix cannot fail links here"));
            } else {
                let names = HEADER.into_iter().chain(["trigger"]);
                return Err(first
                    .refuse("a connection `0->1 ...`, a trigger, or Nodes, Connections, Triggers")
                    .near(names));
            }
        }
        if let Some((nodes, word)) = matrix.header.get("Nodes") {
            let used = matrix.connections.iter().map(|one| one.src.max(one.dst) as usize + 1).max().unwrap_or(0);
            if *nodes > hosts as usize {
                return Err(word.refuse(format!("at most {hosts}, the hosts of this fabric")));
            }
            if *nodes < used {
                return Err(word.refuse(format!("at least {used}: connections have host {}", used - 1)));
            }
        }
        matrix.check_count("Connections", matrix.connections.len())?;
        matrix.check_count("Triggers", matrix.triggers.len())?;
        matrix.check_count("Failures", 0)?;
        if matrix.connections.is_empty() {
            return Err(EntryError::file(&Place { file, line: 1, column: 1 }, "", "connections `0->1 ...`"));
        }
        Ok(matrix)
    }

    fn check_count(&self, name: &'static str, found: usize) -> Result<(), EntryError> {
        match self.header.get(name) {
            Some((count, word)) if *count != found => Err(word.refuse(format!("{found}, as many as there are lines"))),
            _ => Ok(()),
        }
    }

    /// Such as `trigger id 1 oneshot` or `trigger id 2 barrier count 4`.
    fn trigger(&mut self, words: &[Word<'a>]) -> Result<(), EntryError> {
        let (mut id, mut count, mut kind) = (None, None, None);
        let mut at = 1;
        while let Some(word) = words.get(at) {
            match word.text {
                "id" if id.is_none() => id = Some(positive(value(words, at)?)?),
                "count" if count.is_none() => count = Some(positive(value(words, at)?)?),
                "oneshot" | "barrier" if kind.is_none() => kind = Some(word.text),
                "id" | "count" | "oneshot" | "barrier" => return Err(word.refuse(TWICE)),
                "multishot" => return Err(word.refuse("oneshot or barrier: which flow it starts depends on the run")),
                _ => return Err(word.refuse("one of id, count, oneshot, barrier")),
            }
            at += if matches!(word.text, "id" | "count") { 2 } else { 1 };
        }
        let line = words[0];
        let id = id.ok_or_else(|| line.refuse("a trigger with an id"))?;
        let count = match (kind, count) {
            (Some("oneshot"), None) => 1,
            (Some("oneshot"), Some(_)) => return Err(line.refuse("a oneshot without a count, or a barrier")),
            (Some(_), Some(count)) => count as usize,
            (Some(_), None) => return Err(line.refuse("a barrier with a count")),
            (None, _) => return Err(line.refuse("a trigger that is oneshot or barrier")),
        };
        if self.triggers.insert(id, Trigger { line, count }).is_some() {
            return Err(line.refuse(format!("a trigger with another id than {id}")));
        }
        Ok(())
    }

    fn add(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        self.check_triggers()?;
        let gates = self.gates();
        if let Some(found) = cycle(self.connections.len(), &gates) {
            let (_, word) = self.connections[found[0] as usize].trigger.expect("who waits has a trigger");
            return Err(word.refuse("a trigger that does not wait for the flow that it starts"));
        }
        let mut first = None;
        for one in &self.connections {
            let start = entry.after("file", one.start)?;
            let flow = out.push(entry.flow(HostId(one.src), HostId(one.dst), one.size, start))?;
            first.get_or_insert(flow);
        }
        let first = first.unwrap_or_default();
        out.gates_from(first, gates, entry);
        Ok(())
    }

    /// Gates, over places in the file.
    fn gates(&self) -> Vec<Gate> {
        let gate = || Gate { waits_for: Vec::new(), delay: Time::ZERO, starts: Vec::new(), round: None };
        let mut gates: BTreeMap<u32, Gate> = BTreeMap::new();
        for (flow, one) in (0..).zip(&self.connections) {
            for (trigger, _) in &one.activates {
                gates.entry(*trigger).or_insert_with(gate).waits_for.push(flow);
            }
            if let Some((trigger, _)) = one.trigger {
                gates.entry(trigger).or_insert_with(gate).starts.push(flow);
            }
        }
        gates.into_values().filter(|gate| !gate.starts.is_empty()).collect()
    }

    /// Triggers exist, and are activated as often as they wait for.
    fn check_triggers(&self) -> Result<(), EntryError> {
        let mut activated: BTreeMap<u32, usize> = BTreeMap::new();
        for (trigger, word) in self.connections.iter().flat_map(|one| one.activates.iter().chain(&one.trigger)) {
            if !self.triggers.contains_key(trigger) {
                return Err(word.refuse("the id of a trigger of this file"));
            }
        }
        for (trigger, _) in self.connections.iter().flat_map(|one| &one.activates) {
            *activated.entry(*trigger).or_default() += 1;
        }
        for (id, trigger) in &self.triggers {
            let found = activated.get(id).copied().unwrap_or(0);
            if found != trigger.count {
                let allowed = format!("activated by {} flow(s), as it waits for; {found} do", trigger.count);
                return Err(trigger.line.refuse(allowed));
            }
        }
        Ok(())
    }
}

fn value<'w, 'a>(words: &'w [Word<'a>], at: usize) -> Result<&'w Word<'a>, EntryError> {
    words.get(at + 1).ok_or_else(|| words[at].refuse("followed by a value"))
}

fn positive(word: &Word<'_>) -> Result<u32, EntryError> {
    let number = word.number(ID)?;
    if number == 0 { Err(word.refuse(ID)) } else { Ok(number) }
}

fn connection<'a>(
    words: &[Word<'a>],
    members: Members<'_>,
) -> Result<(Connection<'a>, Option<(u32, Word<'a>)>), EntryError> {
    let first = words[0];
    let ends = first.text.split_once("->").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let (src, dst): (u32, u32) = ends.ok_or_else(|| first.refuse("two host numbers, such as 0->1"))?;
    if src.max(dst) >= members.count() {
        return Err(first.refuse(format!("from and to {}", members.numbers())));
    }
    if src == dst {
        return Err(first.refuse("two different hosts"));
    }
    let (mut id, mut size, mut start, mut trigger, mut activates) = (None, None, None, None, Vec::new());
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let given = match word.text {
            "id" => id.is_some(),
            "size" => size.is_some(),
            "start" => start.is_some(),
            "trigger" => trigger.is_some(),
            _ => false,
        };
        if given {
            return Err(word.refuse(TWICE));
        }
        match word.text {
            "id" => id = Some((positive(value(words, at)?)?, words[at + 1])),
            "size" => size = Some(u64::from(positive(value(words, at)?)?)),
            "start" => start = Some(picoseconds(value(words, at)?)?),
            "trigger" => trigger = Some((positive(value(words, at)?)?, words[at + 1])),
            "send_done_trigger" | "recv_done_trigger" => {
                let done = (positive(value(words, at)?)?, words[at + 1]);
                if activates.iter().any(|(known, _): &(u32, Word<'_>)| *known == done.0) {
                    return Err(done.1.refuse("another trigger than the one this flow activates already"));
                }
                activates.push(done);
            }
            "prio" => return Err(word.refuse("omitted: receivers here do not rank flows")),
            "addon" => return Err(word.refuse("omitted: flows cannot be extended here")),
            _ => return Err(word.refuse(format!("one of {}", CONNECTION.join(", "))).near(CONNECTION)),
        }
        at += 2;
    }
    if start.is_some() == trigger.is_some() {
        return Err(first.refuse("followed by either start or trigger"));
    }
    let size = size.ok_or_else(|| first.refuse("followed by a size"))?;
    Ok((Connection { src, dst, size, start: start.unwrap_or_default(), trigger, activates }, id))
}

fn picoseconds(word: &Word<'_>) -> Result<Time, EntryError> {
    const ALLOWED: &str = "a time in picoseconds, 0 or more";
    if let Ok(whole) = word.text.parse() {
        return Ok(Time(whole));
    }
    let ps: f64 = word.number(ALLOWED)?;
    if ps >= 0.0 && ps < u64::MAX as f64 { Ok(Time(ps.round() as u64)) } else { Err(word.refuse(ALLOWED)) }
}

#[cfg(test)]
mod tests {
    use super::super::collective::tests::depths;
    use super::super::testing::{folder, generate_in, pattern, star};
    use super::*;
    use crate::flow::FlowSet;
    use crate::units::Rate;

    fn read(text: &str) -> Result<FlowSet, EntryError> {
        let folder = folder();
        std::fs::write(folder.path().join("m.cm"), text).unwrap();
        generate_in(folder.path(), &star(16, Rate::gbps(100)), &pattern("htsim", r#"{"file": "m.cm"}"#), 1)
    }

    fn why(text: &str) -> String {
        let message = read(text).unwrap_err().to_string();
        message[message.find("m.cm").unwrap()..].to_owned()
    }

    #[test]
    fn connections_with_starts() {
        // Form of bidir.cm and permutations.
        let set =
            read("Nodes 16\nConnections 2\n0->13 start 0 size 2000000\n13->0 id 7 start 1500.4 size 9\n").unwrap();
        let got: Vec<_> = set.flows.iter().map(|f| (f.src.0, f.dst.0, f.size.0, f.start.0)).collect();
        assert_eq!(got, [(0, 13, 2_000_000, 0), (13, 0, 9, 1500)]);
        assert_eq!((set.labels, set.gates.len()), (vec!["htsim".to_owned()], 0));
    }

    #[test]
    fn triggers_chain_flows() {
        // Form of gen_serial_alltoall.py: a host's flow waits for its previous one.
        let text = "Nodes 4\nConnections 3\nTriggers 2\n\
                    0->1 id 1 start 0 size 10 send_done_trigger 1\n\
                    0->2 id 2 trigger 1 size 20 send_done_trigger 2\n\
                    0->3 id 3 trigger 2 size 30\n\
                    trigger id 1 oneshot\ntrigger id 2 oneshot\n";
        let set = read(text).unwrap();
        assert_eq!(depths(&set), [0, 1, 2]);
        assert_eq!(set.gates[1].waits_for, [1]);
    }

    #[test]
    fn barriers_wait_for_all_and_start_all() {
        let text = "# two, then two\nConnections 4\nTriggers 1\n\
                    trigger id 9 barrier count 2\n\
                    0->1 id 1 start 0 size 10 recv_done_trigger 9\n\
                    2->3 id 2 start 5 size 10 recv_done_trigger 9\n\
                    1->0 id 3 trigger 9 size 10\n3->2 id 4 trigger 9 size 10\n";
        let set = read(text).unwrap();
        assert_eq!(set.gates.len(), 1);
        let ends = |flows: &[u32]| flows.iter().map(|&flow| set.flows[flow as usize].src.0).collect::<Vec<_>>();
        assert_eq!((ends(&set.gates[0].waits_for), ends(&set.gates[0].starts)), (vec![0, 2], vec![1, 3]));
    }

    #[test]
    fn faults_are_located() {
        let line = |line: &str| why(&format!("Nodes 16\n{line}\n"));
        assert_eq!(
            line("0->16 start 0 size 1"),
            "m.cm:2:1: `0->16`: must be from and to a host of this fabric, 0 to 15"
        );
        assert_eq!(line("3->3 start 0 size 1"), "m.cm:2:1: `3->3`: must be two different hosts");
        assert_eq!(line("0->x start 0 size 1"), "m.cm:2:1: `0->x`: must be two host numbers, such as 0->1");
        assert_eq!(
            line("0->1 strat 0 size 1"),
            "m.cm:2:6: `strat`: must be one of id, start, size, trigger, send_done_trigger, recv_done_trigger; did you \
             mean `start`?"
        );
        assert_eq!(line("0->1 start 0 size 0"), "m.cm:2:19: `0`: must be a whole number from 1 to 4294967295");
        let twice = |text: &str, place: &str| {
            assert_eq!(line(text), format!("m.cm:2:{place}: must be omitted: it was given before"));
        };
        twice("0->1 start 0 start 7 size 5", "14: `start`");
        twice("0->1 start 0 size 5 size 5", "21: `size`");
        twice("Nodes 4", "1: `Nodes`");
        twice("trigger id 1 oneshot barrier count 1", "22: `barrier`");
        assert_eq!(line("Triggers 0 9"), "m.cm:2:12: `9`: must be omitted: one number belongs here");
        assert!(line("trigger id 1 oneshot count 3").ends_with("must be a oneshot without a count, or a barrier"));
        assert_eq!(why("Nodes 2\n0->5 start 0 size 1\n"), "m.cm:1:7: `2`: must be at least 6: connections have host 5");
        assert_eq!(line("0->1 start -1 size 1"), "m.cm:2:12: `-1`: must be a time in picoseconds, 0 or more");
        assert_eq!(line("0->1 start 0"), "m.cm:2:1: `0->1`: must be followed by a size");
        assert_eq!(line("0->1 size 5"), "m.cm:2:1: `0->1`: must be followed by either start or trigger");
        assert_eq!(line("0->1 start 0 size"), "m.cm:2:14: `size`: must be followed by a value");
        assert_eq!(
            line("0->1 start 0 size 5 prio 3"),
            "m.cm:2:21: `prio`: must be omitted: receivers here do not rank flows"
        );
        assert!(line("failure switch_type TOR").starts_with("m.cm:2:1: `failure`: must be omitted: "));
        assert!(line("trigger id 1 multishot").starts_with("m.cm:2:14: `multishot`: must be oneshot or barrier"));
        assert!(line("Conections 3").ends_with("did you mean `Connections`?"));
        assert_eq!(
            why("\u{feff}Nodes 17\n0->1 start 0 size 1\n"),
            "m.cm:1:7: `17`: must be at most 16, the hosts of this fabric"
        );
        assert_eq!(
            why("Connections 2\n0->1 start 0 size 1\n"),
            "m.cm:1:13: `2`: must be 1, as many as there are lines"
        );
        assert_eq!(
            why("0->1 id 1 start 0 size 1\n0->1 id 1 start 0 size 1\n"),
            "m.cm:2:9: `1`: must be an id that no connection has yet"
        );
        assert_eq!(why("Nodes 4\n"), "m.cm:1:1: ``: must be connections `0->1 ...`");
    }

    #[test]
    fn triggers_that_never_act_are_refused() {
        assert_eq!(why("0->1 id 1 trigger 4 size 1\n"), "m.cm:1:19: `4`: must be the id of a trigger of this file");
        assert_eq!(
            why("trigger id 4 oneshot\n0->1 id 1 trigger 4 size 1\n"),
            "m.cm:1:1: `trigger`: must be activated by 1 flow(s), as it waits for; 0 do"
        );
        let cyclic = "trigger id 4 oneshot\ntrigger id 5 oneshot\n0->1 id 1 trigger 4 size 1 send_done_trigger 5\n\
                      1->0 id 2 trigger 5 size 1 send_done_trigger 4\n";
        assert_eq!(why(cyclic), "m.cm:3:19: `4`: must be a trigger that does not wait for the flow that it starts");
        assert!(why("trigger id 4 barrier\n0->1 start 0 size 1\n").ends_with("must be a barrier with a count"));
    }
}
