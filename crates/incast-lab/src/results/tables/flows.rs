use std::borrow::Cow;
use std::ops::Range;

use incast_model::fabric::HostId;
use incast_model::flow::{Flow, Iteration, StepFlow};
use incast_model::units::Time;
use incast_sim::measure::{RateSample, Waits};
use incast_sim::outcome::{FlowRecord, FlowStatus};

use super::super::columns::{
    bps, bytes, count, flag, maybe_bps, maybe_bytes, maybe_ps, maybe_ratio, maybe_u32, one_of, ps, u8, u16, u32,
};
use super::shared::{Between, dst, dst_name, flow, label, priority, scheme, src, src_name, time};
use super::{Condition, Records, Row, Table};

/// Number of no dependency and no iteration.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
pub(super) struct FlowRow {
    message: u32,
    dependency: u32,
    /// Index of its iteration.
    iteration: u32,
}

fn flow_rows<'a>(run: &'a Records<'a>) -> Cow<'a, [FlowRow]> {
    let parts = |(message, flows): (u32, Range<u32>)| {
        flows.map(move |_| FlowRow { message, dependency: NONE, iteration: NONE })
    };
    let mut rows: Vec<FlowRow> = (0..).zip(run.flows.messages()).flat_map(parts).collect();
    for (number, gate) in (0..).zip(&run.flows.gates) {
        gate.starts.iter().for_each(|&flow| rows[flow as usize].dependency = number);
    }
    for (number, iteration) in (0..).zip(&run.flows.iterations) {
        iteration.flows.iter().for_each(|one| rows[one.flow as usize].iteration = number);
    }
    rows.into()
}

impl<'a> Row<'a, FlowRow> {
    fn flow(self) -> &'a Flow {
        &self.run.flows.flows[self.number as usize]
    }

    fn result(self) -> &'a FlowRecord {
        &self.run.outcome.flows[self.number as usize]
    }

    fn iteration(self) -> Option<&'a Iteration> {
        self.run.flows.iterations.get(self.iteration as usize)
    }

    fn step(self) -> Option<StepFlow> {
        let flows = &self.iteration()?.flows;
        flows.binary_search_by_key(&self.number, |one| one.flow).ok().map(|at| flows[at])
    }

    fn is_backlogged(self) -> bool {
        self.flow().until.is_some()
    }

    /// In bit/s.
    fn goodput(self) -> Option<u64> {
        let (end, result, ended) = (self.flow().until?, self.result(), &self.run.outcome.acked_by_end);
        let span = end.min(self.run.outcome.end).0.checked_sub(result.start?.0).filter(|&span| span > 0)?;
        let found = ended.binary_search_by_key(&self.number, |&(flow, _)| flow);
        let bits = 8_000_000_000_000 * u128::from(found.map_or(result.acked, |at| ended[at].1));
        u64::try_from(bits / u128::from(span)).ok()
    }

    /// Backlogged flows end by the clock: no slowdown.
    fn slowdown(self, ideal: Time) -> Option<f64> {
        let fct = self.result().fct().filter(|_| !self.is_backlogged())?;
        Some(fct.0 as f64 / ideal.0.max(1) as f64)
    }
}

impl Between for FlowRow {
    fn ends(row: Row<'_, Self>) -> [HostId; 2] {
        [row.flow().src, row.flow().dst]
    }
}

pub(super) static FLOWS: Table<FlowRow> = Table {
    name: "flows",
    description: "one row per flow, in order of start in the workload (with dependencies: the earliest possible)",
    condition: Condition::Always,
    rows: flow_rows,
    columns: &[
        scheme(),
        u32("flow", "flow number, in order of start in the workload, from 0", |row| row.number),
        u32("message", "number of its message, split over `qps` flows", |row| row.message),
        label(|row| row.flow().label.into()),
        src(),
        dst(),
        src_name(),
        dst_name(),
        bytes("size_bytes", "payload", |row| if row.is_backlogged() { row.result().acked } else { row.flow().size.0 }),
        priority(|row| row.flow().priority),
        u16("sport", "UDP source port", |row| row.flow().sport),
        u16("dport", "UDP destination port", |row| row.flow().dport),
        maybe_u32("dependency", "number of the dependency that it waited for; missing without one", |row| {
            Some(row.dependency).filter(|&number| number != NONE)
        }),
        maybe_u32("collective", "number of its collective, as in the table `iterations`; missing without one", |row| {
            Some(row.iteration()?.collective)
        }),
        maybe_u32(
            "iteration",
            "number of its iteration of the collective, from 0; missing without a collective",
            |row| Some(row.iteration()?.number),
        ),
        maybe_u32(
            "step",
            "number of its step in the iteration, from 0; in an all-to-all, rank i sends to i + 1 in step 0, to i + 2 in step 1; missing without a collective",
            |row| Some(row.step()?.step),
        ),
        maybe_u32("rank", "rank of its sender, from 0; missing without a collective", |row| Some(row.step()?.rank)),
        maybe_ps("start_ps", "start; missing if it did not start", |row| row.result().start),
        maybe_ps("delivered_ps", "arrival of its last byte at the receiver; missing without it", |row| {
            row.result().delivered
        }),
        maybe_ps(
            "finish_ps",
            "arrival of the last ACK at the sender, with UDP of the last byte at the receiver (backlogged UDP: the end of its entry); missing if incomplete",
            |row| row.result().finish,
        ),
        maybe_ps("fct_ps", "flow completion time: `finish_ps` - `start_ps`", |row| row.result().fct()),
        ps(
            "ideal_hpcc_ps",
            "ideal time of the HPCC evaluation: base RTT plus payload and basic headers at the slowest link's rate; no lower \
             bound; `ideal_exact_ps` with other transports than RDMA, or `measure.ideal = \"exact\"`; with `qps` as there",
            |row| row.result().ideal_hpcc,
        ),
        ps(
            "ideal_exact_ps",
            "time of the flow alone on its path (with the routes at the start of the run), in its real packets; a lower bound on that path; with `qps`, of all bytes of its message at the same NIC, which its queue pairs share",
            |row| row.result().ideal_exact,
        ),
        maybe_ratio("slowdown_hpcc", "`fct_ps` / `ideal_hpcc_ps`, can be below 1", |row| {
            row.slowdown(row.result().ideal_hpcc)
        }),
        maybe_ratio("slowdown_exact", "`fct_ps` / `ideal_exact_ps`", |row| row.slowdown(row.result().ideal_exact)),
        bytes("acked_bytes", "payload acknowledged, selectively too; of UDP and pHost, payload that arrived", |row| {
            row.result().acked
        }),
        maybe_bps(
            "goodput_bps",
            "of a backlogged flow: payload acknowledged (UDP: arrived) per second, from its start to the end of its entry or of the run; missing for others",
            |row| row.goodput(),
        ),
        count("packets", "data packets sent, with retransmissions", |row| row.result().packets),
        count("retransmitted", "data packets retransmitted", |row| row.result().retransmitted),
        count(
            "discarded",
            "data packets that the receiver discarded: duplicates; with go-back-N, out of order",
            |row| row.result().discarded.into(),
        ),
        count("nacks", "NACKs received by the sender", |row| row.result().nacks.into()),
        count(
            "timeouts",
            "retransmission timeouts; with Fastpass repeated requests, with pHost repeated announcements",
            |row| row.result().timeouts.into(),
        ),
        count("marks", "ACKs with an echoed ECN mark, or CNPs received", |row| row.result().marks),
        u8("hops", "links on its path, with the routes at the start of the run", |row| row.result().hops),
        one_of("status", FlowStatus::NAMES, |row| row.result().status() as usize),
        flag(
            "backlogged",
            "true if it always had data to send: its size is the acknowledged payload, which includes data in flight at the end of its entry",
            |row| row.is_backlogged(),
        ),
    ],
};

type Message = Range<u32>;

fn message_rows<'a>(run: &'a Records<'a>) -> Cow<'a, [Message]> {
    run.flows.messages().filter(|_| !run.flows.messages.is_empty()).collect()
}

impl<'a> Row<'a, Message> {
    fn first(self) -> &'a Flow {
        &self.run.flows.flows[self.start as usize]
    }

    fn indices(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    fn results(self) -> &'a [FlowRecord] {
        &self.run.outcome.flows[self.indices()]
    }

    fn size(self) -> u64 {
        self.run.flows.flows[self.indices()].iter().map(|flow| flow.size.0).sum()
    }

    fn begin(self) -> Option<Time> {
        self.results().iter().filter_map(|result| result.start).min()
    }

    /// `None` unless all parts ended.
    fn last(self, end: fn(&FlowRecord) -> Option<Time>) -> Option<Time> {
        self.results().iter().map(end).try_fold(Time::ZERO, |last, end| Some(last.max(end?)))
    }

    fn finish(self) -> Option<Time> {
        self.last(|result| result.finish)
    }
}

impl Between for Message {
    fn ends(row: Row<'_, Self>) -> [HostId; 2] {
        [row.first().src, row.first().dst]
    }
}

pub(super) static MESSAGES: Table<Message> = Table {
    name: "messages",
    description: "one row per message, if messages are split over several queue pairs (`qps`)",
    condition: Condition::Always,
    rows: message_rows,
    columns: &[
        scheme(),
        u32("message", "message number, in order of its first flow, from 0", |row| row.number),
        label(|row| row.first().label.into()),
        src(),
        dst(),
        u32("first_flow", "first flow of the message", |row| row.start),
        u32("flows", "number of its flows, numbered from the first on", |row| row.end - row.start),
        bytes("size_bytes", "payload of all its flows", |row| row.size()),
        maybe_ps("start_ps", "start of its first flow; missing if none started", |row| row.begin()),
        maybe_ps("delivered_ps", "arrival of the last byte of all its flows; missing without it", |row| {
            row.last(|result| result.delivered)
        }),
        maybe_ps("finish_ps", "arrival of the last ACK of all its flows; missing if incomplete", |row| row.finish()),
        maybe_ps("fct_ps", "message completion time: `finish_ps` - `start_ps`", |row| {
            Some(row.finish()?.saturating_sub(row.begin()?))
        }),
    ],
};

pub(super) static WAITS: Table<Waits> = Table {
    name: "waits",
    description: "one row per flow; only in runs with `measure.blocking`",
    condition: Condition::Blocking,
    rows: |run| (&run.outcome.waits).into(),
    columns: &[
        scheme(),
        flow(|row| row.number),
        label(|row| row.run.flows.flows[row.number as usize].label.into()),
        ps("waited_ps", "time of all data packets in egress queues of switches", |row| row.waited),
        ps("blocked_ps", "part of `waited_ps` in queues paused by PFC", |row| row.blocked),
        ps(
            "victim_ps",
            "part of `blocked_ps` as a victim: the root cause (the congested port at the end of the chain of pauses) was not on the packet's remaining path",
            |row| row.victim,
        ),
        ps(
            "host_blocked_ps",
            "time in which only PFC kept the flow's next data in its host; per flow, not per packet",
            |row| row.host_blocked,
        ),
        ps(
            "host_victim_ps",
            "part of `host_blocked_ps` as a victim: the root cause was not on the flow's path",
            |row| row.host_victim,
        ),
    ],
};

pub(super) static RATES: Table<RateSample> = Table {
    name: "rates",
    description: "one row per sample of an active flow (with `measure.sample_every`)",
    condition: Condition::Always,
    rows: |run| (&run.outcome.rates).into(),
    columns: &[
        scheme(),
        time(|row| row.time),
        flow(|row| row.record.flow),
        bps("rate_bps", "sending rate allowed by the control; without one, the rate of UDP or the link", |row| {
            row.rate
        }),
        maybe_bytes("window_bytes", "window allowed by the control; missing without one", |row| {
            Some(row.window).filter(|&window| window != u64::MAX)
        }),
        bytes(
            "acked_bytes",
            "payload acknowledged so far, selectively too; of UDP and pHost, payload that arrived",
            |row| row.acked,
        ),
    ],
};
