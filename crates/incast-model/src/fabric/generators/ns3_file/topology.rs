use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::fabric::{Fabric, FabricBuilder, Link, NodeId, NodeKind, tiers};
use crate::foreign::quantity::{rate, time, write_rate, write_time};
use crate::foreign::{Notice, Ns3Error, Severity, Token, Tokens, digits, read_text};
use crate::range::MAX_DELAY;
use crate::units::{Rate, Time};

/// Addresses (11.x.y.1) have 16 bits for the node.
const MAX_NODES: u32 = 1 << 16;

/// Link of a topology file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ns3Link {
    /// One end.
    pub a: NodeId,
    /// Other end.
    pub b: NodeId,
    /// Rate per direction.
    pub rate: Rate,
    /// One-way delay.
    pub delay: Time,
}

/// Topology; nodes that are not switches are hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ns3Topology {
    /// Name of the file.
    pub file: String,
    /// Kind by node id.
    pub kinds: Vec<NodeKind>,
    /// Links in file order, also the port order.
    pub links: Vec<Ns3Link>,
    /// Differences from ns-3: parallel links (ns-3 keeps the last), hosts with several links.
    pub notices: Vec<Notice>,
    /// Content after the last link, which ns-3 does not read.
    pub unread: Option<Notice>,
}

impl Ns3Topology {
    /// Builds the fabric with the same node ids, names `h` or `s` and the id, and hops from the nearest host as tiers.
    pub fn fabric(&self) -> Result<Fabric, Ns3Error> {
        let is_host: Vec<bool> = self.kinds.iter().map(|&kind| kind == NodeKind::Host).collect();
        let tiers = tiers(&is_host, self.links.iter().map(|link| (link.a.index(), link.b.index())));
        let mut builder = FabricBuilder::new();
        for (id, (kind, tier)) in self.kinds.iter().zip(tiers).enumerate() {
            match kind {
                NodeKind::Host => builder.host(format!("h{id}")),
                NodeKind::Switch => builder.switch(format!("s{id}"), tier),
            };
        }
        for link in &self.links {
            builder.link(link.a, link.b, link.rate, link.delay);
        }
        builder
            .finish()
            .map_err(|why| Ns3Error::Fabric { file: self.file.as_str().into(), why: why.to_string().into() })
    }
}

/// Reads a file; see [`parse_topology`].
pub fn read_topology(path: &Path) -> Result<Ns3Topology, Ns3Error> {
    parse_topology(&read_text(path)?, &path.display().to_string())
}

/// Parses `nodes switches links`, the switches' ids, then `a b rate delay error` per link; `file` is for messages.
pub fn parse_topology(text: &str, file: &str) -> Result<Ns3Topology, Ns3Error> {
    let mut tokens = Tokens::new(text, file);
    let header = "the header `nodes switches links`";
    let nodes: u32 = tokens.number("the number of nodes", (2, MAX_NODES), header)?;
    let switches: u32 = tokens.number("the number of switches", (0, nodes), header)?;
    let rows: u32 = tokens.number("the number of links", (1, u32::MAX), header)?;
    let mut kinds = vec![NodeKind::Host; nodes as usize];
    for _ in 0..switches {
        let token = tokens.want("a switch id", format!("{switches} switch ids, as in the header"))?;
        let id = node(&tokens, token, "a switch id", nodes)?;
        if std::mem::replace(&mut kinds[id.index()], NodeKind::Switch) == NodeKind::Switch {
            return Err(tokens.wrong(token, "a switch id", "ids that are listed once"));
        }
    }
    let mut links = Vec::new();
    let mut lines = Vec::new();
    let counted = format!("{rows} links, as in the header");
    for _ in 0..rows {
        let (link, line) = row(&mut tokens, nodes, &counted)?;
        links.push(link);
        lines.push(line);
    }
    let unread = tokens.unread(format_args!("{rows} links"));
    let notices = notices(file, &kinds, &links, &lines);
    Ok(Ns3Topology { file: file.into(), kinds, links, notices, unread })
}

fn node(tokens: &Tokens<'_>, token: Token<'_>, field: &str, nodes: u32) -> Result<NodeId, Ns3Error> {
    match token.text.parse() {
        Ok(id) if id < nodes && digits(token.text) => Ok(NodeId(id)),
        _ => Err(tokens.wrong(token, field, format_args!("a node id from 0 to {}", nodes - 1))),
    }
}

fn row(tokens: &mut Tokens<'_>, nodes: u32, rows: &str) -> Result<(Ns3Link, usize), Ns3Error> {
    let first = tokens.want("a link", rows)?;
    let a = node(tokens, first, "one end of a link", nodes)?;
    let second = tokens.want("the other end of the link", rows)?;
    let b = node(tokens, second, "the other end of a link", nodes)?;
    if a == b {
        return Err(tokens.wrong(second, "the other end of a link", "a node other than the first end"));
    }
    let token = tokens.want("the rate of the link", rows)?;
    let rate = rate(tokens, token, "the rate of a link")?;
    let token = tokens.want("the delay of the link", rows)?;
    let delay = time(tokens, token, "the delay of a link")?;
    if delay > MAX_DELAY {
        return Err(tokens.wrong(token, "the delay of a link", format_args!("at most {MAX_DELAY}")));
    }
    let token = tokens.want("the error rate of the link", rows)?;
    if token.text.parse::<f64>() != Ok(0.0) {
        return Err(tokens.wrong(token, "the error rate of a link", "0: random loss on links is not supported"));
    }
    Ok((Ns3Link { a, b, rate, delay }, first.line))
}

fn notices(file: &str, kinds: &[NodeKind], links: &[Ns3Link], lines: &[usize]) -> Vec<Notice> {
    let mut notices = Vec::new();
    let mut degree = vec![0u32; kinds.len()];
    let mut seen: HashMap<(NodeId, NodeId), usize> = HashMap::new();
    for (link, &line) in links.iter().zip(lines) {
        let mut warn = |text| notices.push(Notice { file: file.into(), line, severity: Severity::Warning, text });
        let (low, high) = (link.a.min(link.b), link.a.max(link.b));
        if let Some(first) = seen.insert((low, high), line) {
            warn(format!(
                "parallel to the link of line {first}: both are used here; the original sends over the last one only"
            ));
        }
        for end in [link.a, link.b] {
            degree[end.index()] += 1;
            if kinds[end.index()] == NodeKind::Host && degree[end.index()] == 2 {
                warn(format!(
                    "host {} has several links: the original divides flows among them by another hash",
                    end.0
                ));
            }
        }
    }
    notices
}

/// Writes node ids, links and ports, without names and tiers.
pub fn write_topology(fabric: &Fabric) -> String {
    let switches: Vec<String> = fabric.switches().map(|id| id.0.to_string()).collect();
    let mut text = format!("{} {} {}\n", fabric.nodes().len(), switches.len(), fabric.links().len());
    text.push_str(&switches.join(" "));
    text.push('\n');
    for link in fabric.links() {
        let [a, b] = [link.a, link.b].map(|port| fabric.port(port).node.0);
        let _ = writeln!(text, "{a} {b} {} {} 0.000000", write_rate(link.rate), write_time(link.delay));
    }
    text
}

/// Differences of ns-3's reading of [`write_topology`]'s file, by line; errors if the file cannot express the fabric.
pub fn topology_notices(fabric: &Fabric, file: &str) -> Vec<Notice> {
    let nodes = fabric.nodes().len();
    if nodes > MAX_NODES as usize {
        let text = format!("{nodes} nodes; allowed: at most {MAX_NODES}, as its addresses have 16 bits for the node");
        return vec![Notice { file: file.into(), line: 1, severity: Severity::Error, text }];
    }
    let kinds: Vec<NodeKind> = fabric.nodes().iter().map(|node| node.kind).collect();
    let node = |port| fabric.port(port).node;
    let link = |link: &Link| Ns3Link { a: node(link.a), b: node(link.b), rate: link.rate, delay: link.delay };
    let links: Vec<Ns3Link> = fabric.links().iter().map(link).collect();
    let lines: Vec<usize> = (3..links.len() + 3).collect();
    notices(file, &kinds, &links, &lines)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabric::generators::{HpccFatTree, LeafSpine, RailOptimized, Star};

    const SMALL: &str = "3 1 2\n2\n0 2 100Gbps 1000ns 0.000000\n1 2 100Gbps 1us 0\n";

    fn message(text: &str) -> String {
        match parse_topology(text, "t.txt").and_then(|topology| topology.fabric()) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn reads_free_white_space() {
        let topology = parse_topology(SMALL, "t.txt").unwrap();
        assert_eq!(topology.kinds, [NodeKind::Host, NodeKind::Host, NodeKind::Switch]);
        assert_eq!(topology.links[1].delay, Time::us(1));
        assert_eq!((&topology.notices[..], &topology.unread), (&[][..], &None));
        let squeezed = SMALL.split_whitespace().collect::<Vec<_>>().join("\r\n");
        assert_eq!(parse_topology(&squeezed, "t.txt").unwrap(), topology);
        let fabric = topology.fabric().unwrap();
        assert_eq!((fabric.hosts().len(), fabric.node(NodeId(2)).name.as_str()), (2, "s2"));
    }

    #[test]
    fn every_discrepancy_is_located() {
        let with = |from: &str, to: &str| message(&SMALL.replacen(from, to, 1));
        assert_eq!(with("3 1 2", "3 1 3"), "t.txt:4: the file ends before a link; allowed: 3 links, as in the header");
        assert!(
            with("3 1 2", "3 4 2")
                .starts_with("t.txt:1: the number of switches is `4`; allowed: an integer from 0 to 3")
        );
        assert_eq!(with("\n2\n", "\n3\n"), "t.txt:2: a switch id is `3`; allowed: a node id from 0 to 2");
        assert_eq!(
            with("3 1 2\n2\n", "3 2 2\n2 2\n"),
            "t.txt:2: a switch id is `2`; allowed: ids that are listed once"
        );
        assert_eq!(
            with("0 2", "0 0"),
            "t.txt:3: the other end of a link is `0`; allowed: a node other than the first end"
        );
        assert_eq!(with("0 2", "0 -2"), "t.txt:3: the other end of a link is `-2`; allowed: a node id from 0 to 2");
        assert!(with("1us 0", "1us 0.01").ends_with("allowed: 0: random loss on links is not supported"));
        assert!(with("1us", "1um").contains("t.txt:4: the delay of a link is `1um`"));
        assert!(with("1us", "2s").contains("at most 1s"));
        assert!(with("100Gbps", "fast").contains("t.txt:3: the rate of a link is `fast`"));
        assert_eq!(with("1 2 100Gbps", "0 2 100Gbps"), "t.txt: h1 has no link");
        assert!(message("").starts_with("t.txt:1: the file ends before the number of nodes"));
    }

    #[test]
    fn rows_after_the_last_link_are_not_read() {
        let text = SMALL.to_owned() + "0 3 100Gbps 1us 0\n";
        let topology = parse_topology(&text, "t.txt").unwrap();
        assert_eq!(topology.links.len(), 2);
        let notice = topology.unread.map(|notice| notice.to_string());
        assert_eq!(notice.as_deref(), Some("t.txt:5: warning: not read from here on: the header has 2 links"));
    }

    #[test]
    fn parallel_links_and_second_links_are_noticed() {
        let text = SMALL.replacen("3 1 2", "3 1 3", 1) + "2 1 40Gbps 1us 0\n";
        let notices: Vec<String> =
            parse_topology(&text, "t.txt").unwrap().notices.iter().map(Notice::to_string).collect();
        assert_eq!(
            notices,
            [
                "t.txt:5: warning: parallel to the link of line 4: \
                 both are used here; the original sends over the last one only",
                "t.txt:5: warning: host 1 has several links: the original divides flows among them by another hash",
            ]
        );
    }

    #[test]
    fn the_authors_tree_keeps_its_ports() {
        let tree = HpccFatTree::default().build().unwrap();
        let back = parse_topology(&write_topology(&tree), "t.txt").unwrap().fabric().unwrap();
        assert_eq!((back.links(), back.ports(), back.hosts()), (tree.links(), tree.ports(), tree.hosts()));
        assert!(tree.nodes().iter().zip(back.nodes()).all(|(a, b)| (a.kind, a.tier) == (b.kind, b.tier)));
    }

    #[test]
    fn notices_of_a_fabric_are_those_of_its_file() {
        let mut leaf_spine = LeafSpine::new(2, 1, 2);
        leaf_spine.uplinks_per_pair = 2;
        let rails = RailOptimized::new(2, 1);
        for (fabric, count) in [(leaf_spine.build().unwrap(), 2), (rails.build().unwrap(), 16)] {
            let notices = topology_notices(&fabric, "t.txt");
            assert_eq!(notices.len(), count);
            assert_eq!(notices, parse_topology(&write_topology(&fabric), "t.txt").unwrap().notices);
        }
        assert_eq!(topology_notices(&HpccFatTree::default().build().unwrap(), "t.txt"), []);
        let large = topology_notices(&Star::new(1 << 16).build().unwrap(), "t.txt");
        assert_eq!(large.len(), 1);
        assert_eq!(
            large[0].to_string(),
            "t.txt:1: error: 65537 nodes; allowed: at most 65536, as its addresses have 16 bits for the node"
        );
    }

    proptest! {
        #[test]
        fn written_ones_are_read_back(
            leaves in 1u32..5, spines in 1u32..5, hosts in 2u32..5, parallel in 1u32..3,
            bps in 1..u64::MAX, ps in 0..1u64 << 39
        ) {
            let mut spec = LeafSpine::new(leaves, spines, hosts);
            (spec.uplinks_per_pair, spec.uplink_rate, spec.delay) = (parallel, Rate(bps), Time(ps));
            let fabric = spec.build().unwrap();
            let back = parse_topology(&write_topology(&fabric), "t.txt").unwrap().fabric().unwrap();
            prop_assert_eq!(back.links(), fabric.links());
            prop_assert_eq!((back.ports(), back.hosts()), (fabric.ports(), fabric.hosts()));
        }

        #[test]
        fn no_text_panics(text in "[0-9 .\n]{0,60}|(?s).{0,40}") {
            let _ = parse_topology(&text, "t.txt").map(|topology| topology.fabric());
        }
    }
}
