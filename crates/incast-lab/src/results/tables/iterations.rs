use std::borrow::Cow;

use incast_model::flow::{Iteration, Operation};
use incast_model::units::Time;

use super::super::columns::{bps, bytes, one_of, ps, u32};
use super::shared::{label, scheme};
use super::{Condition, Records, Row, Table};

/// A completed iteration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completed {
    index: usize,
    start: Time,
    end: Time,
}

fn completed<'a>(run: &'a Records<'a>) -> Cow<'a, [Completed]> {
    let one = |(index, iteration): (usize, &Iteration)| {
        let none = (Time::MAX, Time::ZERO);
        let (start, end) = iteration.flows.iter().try_fold(none, |(start, end), one| {
            let record = &run.outcome.flows[one.flow as usize];
            Some((start.min(record.start?), end.max(record.delivered?)))
        })?;
        Some(Completed { index, start, end })
    };
    run.flows.iterations.iter().enumerate().filter_map(one).collect()
}

impl<'a> Row<'a, Completed> {
    fn iteration(self) -> &'a Iteration {
        &self.run.flows.iterations[self.index]
    }

    fn communication(self) -> Time {
        self.end.saturating_sub(self.start).saturating_sub(self.iteration().compute_within)
    }

    /// In bit/s; 1 ps is the shortest time.
    fn rate(self, factor: f64) -> u64 {
        let bits = self.iteration().size.0 as f64 * 8.0 * factor;
        (bits * 1e12 / self.communication().0.max(1) as f64).round() as u64
    }
}

pub(super) static ITERATIONS: Table<Completed> = Table {
    name: "iterations",
    description: "one row per completed iteration of a collective (ring or tree all-reduce, all-to-all, MoE)",
    condition: Condition::Collectives,
    rows: completed,
    columns: &[
        scheme(),
        label(|row| row.run.flows.flows[row.iteration().flows[0].flow as usize].label.into()),
        u32("collective", "number of the collective, by workload entry and tenant, from 0", |row| {
            row.iteration().collective
        }),
        u32("iteration", "number of the iteration, from 0", |row| row.iteration().number),
        one_of("operation", Operation::NAMES, |row| row.iteration().operation as usize),
        u32("ranks", "number of ranks", |row| row.iteration().ranks),
        bytes(
            "size_bytes",
            "data of a rank as in nccl-tests, with the part that stays there; MoE: of all dispatches and combines",
            |row| row.iteration().size.0,
        ),
        ps("start_ps", "start of the first message", |row| row.start),
        ps("end_ps", "arrival of the last byte of all messages", |row| row.end),
        ps("communication_ps", "`end_ps` - `start_ps` - compute time within the iteration (MoE)", |row| {
            row.communication()
        }),
        ps("compute_ps", "configured compute time of a rank before the iteration; 0 for the first", |row| {
            row.iteration().compute_before
        }),
        bps("algorithm_bps", "algorithm bandwidth: `size_bytes` / `communication_ps`", |row| row.rate(1.0)),
        bps(
            "bus_bps",
            "bus bandwidth as in nccl-tests: `algorithm_bps` times 2 (n - 1) / n for all-reduce of n ranks, (n - 1) / n for others",
            |row| row.rate(row.iteration().operation.bus_factor(row.iteration().ranks)),
        ),
    ],
};
