use incast_model::fabric::PortId;

use super::NAMED;
use crate::bits::ones;
use crate::names::{Cycle, Turn};
use crate::rules::Rules;
use crate::tag::Tag;
use crate::turns::TurnSet;
use crate::wiring::Wiring;

/// Number of rules to a smaller tag, and some.
pub(super) fn falling(wiring: &Wiring<'_>, rules: &Rules) -> (usize, Vec<(Turn, Tag)>) {
    let falls = || rules.turns().filter(|(tag, new, _)| new < tag);
    let count = falls().map(|(_, _, turns)| turns.len()).sum();
    let all = falls().flat_map(|(tag, new, turns)| turns.iter().map(move |(input, output)| (tag, new, input, output)));
    let named = all.take(NAMED).map(|(tag, new, input, output)| (Turn::new(wiring, Some(tag), input, output), new));
    (count, named.collect())
}

/// Removes ports without predecessors; the rest is on cycles, or behind one.
pub(super) fn cycle(wiring: &Wiring<'_>, rules: &Rules, tag: Tag) -> Option<Cycle> {
    let (_, _, turns) = rules.turns().find(|&(from, to, _)| from == tag && to == tag)?;
    let links = || (0..wiring.len() as u32).map(PortId).filter(|&output| wiring.to_switch(output));
    let inputs = |output: PortId| ones(turns.row(output)).map(move |at| wiring.port(wiring.node(output), at));
    let mut leading_in = vec![0u32; wiring.len()];
    for output in links() {
        leading_in[wiring.peer(output).index()] = inputs(output).count() as u32;
    }
    let mut free: Vec<PortId> =
        (0..wiring.len() as u32).map(PortId).filter(|port| leading_in[port.index()] == 0).collect();
    while let Some(port) = free.pop() {
        for output in wiring.of(wiring.node(port)).filter(|&output| turns.contains(port, output)) {
            let next = wiring.peer(output);
            if wiring.to_switch(output) {
                leading_in[next.index()] -= 1;
                if leading_in[next.index()] == 0 {
                    free.push(next);
                }
            }
        }
    }
    let left = (0..wiring.len() as u32).map(PortId).find(|port| leading_in[port.index()] > 0)?;
    Some(backwards(wiring, turns, tag, left, &|port| leading_in[port.index()] > 0))
}

fn backwards(wiring: &Wiring<'_>, turns: &TurnSet, tag: Tag, mut port: PortId, left: &dyn Fn(PortId) -> bool) -> Cycle {
    let mut way: Vec<(PortId, PortId)> = Vec::new();
    loop {
        let output = wiring.peer(port);
        let before = wiring.of(wiring.node(output)).find(|&input| left(input) && turns.contains(input, output));
        port = before.expect("what is left has a predecessor that is left");
        // Each turn leads to the one before it in `way`; the repeated port leads to the last.
        if let Some(begin) = way.iter().position(|&(input, _)| input == port) {
            let rest = way[begin + 1..].iter().rev().copied();
            let cycle = [(port, output)].into_iter().chain(rest).map(|(input, output)| (Some(tag), input, output));
            return Cycle::new(wiring, cycle);
        }
        way.push((port, output));
    }
}
