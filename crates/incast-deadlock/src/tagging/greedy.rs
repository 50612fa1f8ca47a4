use incast_model::fabric::PortId;
use incast_model::rng::stream;
use serde::{Deserialize, Serialize};

use super::order::Dag;
use super::placement;
use super::placement::{Placement, TagError};
use crate::bits::{ones, set};
use crate::elp::{Hops, below};
use crate::tag::Tag;
use crate::watch;
use crate::wiring::Ports;

/// Algorithm 2 (Hu et al., CoNEXT 2017): merges hop numbers, in order, into one tag while it has no cycle. An ingress port that
/// would close one gets the next tag, as do all later hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Greedy {
    /// Order of ports within a hop; default by number.
    pub order: Order,
    /// Tag of hosts' packets; default shared.
    pub injection: Injection,
}

/// Order of links within a hop. The paper leaves it open; the number of tags depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By number of the sending switch, then of its port. Links deferred at the second hop, the first that can close a cycle,
    /// then lead to lower switches, and close none.
    #[default]
    Number,
    /// One random order for all hops, from this seed.
    Random(u64),
}

/// Tag of hosts' packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Injection {
    /// The first tag, also used by switches.
    #[default]
    Shared,
    /// A tag that no switch sends with: one tag more, and rules to change it.
    Own,
}

impl Greedy {
    /// Merges the hop numbers of paths.
    pub fn place<'h>(&self, hops: &'h Hops) -> Result<Placement<'h>, TagError> {
        let mut placement = Placement::empty(hops)?;
        let ports = std::sync::Arc::clone(placement.ports());
        let links = self.links(&ports);
        for (input, _) in hops.layers()[0].iter() {
            placement.put(0, input, Tag::FIRST);
        }
        let mut tag = match self.injection {
            Injection::Shared => Tag::FIRST,
            Injection::Own => Tag(Tag::FIRST.0 + 1),
        };
        let mut dag = Dag::new(&ports);
        watch::begin("hops", hops.layers().len());
        for hop in 1..hops.layers().len() {
            if tag.0 == u8::MAX {
                return Err(placement::TagError::TooLong { hops: hops.layers().len() });
            }
            let before = with_tag(&placement, &ports, hop - 1, tag);
            let mut put_off = false;
            for &output in &links {
                let row = hops.layers()[hop - 1].row(output);
                if row.iter().all(|&word| word == 0) {
                    continue;
                }
                watch::check();
                let here = &before[ports.span(ports.node(output))];
                let inputs: Vec<u64> = row.iter().zip(here).map(|(row, here)| row & here).collect();
                let fits = dag.add(&inputs, output);
                put_off |= !fits;
                placement.put(hop, ports.peer(output), Tag(tag.0 + u8::from(!fits)));
            }
            if put_off {
                tag.0 += 1;
                dag = Dag::new(&ports);
            }
            watch::step();
        }
        Ok(placement)
    }

    /// In the order tried.
    fn links(&self, ports: &Ports) -> Vec<PortId> {
        let between = |port: &PortId| !ports.is_host(ports.node(*port)) && ports.to_switch(*port);
        let mut links: Vec<PortId> = (0..ports.len() as u32).map(PortId).filter(between).collect();
        if let Order::Random(seed) = self.order {
            let mut rng = stream(seed, "tagging-order", 0);
            for at in (1..links.len()).rev() {
                links.swap(at, below(at + 1, &mut rng));
            }
        }
        links
    }
}

fn with_tag(placement: &Placement<'_>, ports: &Ports, hop: usize, tag: Tag) -> Vec<u64> {
    let mut bits = vec![0; ports.spans()];
    for port in (0..ports.len() as u32).map(PortId).filter(|&port| placement.tag(hop, port) == Some(tag)) {
        set(&mut bits[ports.span(ports.node(port))], ports.local(port));
    }
    debug_assert!(ones(&bits).count() <= ports.len());
    bits
}
