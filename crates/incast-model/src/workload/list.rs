use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::backlog::{Amounts, MessageSize};
use super::entry::{Collector, Entry, Pattern};
use super::waits::{Named, Spot, gates};
use crate::entry::EntryError;
use crate::fabric::{HostId, NodeId, NodeKind};
use crate::flow::Gate;
use crate::range::priority;
use crate::units::{Bytes, Time};

/// Flows of a list, optionally with explicit paths and dependencies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedFlow {
    /// Sending host, from 0.
    pub src: u32,
    /// Receiving host, from 0; not the sender.
    pub dst: u32,
    /// Payload, at least 1 B; or `backlogged` (TCP and UDP): always data to send until the entry's `end` or the end of the
    /// run.
    pub size: MessageSize,
    /// Start, after the entry's start. Default 0.
    #[serde(default)]
    pub start: Time,
    /// Traffic class, 1 to 7. Default: the entry's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = priority().named("a traffic class"))]
    pub priority: Option<u8>,
    /// Path of its packets: names of all nodes from sender to receiver; ACKs take the same path back. Default: routing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Vec<String>>,
    /// Name for `after` of other flows of this list; unique. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Names of the flows of this list that must end before this one starts: with the last ACK if its sender sent them,
    /// else with the last byte. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// Time between the end of the last of those flows and this start, which is never before `start`; needs `after`.
    /// Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
}

impl Pattern for Vec<ListedFlow> {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        if self.is_empty() {
            return Err(EntryError::field(&entry.path, "[]", "at least one flow"));
        }
        let gates = waits(self, entry)?;
        let mut first = None;
        for (index, flow) in self.iter().enumerate() {
            let number = flow.add(index, entry, out)?;
            first.get_or_insert(number);
        }
        let first = first.unwrap_or_default();
        out.gates_from(first, gates, entry);
        Ok(())
    }
}

/// Gates over places in the list.
fn waits(list: &[ListedFlow], entry: &Entry<'_>) -> Result<Vec<Gate>, EntryError> {
    let at = |index: usize, name: &str| format!("{}[{index}].{name}", entry.path);
    let lonely = list.iter().enumerate().filter(|(_, flow)| flow.after.is_empty());
    if let Some((index, delay)) = lonely.filter_map(|(index, flow)| Some((index, flow.delay?))).next() {
        return Err(EntryError::field(at(index, "delay"), delay, "omitted: there is no after"));
    }
    let named: Vec<Named<'_>> = list.iter().map(ListedFlow::named).collect();
    let gates = gates(&named, |index, spot, value, allowed| {
        let field = match spot {
            Spot::Name => "name".to_owned(),
            Spot::After(nth) => format!("after[{nth}]"),
        };
        EntryError::field(at(index, &field), value, allowed)
    })?;
    for gate in &gates {
        let endless = |flow: &u32| list[*flow as usize].size == MessageSize::Backlogged;
        if let (Some(nth), Some(&waiting)) = (gate.waits_for.iter().position(endless), gate.starts.first()) {
            let field = at(waiting as usize, &format!("after[{nth}]"));
            let name = &list[waiting as usize].after[nth];
            return Err(EntryError::field(field, name, "a flow with a size of its own: this one is backlogged"));
        }
    }
    Ok(gates)
}

impl ListedFlow {
    fn named(&self) -> Named<'_> {
        Named {
            name: self.name.as_deref(),
            after: self.after.iter().map(String::as_str).collect(),
            delay: self.delay.unwrap_or_default(),
        }
    }

    fn add(&self, index: usize, entry: &Entry<'_>, out: &mut Collector) -> Result<u32, EntryError> {
        let field = |name: &str| format!("{}[{index}].{name}", entry.path);
        for (name, host) in [("src", self.src), ("dst", self.dst)] {
            if host >= entry.host_count() {
                return Err(EntryError::field(field(name), host, entry.members.numbers()));
            }
        }
        if self.src == self.dst {
            return Err(EntryError::field(field("dst"), self.dst, "another host than src"));
        }
        let start = entry.start.0.checked_add(self.start.0).map(Time);
        let horizon = entry.horizon.unwrap_or(Time::MAX);
        let Some(start) = start.filter(|&start| start < horizon) else {
            let allowed = format!("before the end of the simulation at {horizon}, counted from {}", entry.start);
            return Err(EntryError::field(field("start"), self.start, allowed));
        };
        let (src, dst) = (HostId(self.src), HostId(self.dst));
        let mut flow = match self.size {
            MessageSize::Fixed(Bytes(0)) => return Err(EntryError::field(field("size"), self.size, "at least 1B")),
            MessageSize::Fixed(size) => entry.flow(src, dst, size.0, start),
            MessageSize::Backlogged => Amounts::backlogged(entry, &field("size"))?.flow(entry, src, dst, 0.0, start),
        };
        if let Some(priority) = self.priority {
            flow.priority = priority;
        }
        if let Some(path) = &self.path {
            let nodes = self.nodes(path, &field("path"), entry)?;
            flow.path = Some(out.path(nodes));
        }
        out.push(flow)
    }

    /// Known, linked, from `src` over switches to `dst`.
    fn nodes(&self, path: &[String], field: &str, entry: &Entry<'_>) -> Result<Vec<NodeId>, EntryError> {
        let fabric = entry.members.fabric;
        let at = |hop: usize| format!("{field}[{hop}]");
        let names = || fabric.nodes().iter().map(|node| node.name.as_str());
        let mut nodes: Vec<NodeId> = Vec::with_capacity(path.len());
        for (hop, name) in path.iter().enumerate() {
            let Some(node) = names().position(|known| known == name).map(|index| NodeId(index as u32)) else {
                return Err(EntryError::field(at(hop), name, "the name of a node of this fabric").near(names()));
            };
            if let Some(&before) = nodes.last()
                && !fabric.ports_of(before).any(|port| fabric.neighbour(port) == node)
            {
                let allowed = format!("a node with a link to {}", fabric.node(before).name);
                return Err(EntryError::field(at(hop), name, allowed));
            }
            let inner = hop > 0 && hop + 1 < path.len();
            if inner && fabric.node(node).kind == NodeKind::Host {
                return Err(EntryError::field(at(hop), name, "a switch: hosts do not forward"));
            }
            nodes.push(node);
        }
        let ends = [self.src, self.dst].map(|host| entry.members.node(HostId(host)));
        if nodes.first() != Some(&ends[0]) || nodes.last() != Some(&ends[1]) {
            let [src, dst] = ends.map(|host| &fabric.node(host).name);
            let allowed = format!("all nodes from the sender, {src}, to the receiver, {dst}");
            return Err(EntryError::field(field, path.join(" "), allowed));
        }
        Ok(nodes)
    }
}

/// Ethernet has 0 to 7 (IEEE 802.1Q); PFC frames use 0.
pub(super) fn is_priority(priority: u8) -> bool {
    (1..8).contains(&priority)
}

pub(super) const PRIORITY_RULE: &str = "a traffic class, 1 to 7 (0 carries PFC frames)";

#[cfg(test)]
mod tests {
    use super::super::testing::{flows, pattern, refused, star};
    use super::*;
    use crate::units::Rate;

    #[test]
    fn flows_are_as_written() {
        let mut spec = pattern(
            "list",
            r#"[{"src": 0, "dst": 1, "size": "1MB", "start": "3us"},
                {"src": 2, "dst": 1, "size": 7, "priority": 5, "path": ["h2", "s0", "h1"]}]"#,
        );
        spec.start = Time::us(1);
        let set = flows(&star(4, Rate::gbps(100)), &spec, 1);
        let [first, second] = set.flows.as_slice() else { panic!("{set:?}") };
        assert_eq!((first.src.0, first.dst.0, first.start, first.priority), (2, 1, Time::us(1), 5));
        assert_eq!(set.paths[first.path.unwrap() as usize], [NodeId(2), NodeId(4), NodeId(1)]);
        assert_eq!((second.size, second.start, second.priority, second.path), (Bytes(1_000_000), Time::us(4), 3, None));
    }

    #[test]
    fn flows_wait_for_named_ones() {
        let json = r#"[{"src": 3, "dst": 0, "size": 9, "start": "5us"},
                       {"src": 1, "dst": 2, "size": 3, "after": ["request", "other"], "delay": "2us"},
                       {"name": "request", "src": 0, "dst": 1, "size": 1, "start": "1us"},
                       {"name": "other", "src": 2, "dst": 1, "size": 2}]"#;
        let earlier = pattern("list", r#"[{"src": 0, "dst": 1, "size": 5, "start": "3us"}]"#);
        let set = super::super::testing::all(&[earlier, pattern("list", json)], &star(4, Rate::gbps(100)), 1).unwrap();
        assert_eq!(set.flows.iter().map(|flow| flow.size.0).collect::<Vec<_>>(), [3, 2, 1, 5, 9]);
        assert_eq!(set.gates, [Gate { waits_for: vec![2, 1], delay: Time::us(2), starts: vec![0], round: None }]);
    }

    #[test]
    fn bad_waits_are_named() {
        let flow = |more: &str| format!(r#"{{"src": 0, "dst": 1, "size": 1, {more}}}"#);
        let why = |flows: &[&str]| {
            let flows: Vec<String> = flows.iter().map(|more| flow(more)).collect();
            refused(&star(4, Rate::gbps(100)), &pattern("list", &format!("[{}]", flows.join(","))))
        };
        assert_eq!(
            why(&[r#""name": "first""#, r#""after": ["frist"]"#]),
            "workload[0].list[1].after[0] = frist: must be the name of another flow here; did you mean `first`?"
        );
        assert_eq!(
            why(&[r#""name": "a""#, r#""after": ["a", "a"]"#]),
            "workload[0].list[1].after[1] = a: must be named once"
        );
        assert_eq!(
            why(&[r#""name": "a""#, r#""name": "a""#]),
            "workload[0].list[1].name = a: must be a name of its own: another flow has this one"
        );
        assert_eq!(why(&[r#""delay": "1us""#]), "workload[0].list[0].delay = 1us: must be omitted: there is no after");
        assert_eq!(
            why(&[r#""name": "x""#, r#""name": "a", "after": ["x", "b"]"#, r#""name": "b", "after": ["a"]"#]),
            "workload[0].list[1].after[0] = a after b after a: must be dependencies without a cycle, in which no flow would ever start"
        );
    }

    #[test]
    fn an_end_leaves_out_what_waits_for_late_flows() {
        let json = r#"[{"name": "late", "src": 0, "dst": 1, "size": 1, "start": "5us"},
                       {"name": "early", "src": 1, "dst": 2, "size": 2},
                       {"name": "next", "src": 2, "dst": 3, "size": 3, "after": ["early"]},
                       {"src": 2, "dst": 1, "size": 4, "after": ["early", "late"]},
                       {"src": 3, "dst": 1, "size": 5, "after": ["next"], "start": "6us"}]"#;
        let mut spec = pattern("list", json);
        spec.end = Some(Time::us(5));
        let set = flows(&star(4, Rate::gbps(100)), &spec, 1);
        assert_eq!(set.flows.iter().map(|flow| flow.size.0).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(set.gates.len(), 1);
        let gate = &set.gates[0];
        assert_eq!((&gate.waits_for[..], &gate.starts[..]), (&[0][..], &[1][..]));
        assert_eq!(set.rounds[gate.round.unwrap() as usize], Time::us(5));
        spec.end = Some(Time::us(7));
        let set = super::super::testing::all(&[spec.clone(), spec], &star(4, Rate::gbps(100)), 1).unwrap();
        assert_eq!((set.flows.len(), set.gates.len(), set.rounds.len()), (10, 6, 6));
    }

    #[test]
    fn bad_flows_are_named() {
        let why = |json: &str| refused(&star(4, Rate::gbps(100)), &pattern("list", json));
        let path = |path: &str| why(&format!(r#"[{{"src": 2, "dst": 1, "size": 7, "path": {path}}}]"#));
        assert_eq!(why("[]"), "workload[0].list = []: must be at least one flow");
        assert_eq!(
            why(r#"[{"src": 0, "dst": 1, "size": 1}, {"src": 4, "dst": 1, "size": 1}]"#),
            "workload[0].list[1].src = 4: must be a host of this fabric, 0 to 3"
        );
        assert!(why(r#"[{"src": 0, "dst": 9, "size": 1}]"#).starts_with("workload[0].list[0].dst = 9: "));
        assert_eq!(
            why(r#"[{"src": 1, "dst": 1, "size": 1}]"#),
            "workload[0].list[0].dst = 1: must be another host than src"
        );
        assert_eq!(why(r#"[{"src": 0, "dst": 1, "size": 0}]"#), "workload[0].list[0].size = 0B: must be at least 1B");
        let zero = why(r#"[{"src": 0, "dst": 1, "size": 1, "priority": 0}]"#);
        assert!(
            zero.ends_with("list[0].priority = 0: must be a traffic class, 1 to 7 (0 carries PFC frames)"),
            "{zero}"
        );
        assert_eq!(
            why(r#"[{"src": 0, "dst": 1, "size": 1, "priority": 8}]"#),
            "workload[0].list[0].priority = 8: must be a traffic class, 1 to 7 (0 carries PFC frames)"
        );
        assert_eq!(
            path(r#"["h2", "s00", "h1"]"#),
            "workload[0].list[0].path[1] = s00: must be the name of a node of this fabric; did you mean `s0`?"
        );
        assert_eq!(path(r#"["h2", "h1"]"#), "workload[0].list[0].path[1] = h1: must be a node with a link to h2");
        assert_eq!(
            path(r#"["h2", "s0", "h3", "s0", "h1"]"#),
            "workload[0].list[0].path[2] = h3: must be a switch: hosts do not forward"
        );
        assert_eq!(
            path(r#"["h2", "s0"]"#),
            "workload[0].list[0].path = h2 s0: must be all nodes from the sender, h2, to the receiver, h1"
        );
        assert!(path("[]").contains("must be all nodes from the sender"));
    }
}
