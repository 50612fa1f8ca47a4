use incast_model::fabric::PortId;

use super::Placement;
use crate::bits::{ones, set};
use crate::rules::Rules;
use crate::tag::Tag;

impl Placement<'_> {
    /// Adds rules that paths lack.
    ///
    /// At hop h of a path, let p(h) be the planned tag and x(h) the tag by the rules. x(h) ≤ p(h) for all h: hosts send with
    /// the first tag, and
    /// - if x(h) = p(h), the rule leads to the smallest tag that any path needs there: p(h+1) or less;
    /// - if x(h) < p(h) and there is a rule, it comes from hops before h (tags never fall from hop to hop in Algorithm 2), and
    ///   tags planned after those are at most p(h+1);
    /// - if x(h) < p(h) without a rule, the new one leads to at most p(h+1), and to more than x(h), as every p(h'+1) that it
    ///   chooses among follows a p(h') > x(h).
    ///
    /// So every path ends with a lossless tag. New rules raise a tag; such an edge is on no cycle.
    pub(super) fn complete(&self, rules: &mut Rules) {
        let ports = self.ports();
        // By tag: possible ingress ports, a bit each.
        let mut at = vec![vec![0u64; ports.spans()]; usize::from(self.tags()) + 1];
        for (input, _) in self.layer(0).iter() {
            set(&mut at[usize::from(Tag::FIRST.0)][ports.span(ports.node(input))], ports.local(input));
        }
        for hop in 0..self.hops().layers().len() {
            let mut next = vec![vec![0u64; ports.spans()]; at.len()];
            for output in (0..ports.len() as u32).map(PortId) {
                let row = self.layer(hop).row(output);
                if row.iter().all(|&word| word == 0) {
                    continue;
                }
                let (node, head) = (ports.node(output), ports.peer(output));
                for tag in Tag::all(self.tags()) {
                    let here = &at[usize::from(tag.0)][ports.span(node)];
                    let packets: Vec<u64> = row.iter().zip(here).map(|(row, here)| row & here).collect();
                    for local in ones(&packets) {
                        let new = self.rule_or_new(rules, tag, ports.port(node, local), output);
                        if ports.to_switch(output) {
                            set(&mut next[usize::from(new.0)][ports.span(ports.node(head))], ports.local(head));
                        }
                    }
                }
            }
            at = next;
        }
    }

    fn rule_or_new(&self, rules: &mut Rules, tag: Tag, input: PortId, output: PortId) -> Tag {
        if let Some(new) = rules.new_tag(tag, input, output) {
            return new;
        }
        let planned = |hop: usize| {
            let above = self.layer(hop).contains(input, output) && self.tag(hop, input) > Some(tag);
            above.then(|| self.after(hop, input, output)).flatten()
        };
        let new = match self.ports().to_switch(output) {
            true => (0..self.hops().layers().len()).filter_map(planned).min(),
            false => Some(tag),
        };
        let new = new.expect("a packet's tag is at most the planned one, and where it is that there is a rule");
        rules.insert(tag, input, output, new).expect("there was no rule");
        new
    }
}
