//! Flow sets as traces.

use std::io::{self, Write};

use crate::entry::{LABEL_RULE, is_label};
use crate::flow::{FlowSet, Gate};
use crate::units::Time;

/// Names in `after` of a written trace, at most (our choice: 100 MB of text).
const MOST_NAMES: usize = 10_000_000;

/// Refuses flows that a trace cannot express.
pub fn check_trace(flows: &FlowSet) -> io::Result<()> {
    let names = |gate: &Gate| gate.waits_for.len().saturating_mul(gate.starts.len());
    let why = if flows.gates.iter().any(|gate| gate.round.is_some()) {
        "flows that never start if their entry ends first cannot be part of a trace, which has no entries: leave out `end`"
    } else if flows.gates.iter().map(names).fold(0, usize::saturating_add) > MOST_NAMES {
        "too many dependencies for a trace, in which each flow names those that it waits for: at most 10 million names"
    } else if flows.flows.iter().any(|flow| flow.until.is_some()) {
        "backlogged flows cannot be part of a trace, which has a size for each"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

/// Dependencies of flows as cells of a trace.
#[derive(Debug)]
pub struct TraceWaits<'a> {
    gates: Vec<Option<&'a Gate>>,
    named: Vec<bool>,
}

impl<'a> TraceWaits<'a> {
    /// `None` if no flow waits for another.
    pub fn new(flows: &'a FlowSet) -> Option<Self> {
        let count = flows.flows.len();
        let mut waits = Self { gates: vec![None; count], named: vec![false; count] };
        for gate in &flows.gates {
            gate.starts.iter().for_each(|&flow| waits.gates[flow as usize] = Some(gate));
            gate.waits_for.iter().for_each(|&flow| waits.named[flow as usize] = true);
        }
        (!flows.gates.is_empty()).then_some(waits)
    }

    /// Name of a flow; empty if no other waits for it.
    pub fn name(&self, flow: usize) -> String {
        if self.named[flow] { format!("f{flow}") } else { String::new() }
    }

    /// Names of the flows that this one waits for.
    pub fn after(&self, flow: usize) -> String {
        let names = self.gates[flow].iter().flat_map(|gate| &gate.waits_for).map(|other| format!("f{other}"));
        names.collect::<Vec<_>>().join(" ")
    }

    /// Time from their last end to the start; `None` for a flow that does not wait.
    pub fn delay(&self, flow: usize) -> Option<Time> {
        self.gates[flow].map(|gate| gate.delay)
    }
}

/// Writes a trace that reads back as the same flows, in order, without explicit paths, message membership and iterations of
/// collectives; see [`check_trace`].
pub fn write_trace(flows: &FlowSet, mut to: impl Write) -> io::Result<()> {
    if let Some(label) = flows.labels.iter().find(|label| !is_label(label)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("label `{label}`: must be {LABEL_RULE}")));
    }
    check_trace(flows)?;
    let waits = TraceWaits::new(flows);
    write!(to, "src,dst,size_bytes,start_ps,priority,label,sport,dport")?;
    writeln!(to, "{}", if waits.is_some() { ",name,after,delay_ps" } else { "" })?;
    for (number, f) in flows.flows.iter().enumerate() {
        let label = flows.labels.get(usize::from(f.label)).map_or("", String::as_str);
        let (src, dst, size, start) = (f.src.0, f.dst.0, f.size.0, f.start.0);
        write!(to, "{src},{dst},{size},{start},{},{label},{},{}", f.priority, f.sport, f.dport)?;
        if let Some(waits) = &waits {
            let delay = waits.delay(number).map(|delay| delay.0.to_string());
            write!(to, ",{},{},{}", waits.name(number), waits.after(number), delay.unwrap_or_default())?;
        }
        writeln!(to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::super::testing::{flows, folder, generate_in, pattern, star};
    use super::*;
    use crate::entry::EntryError;
    use crate::fabric::HostId;
    use crate::flow::Flow;
    use crate::units::{Bytes, Rate};

    fn read(text: &str) -> Result<FlowSet, EntryError> {
        let folder = folder();
        fs::write(folder.path().join("t.csv"), text).unwrap();
        generate_in(folder.path(), &star(16, Rate::gbps(100)), &pattern("trace", r#"{"file": "t.csv"}"#), 1)
    }

    fn written(set: &FlowSet) -> String {
        let mut text = Vec::new();
        write_trace(set, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    prop_compose! {
        fn flow()(
            (src, step, size) in (0u32..16, 1u32..16, 1u64..),
            (start, priority, label) in (0u64..1 << 40, 1u8..8, 0u16..2),
            (sport, dport) in (1u16.., 1u16..),
        ) -> Flow {
            Flow {
                src: HostId(src),
                dst: HostId((src + step) % 16),
                size: Bytes(size),
                start: Time(start),
                priority,
                label,
                sport,
                dport,
                path: None,
                until: None,
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn written_traces_read_back(mut flows in prop::collection::vec(flow(), 0..50)) {
            flows.sort_by_key(|flow| flow.start);
            let set = FlowSet { flows, labels: vec!["trace".into(), "incast a".into()], ..FlowSet::default() };
            let again = read(&written(&set)).unwrap();
            prop_assert_eq!(&set.flows.len(), &again.flows.len());
            for (a, b) in set.flows.iter().zip(&again.flows) {
                prop_assert_eq!(&set.labels[usize::from(a.label)], &again.labels[usize::from(b.label)]);
                prop_assert_eq!(a, &Flow { label: a.label, ..b.clone() });
            }
        }
    }

    #[test]
    fn generated_flows_survive_the_trip() {
        let spec = pattern("poisson", r#"{"load": 0.5, "sizes": "fb_hadoop", "duration": "100us"}"#);
        let set = flows(&star(16, Rate::gbps(100)), &spec, 4);
        let again = read(&written(&set)).unwrap();
        assert_eq!(again.flows.len(), set.flows.len());
        assert!(
            again.flows.iter().zip(&set.flows).all(|(a, b)| (a.start, a.sport, a.size) == (b.start, b.sport, b.size))
        );
        assert_eq!(again.labels[usize::from(again.flows[0].label)], "poisson");
    }

    /// Dependencies of each flow, in order of flows.
    fn waits(set: &FlowSet) -> Vec<(u32, Vec<u32>, Time)> {
        let of_gate =
            |gate: &Gate| gate.starts.iter().map(|&flow| (flow, gate.waits_for.clone(), gate.delay)).collect();
        let mut all: Vec<_> = set.gates.iter().flat_map(|gate| -> Vec<_> { of_gate(gate) }).collect();
        all.iter_mut().for_each(|(_, others, _)| others.sort_unstable());
        all.sort_unstable();
        all
    }

    #[test]
    fn dependencies_survive_the_trip() {
        let ring = r#"{"size": "1MB", "iterations": 2, "compute": "3us"}"#;
        let set = flows(&star(16, Rate::gbps(100)), &pattern("ring_all_reduce", ring), 1);
        let text = written(&set);
        assert!(
            text.starts_with("src,dst,size_bytes,start_ps,priority,label,sport,dport,name,after,delay_ps\n"),
            "{text}"
        );
        let again = read(&text).unwrap();
        assert!(waits(&set).iter().any(|(_, _, delay)| *delay == Time::us(3)));
        assert_eq!(waits(&again), waits(&set));
    }

    #[test]
    fn what_a_trace_cannot_express_is_refused() {
        let mut set = flows(&star(16, Rate::gbps(100)), &pattern("ring_all_reduce", r#"{"size": "1MB"}"#), 1);
        set.gates[0].round = Some(0);
        assert!(check_trace(&set).unwrap_err().to_string().ends_with("leave out `end`"));
        set.gates = vec![Gate {
            waits_for: (0..4000).collect(),
            delay: Time::ZERO,
            starts: (4000..8000).collect(),
            round: None,
        }];
        assert!(check_trace(&set).unwrap_err().to_string().ends_with("at most 10 million names"));
        (set.gates, set.flows[0].until) = (Vec::new(), Some(Time::us(1)));
        assert!(check_trace(&set).unwrap_err().to_string().starts_with("backlogged flows"));
    }

    #[test]
    fn labels_that_a_trace_cannot_hold_are_refused() {
        let set = FlowSet { labels: vec!["a,b".into()], ..FlowSet::default() };
        assert!(
            write_trace(&set, Vec::new())
                .unwrap_err()
                .to_string()
                .contains("label `a,b`: must be a name of at most 200")
        );
    }
}
