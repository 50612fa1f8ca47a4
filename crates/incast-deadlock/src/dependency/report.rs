use std::fmt;

use incast_model::fabric::PortId;
use serde::Serialize;

use super::users::{Part, Users, users_of_parts};
use super::{Dependencies, port_of, turns_of};
use crate::elp::{Elp, ElpError};
use crate::names::{Cycle, Turn};
use crate::tag::Tag;
use crate::wiring::Wiring;

/// Cyclic buffer dependencies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeadlockReport {
    /// Buffers (ingress ports with a priority) with dependencies.
    pub buffers: usize,
    /// Dependencies.
    pub dependencies: usize,
    /// Strongly connected components, largest first.
    pub components: Vec<Component>,
}

/// Strongly connected component: each buffer waits for all others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Component {
    /// Buffers.
    pub buffers: usize,
    /// Switches of the buffers.
    pub switches: usize,
    /// Shortest cycles, all of one length.
    pub cycles: Vec<NamedCycle>,
}

/// Cycle with its traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedCycle {
    /// The cycle.
    #[serde(flatten)]
    pub cycle: Cycle,
    /// Traffic by turn; empty if not requested.
    pub users: Vec<Users>,
}

impl DeadlockReport {
    /// True if deadlocks are impossible.
    pub fn deadlock_free(&self) -> bool {
        self.components.is_empty()
    }
}

impl fmt::Display for DeadlockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (buffers, dependencies) = (self.buffers, self.dependencies);
        if self.deadlock_free() {
            return writeln!(
                f,
                "{buffers} buffers, {dependencies} dependencies, none of them cyclic: no deadlock is possible"
            );
        }
        writeln!(f, "{buffers} buffers, {dependencies} dependencies, some of them cyclic: deadlocks are possible")?;
        for component in &self.components {
            writeln!(f, "\n{} buffers of {} nodes wait for each other", component.buffers, component.switches)?;
            component.cycles.iter().try_for_each(|cycle| write!(f, "{cycle}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for NamedCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {}", self.cycle)?;
        let none = Users::default();
        let users = self.users.iter().chain(std::iter::repeat(&none));
        let heads = ["node", "in port", "from", "out port", "to", "packets"].map(String::from);
        let turns = self.cycle.turns.iter().zip(users).map(|(turn, users)| {
            let Turn { switch, in_port, from, out_port, to, .. } = turn;
            [switch.clone(), in_port.to_string(), from.clone(), out_port.to_string(), to.clone(), users.to_string()]
        });
        let rows: Vec<[String; 6]> = std::iter::once(heads).chain(turns).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(width);
        for [switch, in_port, from, out_port, to, users] in &rows {
            let line = format!("    {switch:<a$}  {in_port:>b$}  {from:<c$}  {out_port:>d$}  {to:<e$}  {users}");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

impl fmt::Display for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(when) = &self.when {
            write!(f, "{when}, ")?;
        }
        match (self.paths, self.destinations, &self.place) {
            (Some(1), _, Some(place)) => write!(f, "{place}: ")?,
            (Some(paths), _, Some(place)) => write!(f, "{paths} paths, such as {place}: ")?,
            (Some(1), _, None) => f.write_str("one path: ")?,
            (Some(paths), _, None) => write!(f, "{paths} paths, such as ")?,
            (_, Some(1), _) => f.write_str("to one destination: ")?,
            (_, Some(destinations), _) => write!(f, "to {destinations} destinations, such as ")?,
            _ => {}
        }
        self.example.as_ref().map_or(Ok(()), |path| path.fmt(f))
    }
}

type Turns = Vec<(Tag, PortId, PortId)>;

impl Dependencies {
    /// Finds cyclic dependencies; names at most `most` shortest cycles per component, with paths of `elp` that cause them.
    pub fn report(&self, wiring: &Wiring<'_>, most: usize, elp: Option<&Elp<'_>>) -> Result<DeadlockReport, ElpError> {
        match elp {
            Some(elp) => self.report_of(wiring, most, &[Part { elp, when: None }]),
            None => self.report_of(wiring, most, &[]),
        }
    }

    /// [`Self::report`] for several kinds of packets.
    pub fn report_of(&self, wiring: &Wiring<'_>, most: usize, parts: &[Part<'_>]) -> Result<DeadlockReport, ElpError> {
        let graph = self.graph(wiring);
        let members = graph.components();
        let cycles: Vec<Vec<Turns>> = members
            .iter()
            .map(|members| graph.shortest_cycles(members, most).iter().map(|cycle| turns_of(wiring, cycle)).collect())
            .collect();
        // The search visits every destination.
        let all: Vec<(PortId, PortId)> = cycles.iter().flatten().flatten().map(|&(_, i, o)| (i, o)).collect();
        let mut users = match parts {
            [] => Vec::new(),
            parts => users_of_parts(wiring, parts, &all)?,
        }
        .into_iter();
        let mut named = |turns: &Turns| NamedCycle {
            cycle: self.named(wiring, turns),
            users: users.by_ref().take(turns.len()).collect(),
        };
        let mut components: Vec<Component> = Vec::new();
        for (members, cycles) in members.iter().zip(&cycles) {
            let mut switches: Vec<_> = members.iter().map(|&member| wiring.node(port_of(wiring, member).1)).collect();
            switches.sort_unstable();
            switches.dedup();
            let cycles = cycles.iter().map(&mut named).collect();
            components.push(Component { buffers: members.len(), switches: switches.len(), cycles });
        }
        components.sort_by_key(|component| std::cmp::Reverse(component.buffers));
        let mut used = vec![false; graph.vertices()];
        for vertex in 0..graph.vertices() as u32 {
            used[vertex as usize] |= !graph.next(vertex).is_empty();
            graph.next(vertex).iter().for_each(|&next| used[next as usize] = true);
        }
        let buffers = used.into_iter().filter(|used| *used).count();
        Ok(DeadlockReport { buffers, dependencies: graph.edges(), components })
    }

    /// True if there is a cyclic dependency.
    pub fn cyclic(&self, wiring: &Wiring<'_>) -> bool {
        !self.graph(wiring).components().is_empty()
    }
}
