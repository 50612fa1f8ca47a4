use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrivals::{Arrivals, mean_gap};
use super::backlog::Amounts;
use super::entry::{Collector, Entry, Pattern};
use super::hosts::HostSet;
use super::offer::{Dial, Offer, Parts};
use super::sizes::SizeSpec;
use super::window::Window;
use crate::entry::EntryError;
use crate::fabric::HostId;
use crate::rng::{pick, unit};
use crate::units::Time;

/// Incast events: `fan_in` random distinct hosts start a flow to one receiver at the same instant.
///
/// One event at the entry's start, unless `at`, `every` or `load` is given. The HPCC evaluation adds 60-to-1 incasts of
/// 500 kB flows at 2 % of the network's capacity to its background traffic (Li et al., SIGCOMM 2019, sec. 5.3): `fan_in
/// = 60`, `size = "500kB"`, `load = 0.02`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Senders of an event, 1 to the number of hosts other than the receiver.
    pub fan_in: u32,
    /// Size of each flow, drawn if it is a distribution; `backlogged` with a single event.
    pub size: SizeSpec,
    /// Receiver of every event. Default: random for each event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<u32>,
    /// Time of a single event after the entry's start. Default: 0, without `every` and `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// Period of events from the entry's start on, for `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Time>,
    /// Load of Poisson events for `duration`, more than 0: payload as a fraction of the total link rate of `hosts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Interval after the entry's start in which events start; required with `every` or `load`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Hosts that senders and random receivers are drawn from. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostSet>,
}

impl Pattern for Incast {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let amounts = self.amounts(entry)?;
        let hosts = entry.hosts(self.hosts.as_ref())?;
        let receiver = self.receiver.map(|host| entry.host("receiver", host)).transpose()?;
        self.check_fan_in(entry, &hosts, receiver)?;
        let times = self.times(entry, &hosts, amounts.mean())?;
        // Separate streams: hosts and sizes do not change with the times.
        let mut who = entry.stream("hosts", 0);
        let mut how_much = entry.stream("sizes", 0);
        let mut senders = hosts.clone();
        for start in times {
            let receiver = receiver.unwrap_or_else(|| hosts[pick(&mut who, hosts.len())]);
            senders.clone_from(&hosts);
            senders.retain(|&host| host != receiver);
            // Fisher-Yates: distinct senders, equally likely.
            for chosen in 0..self.fan_in as usize {
                let other = chosen + pick(&mut who, senders.len() - chosen);
                senders.swap(chosen, other);
                out.push(amounts.flow(entry, senders[chosen], receiver, unit(&mut how_much), start))?;
            }
        }
        Ok(())
    }

    fn mean_size(&self, base_dir: &Path) -> Option<f64> {
        self.load.and_then(|_| Some(self.size.law("size", base_dir).ok()?.mean()))
    }

    fn offer(&self, entry: &Entry<'_>) -> Result<Option<Offer>, EntryError> {
        let hosts = entry.hosts(self.hosts.as_ref())?;
        let (total, dial) = match (self.load, self.every) {
            (Some(load), _) => {
                let capacity: f64 = hosts.iter().map(|&host| entry.capacity(host)).sum();
                (load * capacity, Dial::Load(load))
            }
            (None, Some(every)) => {
                let event = f64::from(self.fan_in) * self.amounts(entry)?.mean() * 8.0;
                (event / every.seconds(), Dial::Every(every))
            }
            (None, None) => return Ok(None),
        };
        let receiver = self.receiver.map(HostId);
        let senders: Vec<HostId> = hosts.iter().copied().filter(|&host| Some(host) != receiver).collect();
        let rate = total / senders.len() as f64;
        let mut parts = Parts::default();
        let to = parts.set(receiver.map_or(hosts, |receiver| vec![receiver]));
        parts.add(senders.into_iter().map(|host| (host, rate)).collect(), to, None);
        Ok(Some(Offer { window: entry.window(self.duration)?, dial: Some(dial), parts }))
    }
}

impl Incast {
    /// Repeated events need one.
    fn amounts(&self, entry: &Entry<'_>) -> Result<Amounts, EntryError> {
        let field = entry.field("size");
        match (self.every, self.load) {
            (None, None) => Amounts::new(entry, &field, &self.size),
            _ => Ok(Amounts::Drawn(self.size.law(&field, entry.base_dir)?)),
        }
    }

    fn check_fan_in(&self, entry: &Entry<'_>, hosts: &[HostId], receiver: Option<HostId>) -> Result<(), EntryError> {
        let candidates = match receiver {
            Some(receiver) if !hosts.contains(&receiver) => hosts.len(),
            _ => hosts.len().saturating_sub(1),
        };
        if self.fan_in == 0 || self.fan_in as usize > candidates {
            let allowed = format!("1 to {candidates}, the hosts other than the receiver");
            return Err(entry.refuse("fan_in", self.fan_in, allowed));
        }
        Ok(())
    }

    fn times(&self, entry: &Entry<'_>, hosts: &[HostId], mean: f64) -> Result<Vec<Time>, EntryError> {
        let fan_in = f64::from(self.fan_in);
        match (self.at, self.every, self.load) {
            (at, None, None) => match self.duration {
                None => Ok(vec![entry.after("at", at.unwrap_or_default())?]),
                Some(duration) => Err(entry.refuse("duration", duration, "omitted: there is no every or load")),
            },
            (None, Some(every), None) => {
                if every == Time::ZERO {
                    return Err(entry.refuse("every", every, "a time of more than 0, such as \"1ms\""));
                }
                let window = entry.window(self.duration)?;
                entry.expect("every", every, window.length() / every.0 as f64 * fan_in, 0.0)?;
                Ok(periodic(window, every))
            }
            (None, None, Some(load)) => {
                let window = entry.window(self.duration)?;
                let capacity: f64 = hosts.iter().map(|&host| entry.capacity(host)).sum();
                let gap = mean_gap(mean * fan_in, entry.load(load)?, capacity);
                entry.expect("load", load, window.length() / gap * fan_in, 0.0)?;
                let mut rng = entry.stream("events", 0);
                let mut arrivals = Arrivals::new(window, gap);
                Ok(std::iter::from_fn(|| arrivals.next(&mut rng)).collect())
            }
            (at, every, load) => {
                let given = [("at", at.is_some()), ("every", every.is_some()), ("load", load.is_some())];
                let given: Vec<&str> = given.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect();
                Err(EntryError::choice(&entry.path, &given, "at most one of at, every and load"))
            }
        }
    }
}

fn periodic(window: Window, every: Time) -> Vec<Time> {
    let next = |now: &Time| now.0.checked_add(every.0).map(Time).filter(|&next| next < window.end);
    std::iter::successors(Some(window.start), next).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::testing::{flows, pattern, refused, star};
    use crate::flow::FlowSet;
    use crate::units::{Bytes, Rate, Time};

    fn events(set: &FlowSet, fan_in: usize) -> Vec<(Time, u32, Vec<u32>)> {
        let mut events = Vec::new();
        for event in set.flows.chunks(fan_in) {
            let senders: BTreeSet<u32> = event.iter().map(|f| f.src.0).collect();
            assert_eq!(senders.len(), fan_in);
            assert!(event.iter().all(|f| f.start == event[0].start && f.dst == event[0].dst && f.src != f.dst));
            events.push((event[0].start, event[0].dst.0, senders.into_iter().collect()));
        }
        events
    }

    #[test]
    fn one_event_at_the_start() {
        let mut spec = pattern("incast", r#"{"fan_in": 7, "size": "500kB", "receiver": 3}"#);
        spec.start = Time::us(4);
        let set = flows(&star(8, Rate::gbps(100)), &spec, 1);
        assert_eq!(events(&set, 7), [(Time::us(4), 3, vec![0, 1, 2, 4, 5, 6, 7])]);
        assert!(set.flows.iter().all(|f| f.size == Bytes(500_000)));
        spec.incast.as_mut().unwrap().at = Some(Time::us(2));
        assert_eq!(flows(&star(8, Rate::gbps(100)), &spec, 1).flows[0].start, Time::us(6));
    }

    #[test]
    fn periodic_events_with_random_hosts() {
        let json = r#"{"fan_in": 4, "size": "10kB", "every": "10us", "duration": "1ms"}"#;
        let set = flows(&star(16, Rate::gbps(100)), &pattern("incast", json), 1);
        let events = events(&set, 4);
        assert_eq!(
            events.iter().map(|e| e.0).collect::<Vec<_>>(),
            (0..100).map(|n| Time::us(10 * n)).collect::<Vec<_>>()
        );
        let receivers: BTreeSet<u32> = events.iter().map(|e| e.1).collect();
        let senders: BTreeSet<u32> = events.iter().flat_map(|e| e.2.clone()).collect();
        assert!(receivers.len() > 12 && senders.len() == 16);
    }

    #[test]
    fn load_counts_the_payload_of_all_events() {
        let json = r#"{"fan_in": 60, "size": "500kB", "load": 0.02, "duration": "5s"}"#;
        let set = flows(&star(320, Rate::gbps(100)), &pattern("incast", json), 1);
        // 13,000 events: a standard error of 0.9 %.
        let offered = set.bytes().0 as f64 * 8.0 / (5.0 * 320.0 * 100e9);
        assert!((offered / 0.02 - 1.0).abs() < 0.025, "{offered}");
        let events = events(&set, 60);
        let gaps: Vec<f64> = events.windows(2).map(|e| (e[1].0 - e[0].0).seconds()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03, "coefficient of variation {}", variance.sqrt() / mean);
    }

    #[test]
    fn a_fixed_receiver_outside_the_senders() {
        let json = r#"{"fan_in": 4, "size": "10kB", "receiver": 9, "hosts": "0-3"}"#;
        let set = flows(&star(16, Rate::gbps(100)), &pattern("incast", json), 1);
        assert_eq!(events(&set, 4), [(Time::ZERO, 9, vec![0, 1, 2, 3])]);
    }

    #[test]
    fn bad_fields_are_named() {
        let why = |json: &str| refused(&star(8, Rate::gbps(100)), &pattern("incast", json));
        assert_eq!(
            why(r#"{"fan_in": 8, "size": "1kB"}"#),
            "workload[0].incast.fan_in = 8: must be 1 to 7, the hosts other than the receiver"
        );
        assert!(why(r#"{"fan_in": 0, "size": "1kB"}"#).starts_with("workload[0].incast.fan_in = 0: must be 1 to 7"));
        assert!(why(r#"{"fan_in": 4, "size": "1kB", "hosts": "0-3"}"#).contains("must be 1 to 3"));
        assert_eq!(
            why(r#"{"fan_in": 4, "size": "1kB", "receiver": 8}"#),
            "workload[0].incast.receiver = 8: must be a host of this fabric, 0 to 7"
        );
        assert_eq!(
            why(r#"{"fan_in": 4, "size": "1kB", "at": "1us", "load": 0.1}"#),
            "workload[0].incast: `at` and `load` are given where one is allowed (allowed: at most one of at, every and load)"
        );
        assert_eq!(
            why(r#"{"fan_in": 4, "size": "1kB", "every": "1us"}"#),
            "workload[0].incast.duration: `duration` is required (allowed: a time of more than 0, such as \"10ms\", or \
             the entry's `end`)"
        );
        assert_eq!(
            why(r#"{"fan_in": 4, "size": "1kB", "duration": "1us"}"#),
            "workload[0].incast.duration = 1us: must be omitted: there is no every or load"
        );
        assert!(
            why(r#"{"fan_in": 4, "size": "1kB", "every": "0s", "duration": "1us"}"#).contains("incast.every = 0ps")
        );
        assert!(why(r#"{"fan_in": 4, "size": "1kB", "load": 0, "duration": "1us"}"#).contains("incast.load = 0:"));
        assert!(why(r#"{"fan_in": 4, "size": "0B"}"#).contains("incast.size = 0B: must be a size of at least 1B"));
        assert!(why(r#"{"fan_in": 4, "size": 1, "every": "1ps", "duration": "1s"}"#).contains("33554431 flows"));
    }
}
