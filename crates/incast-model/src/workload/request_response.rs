use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collective::{Begin, send};
use super::entry::{Collector, Entry, Pattern};
use super::law::{SizeLaw, lognormal};
use super::ranks::Ranks;
use super::ring::one;
use super::sizes::SizeSpec;
use crate::entry::{EntryError, LABEL_RULE};
use crate::fabric::HostId;
use crate::flow::Gate;
use crate::range::least;
use crate::rng::{Stream, pick, unit};
use crate::units::Time;

/// Closed-loop clients: a client keeps requests to random servers outstanding, a server answers after `service`, the
/// client sends the next request after `think`.
///
/// With `fan_out` it is partition-aggregate (Alizadeh et al., DCTCP, SIGCOMM 2010, sec. 2.1): a query goes to many
/// workers; the next follows when all have answered. Flows are labelled `request` and `response`, after the entry's
/// label if it has one, such as `rpc-request`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponse {
    /// Size of each request, drawn if it is a distribution.
    pub request: SizeSpec,
    /// Size of each response, drawn if it is a distribution.
    pub response: SizeSpec,
    /// Requests of each loop of a client, one after the other, at least 1.
    #[schemars(transform = least(1))]
    pub requests: u32,
    /// Loops of a client, at least 1: its outstanding requests. Default 1.
    #[serde(default = "one")]
    #[schemars(transform = least(1))]
    pub outstanding: u32,
    /// Distinct servers of a request, 1 to the number of servers; all must answer before the next. Default 1.
    #[serde(default = "one")]
    pub fan_out: u32,
    /// Time from a request's last byte at the server to its response. Default 0.
    #[serde(default)]
    pub service: Time,
    /// Time from a response to the loop's next request, and before the first. Default 0.
    #[serde(default)]
    pub think: ThinkTime,
    /// Hosts that send requests. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Ranks>,
    /// Hosts that answer, never themselves. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Ranks>,
}

/// Think time of a client, drawn for each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThinkTime {
    /// Constant.
    Fixed(Time),
    /// Exponential with this mean.
    Exponential(Time),
    /// Lognormal with this mean; standard deviation of the logarithm 1.
    Lognormal(Time),
}

impl Default for ThinkTime {
    fn default() -> Self {
        Self::Fixed(Time::ZERO)
    }
}

impl ThinkTime {
    fn draw(self, u: f64) -> Time {
        match self {
            Self::Fixed(time) => time,
            Self::Exponential(mean) => Time((-libm::log(1.0 - u) * mean.0 as f64).round() as u64),
            Self::Lognormal(mean) => Time(lognormal(mean.0 as f64, 1.0, u).round() as u64),
        }
    }
}

struct Loops<'a> {
    spec: &'a RequestResponse,
    entry: &'a Entry<'a>,
    request: SizeLaw,
    response: SizeLaw,
    labels: [u16; 2],
}

impl Pattern for RequestResponse {
    fn has_labels(&self) -> bool {
        true
    }

    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let clients = Ranks::place(self.clients.as_ref(), "clients", 1, entry)?;
        let servers = Ranks::place(self.servers.as_ref(), "servers", 1, entry)?;
        let asks_itself = clients.iter().any(|client| servers.contains(client));
        let others = servers.len() - usize::from(asks_itself);
        if others == 0 {
            return Err(entry.refuse("servers", servers[0].0, "another host than the only client"));
        }
        if self.fan_out == 0 || self.fan_out as usize > others {
            let allowed = format!("1 to {others}, the servers other than a client itself");
            return Err(entry.refuse("fan_out", self.fan_out, allowed));
        }
        let requests = f64::from(self.requests) * f64::from(self.outstanding) * clients.len() as f64;
        let flows = 2.0 * requests * f64::from(self.fan_out);
        entry.expect("requests", self.requests, flows, flows / 2.0)?;
        let loops = Loops {
            spec: self,
            entry,
            request: self.request.law(&entry.field("request"), entry.base_dir)?,
            response: self.response.law(&entry.field("response"), entry.base_dir)?,
            labels: labels(entry, out)?,
        };
        for &client in &clients {
            for own in 0..self.outstanding {
                loops.add(client, own, &servers, out)?;
            }
        }
        Ok(())
    }
}

fn labels(entry: &Entry<'_>, out: &mut Collector) -> Result<[u16; 2], EntryError> {
    let own = out.label_name(entry.label).to_owned();
    let mut label = |kind: &str| {
        let name = if entry.labelled { format!("{own}-{kind}") } else { kind.to_owned() };
        out.label(&name)
            .ok_or_else(|| EntryError::field(&entry.path, name, format!("{LABEL_RULE}, at most 65536 of them")))
    };
    Ok([label("request")?, label("response")?])
}

impl Loops<'_> {
    fn add(&self, client: HostId, own: u32, servers: &[HostId], out: &mut Collector) -> Result<(), EntryError> {
        let mut rng = self.entry.stream("loops", u64::from(client.0) << 32 | u64::from(own));
        let mut others: Vec<HostId> = servers.iter().copied().filter(|&server| server != client).collect();
        let mut answers = Vec::new();
        for _ in 0..self.spec.requests {
            let think = self.spec.think.draw(unit(&mut rng));
            let chosen = choose(&mut others, self.spec.fan_out as usize, &mut rng);
            let to: Vec<(HostId, u64)> =
                chosen.iter().map(|&server| (server, self.request.sample(unit(&mut rng)))).collect();
            let begin = Begin { waits: &answers, delay: think, round: out.round(self.entry) };
            let first = send(self.entry, out, client, to.iter().copied(), &begin)?;
            answers.clear();
            for (request, (server, _)) in (first..).zip(to) {
                out.relabel(request, self.labels[0]);
                let size = self.response.sample(unit(&mut rng));
                let mut flow = self.entry.flow(server, client, size, self.entry.start);
                flow.label = self.labels[1];
                let response = out.push(flow)?;
                let waits_for = vec![request];
                out.gate(Gate { waits_for, delay: self.spec.service, starts: vec![response], round: None });
                answers.push(response);
            }
        }
        Ok(())
    }
}

/// First steps of a Fisher-Yates shuffle.
fn choose<'a>(all: &'a mut [HostId], count: usize, rng: &mut Stream) -> &'a [HostId] {
    for chosen in 0..count {
        let other = chosen + pick(rng, all.len() - chosen);
        all.swap(chosen, other);
    }
    &all[..count]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::collective::tests::depths;
    use super::super::testing::{flows, pattern, refused, star};
    use super::ThinkTime;
    use crate::flow::FlowSet;
    use crate::units::{Rate, Time};

    fn loops(rest: &str) -> FlowSet {
        let json = format!(r#"{{"request": 100, "response": "fb_etc_homa", {rest}}}"#);
        flows(&star(8, Rate::gbps(100)), &pattern("request_response", &json), 1)
    }

    #[test]
    fn requests_and_responses_take_turns() {
        let set = loops(r#""requests": 5, "clients": {"hosts": "0-1"}, "servers": {"hosts": "1-7"}, "service": "3us""#);
        assert_eq!(set.labels, ["request", "response"]);
        assert_eq!(set.flows.len(), 2 * 2 * 5);
        let depths = depths(&set);
        assert_eq!(*depths.iter().max().unwrap(), 9);
        for (flow, depth) in set.flows.iter().zip(&depths) {
            let (client, server) = if depth % 2 == 0 { (flow.src, flow.dst) } else { (flow.dst, flow.src) };
            assert!(client.0 < 2 && server.0 > 0 && client != server);
            assert_eq!(usize::from(flow.label), depth % 2);
        }
        for gate in &set.gates {
            let [before, next] = [gate.waits_for[0], gate.starts[0]].map(|flow| &set.flows[flow as usize]);
            assert_eq!(before.dst, next.src);
            assert_eq!(gate.delay, if next.label == 1 { Time::us(3) } else { Time::ZERO });
        }
    }

    #[test]
    fn loops_are_independent() {
        let one = loops(r#""requests": 5, "clients": {"hosts": "0"}"#);
        let two = loops(r#""requests": 5, "clients": {"hosts": "0"}, "outstanding": 2"#);
        assert_eq!((one.flows.len(), two.flows.len()), (10, 20));
        assert_eq!(depths(&two).iter().filter(|&&depth| depth == 0).count(), 2);
    }

    #[test]
    fn queries_fan_out_to_distinct_servers() {
        let set = loops(r#""requests": 3, "fan_out": 7, "clients": {"hosts": "2"}"#);
        assert_eq!(set.flows.len(), 42);
        let second = set.gates.iter().find(|gate| gate.starts.len() == 7).unwrap();
        assert_eq!(second.waits_for.len(), 7);
        let servers: BTreeSet<u32> = second.starts.iter().map(|&flow| set.flows[flow as usize].dst.0).collect();
        assert_eq!(servers.into_iter().collect::<Vec<_>>(), [0, 1, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn thinking_takes_its_time() {
        let mean = |think: ThinkTime| {
            let draws = (0..100_000).map(|i| think.draw((f64::from(i) + 0.5) / 1e5).0 as f64);
            draws.sum::<f64>() / 1e5
        };
        assert!((mean(ThinkTime::Exponential(Time::us(10))) / 1e7 - 1.0).abs() < 0.001);
        assert!((mean(ThinkTime::Lognormal(Time::us(10))) / 1e7 - 1.0).abs() < 0.002);
        let set = loops(r#""requests": 2, "think": {"fixed": "4us"}, "clients": {"hosts": "0"}"#);
        assert_eq!(set.gates.iter().filter(|gate| gate.delay == Time::us(4)).count(), 1);
        assert!(set.flows.iter().any(|flow| flow.start == Time::us(4)), "before the first, too");
    }

    #[test]
    fn an_end_calls_off_requests() {
        let json = r#"{"request": 1, "response": 2, "requests": 3, "fan_out": 2, "clients": {"hosts": "0-1"},
                       "think": {"exponential": "10us"}}"#;
        let mut spec = pattern("request_response", json);
        let fabric = star(8, Rate::gbps(100));
        let open = flows(&fabric, &spec, 1);
        let mut firsts: Vec<Time> =
            open.flows.iter().map(|flow| flow.start).filter(|&start| start > Time::ZERO).collect();
        firsts.dedup();
        let [early, late] = firsts[..] else { panic!("{firsts:?}") };
        spec.end = Some(late + Time(1));
        let set = flows(&fabric, &spec, 1);
        assert_eq!(set.flows, open.flows);
        for gate in &set.gates {
            assert_eq!(gate.round.is_some(), set.flows[gate.starts[0] as usize].size.0 == 1, "requests, not answers");
        }
        let rounds: Vec<u32> = set.gates.iter().filter_map(|gate| gate.round).collect();
        assert_eq!((rounds.len(), set.rounds.len()), (4, 6));
        assert!(rounds.iter().all(|round| rounds.iter().filter(|other| *other == round).count() == 1));
        spec.end = Some(late);
        let set = flows(&fabric, &spec, 1);
        assert_eq!((set.flows.len(), set.flows.last().unwrap().start), (12, early));
        assert_eq!(depths(&set).iter().max(), Some(&5));
        let client = set.flows.last().unwrap().src;
        assert!(set.flows.iter().all(|flow| flow.src == client || flow.dst == client));
        spec.end = Some(Time(1));
        assert!(flows(&fabric, &spec, 1).flows.is_empty());
    }

    #[test]
    fn a_label_goes_before_both() {
        let mut spec = pattern("request_response", r#"{"request": 1, "response": 1, "requests": 1}"#);
        spec.label = Some("rpc".into());
        assert_eq!(flows(&star(4, Rate::gbps(1)), &spec, 1).labels, ["rpc-request", "rpc-response"]);
    }

    #[test]
    fn bad_fields_are_named() {
        let why = |rest: &str| {
            let json = format!(r#"{{"request": 1, "response": 1, {rest}}}"#);
            refused(&star(8, Rate::gbps(100)), &pattern("request_response", &json))
        };
        assert_eq!(why(r#""requests": 0"#), "workload[0].request_response.requests = 0: must be 1 or more");
        assert!(why(r#""requests": 1, "outstanding": 0"#).contains("outstanding = 0: must be 1 or more"));
        assert_eq!(
            why(r#""requests": 1, "fan_out": 8"#),
            "workload[0].request_response.fan_out = 8: must be 1 to 7, the servers other than a client itself"
        );
        let alone = r#""requests": 1, "clients": {"list": [3]}, "servers": {"list": [3]}"#;
        assert!(why(alone).ends_with("servers = 3: must be another host than the only client"));
    }
}
