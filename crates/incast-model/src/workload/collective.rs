use super::entry::{Collector, Entry};
use crate::entry::EntryError;
use crate::fabric::HostId;
use crate::flow::{Gate, Iteration, Operation, StepFlow};
use crate::units::{Bytes, Time};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) bytes: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    /// By sender, none empty.
    pub(super) messages: Vec<Message>,
    /// After the end of a rank's dependencies.
    pub(super) delay: Time,
}

/// Dependencies of a rank's messages in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waits {
    pub(super) all: bool,
    /// Also the rank's own messages.
    pub(super) own: bool,
}

pub(super) struct Collective<'a> {
    pub(super) ranks: &'a [HostId],
    pub(super) iterations: u32,
    /// Between a rank's iterations.
    pub(super) compute: Time,
    pub(super) waits: Waits,
    /// Iterations per round, at least 1: an entry's end cancels whole rounds.
    pub(super) round: u32,
    /// Upper bounds of an iteration's messages and gates.
    pub(super) size: (f64, f64),
    pub(super) measure: Measure,
}

/// An iteration (a round, where it has several), as results measure it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    pub(super) operation: Operation,
    /// As nccl-tests counts it.
    pub(super) size: u64,
    /// Compute time on every path from its first message to its last.
    pub(super) compute_within: Time,
}

impl Measure {
    pub(super) const fn new(operation: Operation, size: u64) -> Self {
        Self { operation, size, compute_within: Time::ZERO }
    }

    pub(super) fn iteration(self, number: u32, ranks: usize, compute: Time) -> Iteration {
        Iteration {
            collective: 0,
            number,
            operation: self.operation,
            ranks: ranks as u32,
            size: Bytes(self.size),
            compute_before: if number == 0 { Time::ZERO } else { compute },
            compute_within: self.compute_within,
            flows: Vec::new(),
        }
    }
}

impl Collective<'_> {
    /// `steps` returns an iteration's steps, by chunk; chunks are independent. A rank begins an iteration when all its messages
    /// of the previous one have ended.
    pub(super) fn add(
        &self,
        entry: &Entry<'_>,
        out: &mut Collector,
        steps: impl Fn(u32) -> Vec<Vec<Step>>,
    ) -> Result<(), EntryError> {
        let (messages, gates) = self.size;
        // An iteration may be too large to build its steps.
        let all = f64::from(self.iterations);
        entry.expect("iterations", self.iterations, messages * all, gates * all)?;
        let mut before = vec![Vec::new(); self.ranks.len()];
        let collective = out.collective();
        for iteration in 0..self.iterations {
            let chunks = steps(iteration);
            let mut ended = vec![Vec::new(); self.ranks.len()];
            let round = if iteration % self.round == 0 { out.round(entry) } else { None };
            let earlier = iteration % self.round * chunks.first().map_or(0, Vec::len) as u32;
            self.once(entry, out, (&chunks, earlier), (&before, round), &mut ended)?;
            before = ended;
            if (iteration + 1) % self.round == 0 {
                let one = self.measure.iteration(iteration / self.round, self.ranks.len(), self.compute);
                out.iteration(Iteration { collective, ..one });
            }
        }
        Ok(())
    }

    /// `earlier`: steps before these; `before`: dependencies and round of the ranks' first messages; `ended`: each rank's
    /// flows.
    fn once(
        &self,
        entry: &Entry<'_>,
        out: &mut Collector,
        (chunks, earlier): (&[Vec<Step>], u32),
        (before, round): (&[Vec<u32>], Option<u32>),
        ended: &mut [Vec<u32>],
    ) -> Result<(), EntryError> {
        for steps in chunks {
            let mut waiting = before.to_vec();
            let mut begun = vec![false; self.ranks.len()];
            for (number, step) in (earlier..).zip(steps) {
                let mut news = vec![Vec::new(); self.ranks.len()];
                for messages in step.messages.chunk_by(|a, b| a.from == b.from) {
                    let from = messages[0].from;
                    // Compute time delays only a rank's first messages.
                    let begins = !begun[from] && !before[from].is_empty();
                    let (delay, round) = if begins { (self.compute, round) } else { (step.delay, None) };
                    let begin = Begin { waits: &waiting[from], delay, round };
                    let to = messages.iter().map(|message| (self.ranks[message.to], message.bytes));
                    let first = send(entry, out, self.ranks[from], to, &begin)?;
                    for (flow, message) in (first..).zip(messages) {
                        out.step(StepFlow { flow, step: number, rank: from as u32 });
                        news[message.to].push(flow);
                        if self.waits.own {
                            news[from].push(flow);
                        }
                        ended[from].push(flow);
                        ended[message.to].push(flow);
                    }
                    begun[from] = true;
                }
                for (rank, news) in news.into_iter().enumerate().filter(|(_, news)| !news.is_empty()) {
                    begun[rank] = true;
                    if self.waits.all {
                        waiting[rank].extend(news);
                    } else {
                        waiting[rank] = news;
                    }
                }
            }
        }
        Ok(())
    }
}

pub(super) struct Begin<'a> {
    /// If empty, start by the clock.
    pub(super) waits: &'a [u32],
    /// After their end or the entry's start.
    pub(super) delay: Time,
    /// Begun by waiting flows.
    pub(super) round: Option<u32>,
}

/// They start together; returns the first number.
pub(super) fn send(
    entry: &Entry<'_>,
    out: &mut Collector,
    from: HostId,
    to: impl Iterator<Item = (HostId, u64)>,
    begin: &Begin<'_>,
) -> Result<u32, EntryError> {
    let &Begin { waits, delay, round } = begin;
    let start = if waits.is_empty() { Time(entry.start.0.saturating_add(delay.0)) } else { entry.start };
    let starts = to.map(|(to, bytes)| out.push(entry.flow(from, to, bytes, start))).collect::<Result<Vec<u32>, _>>()?;
    let first = starts.first().copied().unwrap_or_default();
    if !waits.is_empty() && !starts.is_empty() {
        out.gate(Gate { waits_for: waits.to_vec(), delay, starts, round });
    }
    Ok(first)
}

/// In proportion to `weights`.
pub(super) fn split(total: u64, weights: &[f64]) -> Vec<u64> {
    let sum: f64 = weights.iter().sum();
    let mut cumulative = 0.0;
    let mut given = 0;
    let last = weights.len() - 1;
    let share = |(index, weight): (usize, &f64)| {
        cumulative += weight;
        let through = if index == last { total } else { (total as f64 * (cumulative / sum)) as u64 };
        let share = through.clamp(given, total) - given;
        given += share;
        share
    };
    weights.iter().enumerate().map(share).collect()
}

/// Parts differ by at most 1, larger ones first.
pub(super) fn parts(total: u64, parts: u64) -> impl Iterator<Item = u64> + Clone {
    (0..parts).map(move |part| total / parts + u64::from(part < total % parts))
}

pub(super) fn at_least_a_byte_each(entry: &Entry<'_>, size: Bytes, pieces: u64) -> Result<u64, EntryError> {
    if size.0 >= pieces {
        return Ok(size.0);
    }
    Err(entry.refuse("size", size, format!("at least {}, a byte for each of its pieces", Bytes(pieces))))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::flow::FlowSet;
    use crate::gates::check_gates;

    /// By flow: 0 without a gate, else one more than its last dependency's.
    pub(in crate::workload) fn depths(set: &FlowSet) -> Vec<usize> {
        check_gates(set).unwrap();
        let mut behind = vec![false; set.flows.len()];
        set.gates.iter().flat_map(|gate| &gate.starts).for_each(|&flow| behind[flow as usize] = true);
        let mut depth: Vec<Option<usize>> = behind.iter().map(|behind| (!behind).then_some(0)).collect();
        loop {
            let mut changed = false;
            for gate in &set.gates {
                let known: Option<Vec<usize>> = gate.waits_for.iter().map(|&flow| depth[flow as usize]).collect();
                if let Some(known) = known.filter(|_| depth[gate.starts[0] as usize].is_none()) {
                    let next = known.into_iter().max().map(|deepest| deepest + 1);
                    gate.starts.iter().for_each(|&flow| depth[flow as usize] = next);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        depth.into_iter().map(|depth| depth.expect("no flow waits for itself")).collect()
    }

    pub(in crate::workload) fn sent(set: &FlowSet, hosts: usize) -> Vec<u64> {
        let mut sums = vec![0; hosts];
        set.flows.iter().for_each(|flow| sums[flow.src.index()] += flow.size.0);
        sums
    }

    #[test]
    fn shares_add_up() {
        assert_eq!(parts(10, 4).collect::<Vec<_>>(), [3, 3, 2, 2]);
        assert_eq!(split(10, &[1.0, 1.0, 2.0]), [2, 3, 5]);
        assert_eq!(split(3, &[1.0; 7]).iter().sum::<u64>(), 3);
        assert_eq!(split(1_000_003, &[0.1, 0.7, 0.2, 1e-9]).iter().sum::<u64>(), 1_000_003);
    }
}
