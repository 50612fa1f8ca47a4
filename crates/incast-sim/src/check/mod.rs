//! Relations between parameters. Their schemas have the ranges ([`incast_model::range`]).

mod blocking;
mod classes;
mod deadlock;
mod isolation;
mod pauses;

use std::collections::{HashMap, HashSet};

use incast_model::field::FieldError;
use incast_model::units::{Bytes, Time};

use crate::balance::Balance;
use crate::congestion::Telemetry;
use crate::host::{HostParams, PacketParams, RdmaParams, Recovery};
use crate::measure::MeasureParams;
use crate::network::NetworkParams;
use crate::setup::{Arithmetic, Params};
use crate::switch::{Alpha, EcnParams, Forwarding, PfcMode, QueueParams, SchedulerParams, SwitchParams};

/// Lengths have 16 bits on the wire; a jumbo frame has 9000 B.
const MOST_BYTES: u64 = 65_535;

#[derive(Default)]
struct Found(Vec<FieldError>);

impl Found {
    fn unless(&mut self, holds: bool, field: &str, value: impl std::fmt::Display, allowed: &str) {
        self.0.extend(FieldError::unless(holds, field, value, allowed).err());
    }

    fn add(&mut self, section: &str, found: Self) {
        self.0.extend(found.0.into_iter().map(|error| error.within(section)));
    }

    fn once(&mut self, field: &str, list: &[u8]) {
        for (index, one) in list.iter().enumerate() {
            self.unless(!list[..index].contains(one), &format!("{field}[{index}]"), one, "each priority once");
        }
    }
}

impl Params {
    /// Violated relations between parameters in range. [`Setup::checked`](crate::Setup::checked) checks those that need fabric
    /// or flows.
    pub fn faults(&self) -> Vec<FieldError> {
        let mut found = Found::default();
        if self.arithmetic == Arithmetic::Ns3 {
            found.add("network", in_ns3(&self.network));
        }
        found.add("switch", switch(&self.switch, self.arithmetic));
        found.add("ecn", ecn(&self.ecn));
        found.add("packets", packets(&self.packets));
        found.add("host", host(&self.host, self.arithmetic, self.switch.forwarding));
        found.add("rdma", rdma(&self.rdma, self.arithmetic));
        found.add("measure", measure(&self.measure));
        found.0
    }
}

fn in_ns3(params: &NetworkParams) -> Found {
    let mut found = Found::default();
    let mut refuse = |holds: bool, field: &str, what: &str, allowed: &str| {
        if !holds {
            let message = format!("{what} is not possible in ns3 arithmetic");
            found.0.push(FieldError::new(field, message).allowed(allowed));
        }
    };
    let balance = format!("load balancing by `{}`", params.load_balancing.name());
    refuse(params.load_balancing == Balance::Ecmp, "load_balancing", &balance, "ecmp, or exact arithmetic");
    refuse(params.failure.is_empty(), "failure", "a failure of links", "none, or exact arithmetic");
    refuse(params.pause.is_empty(), "pause", "a PFC storm", "none, or exact arithmetic");
    let timed = params.route.iter().any(|route| route.from > Time::ZERO || route.until.is_some());
    refuse(!timed, "route", "a route that changes", "routes without times, or exact arithmetic");
    found
}

fn switch(params: &SwitchParams, arithmetic: Arithmetic) -> Found {
    let mut found = Found::default();
    let exact = arithmetic == Arithmetic::Exact;
    let stored = exact || params.forwarding == Forwarding::StoreAndForward;
    found.unless(stored, "forwarding", "cut-through", "store-and-forward, or exact arithmetic");
    let shared = exact || params.queues == QueueParams::Shared;
    found.unless(shared, "queues", "a buffer for each port", "shared, or exact arithmetic");
    found.once("lossless", &params.lossless);
    match params.pfc_mode {
        PfcMode::Dynamic { alpha: Alpha::Value(alpha) } => {
            let allowed = "above 0, at most 16; switches have 1/128 to 8";
            found.unless(alpha > 0.0 && alpha <= 16.0, "pfc_mode.dynamic.alpha", alpha, allowed);
        }
        PfcMode::Dynamic { alpha: Alpha::ByRate } => {}
        PfcMode::Static { xoff } => {
            found.unless(xoff < params.buffer, "pfc_mode.static.xoff", xoff, "less than the buffer");
            let bounds = ["at least", "at most"];
            offset_within(&mut found, params.resume_offset <= xoff, params, ("pfc_mode.static.xoff", xoff), bounds);
        }
    }
    by_rate(&mut found, params);
    let bounds = ["more than", "less than"];
    offset_within(&mut found, params.resume_offset < params.buffer, params, ("buffer", params.buffer), bounds);
    if let SchedulerParams::Drr { quanta, strict } = &params.scheduler {
        found.once("scheduler.drr.strict", strict);
        for (priority, &quantum) in quanta.iter().enumerate().skip(1) {
            found.unless(quantum > 0, &format!("scheduler.drr.quanta[{priority}]"), quantum, "1 byte or more");
        }
    }
    found
}

fn by_rate(found: &mut Found, params: &SwitchParams) {
    let dynamic = matches!(params.pfc_mode, PfcMode::Dynamic { .. });
    let (mut pairs, mut alphas) = (HashSet::new(), HashMap::new());
    for (index, one) in params.by_rate.iter().enumerate() {
        let field = |name: &str| format!("by_rate[{index}]{name}");
        let some = one.headroom.is_some() || one.alpha.is_some();
        found.unless(some, &field(""), "an entry without a value", "headroom, alpha or both");
        let new = pairs.insert((one.rate, one.max_delay));
        found.unless(new, &field(".rate"), one.rate, "each pair of rate and max_delay once");
        if let Some(alpha) = one.alpha {
            found.unless(dynamic, &field(".alpha"), alpha, "only with switch.pfc_mode.dynamic");
            let first = *alphas.entry(one.rate).or_insert(alpha);
            let allowed = format!("{first}, the alpha of the preceding entry with this rate");
            found.unless(alpha == first, &field(".alpha"), alpha, &allowed);
        }
    }
}

/// An offset above the threshold prevents a resume before the queue is empty. Reports the non-default parameter.
fn offset_within(
    found: &mut Found,
    holds: bool,
    params: &SwitchParams,
    (field, space): (&str, Bytes),
    [above, below]: [&str; 2],
) {
    let offset = params.resume_offset;
    if offset == SwitchParams::default().resume_offset {
        found.unless(holds, field, space, &format!("{above} switch.resume_offset, {offset}"));
    } else {
        found.unless(holds, "resume_offset", offset, &format!("{below} switch.{field}, {space}"));
    }
}

fn ecn(params: &EcnParams) -> Found {
    let mut found = Found::default();
    found.unless(params.kmin <= params.kmax, "kmin", params.kmin, &format!("at most kmax, {}", params.kmax));
    let mut rates = HashSet::new();
    for (index, one) in params.by_rate.iter().enumerate() {
        let field = |name: &str| format!("by_rate[{index}].{name}");
        found.unless(one.kmin <= one.kmax, &field("kmin"), one.kmin, &format!("at most kmax, {}", one.kmax));
        found.unless(rates.insert(one.rate), &field("rate"), one.rate, "each rate once");
    }
    found
}

fn packets(params: &PacketParams) -> Found {
    let mut found = Found::default();
    found.unless(params.ack.0 + params.min_ack.0 > 0, "ack", params.ack, "more than 0B");
    let telemetry = [Telemetry::Timestamp, Telemetry::Pint, Telemetry::Int].map(|one| params.telemetry_bytes(one));
    let largest =
        (params.data_header.0 + params.payload.0).max(params.ack.0) + telemetry.into_iter().max().unwrap_or(0);
    let segment = params.mss.0 + params.segment_header.0;
    for (field, value, what, size) in
        [("payload", params.payload, "packets", largest), ("mss", params.mss, "segments", segment)]
    {
        if size > MOST_BYTES {
            let message = format!("{value} makes {what} of {size} B; at most {MOST_BYTES} B are possible");
            found.0.push(FieldError::new(field, message));
        }
    }
    found
}

fn host(params: &HostParams, arithmetic: Arithmetic, forwarding: Forwarding) -> Found {
    let mut found = Found::default();
    if params.jitter > Time::ZERO && forwarding != Forwarding::StoreAndForward {
        found.0.push(FieldError::new("jitter", "jitter and cut-through do not go together"));
    }
    if params.jitter > Time::ZERO && arithmetic == Arithmetic::Ns3 {
        found.0.push(FieldError::new("jitter", "jitter and the reference's arithmetic do not go together"));
    }
    found
}

fn rdma(params: &RdmaParams, arithmetic: Arithmetic) -> Found {
    let mut found = Found::default();
    if params.recovery == Recovery::GoBackN {
        return found;
    }
    if arithmetic == Arithmetic::Ns3 {
        let message = "selective-repeat is not possible in ns3 arithmetic: the HPCC authors' ns-3 has go-back-n only";
        found.0.push(FieldError::new("recovery", message));
    }
    let rto = params.rto.unwrap_or(Time::MAX);
    let allowed = format!("at most the timeout for more packets in flight, rdma.rto, {rto}");
    found.unless(params.rto_low <= rto, "rto_low", params.rto_low, &allowed);
    found
}

fn measure(params: &MeasureParams) -> Found {
    let mut found = Found::default();
    let until = params.sample_until.unwrap_or(Time::MAX);
    let after = format!("after sample_from, {}", params.sample_from);
    found.unless(until > params.sample_from, "sample_until", until, &after);
    found
}
