use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry::{Collector, Entry, Pattern};
use crate::entry::EntryError;
use crate::ns3::{StartRounding, read_flows};

/// Replays a flow file of the HPCC authors' ns-3.
///
/// Sizes, priorities and destination ports are the file's; source ports are numbered as in that simulator. Starts count
/// from the entry's start. Without the entry's label, the destination port gives one: `background` for 100, `incast`
/// for 200.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ns3 {
    /// Flow file, relative to the scenario's folder.
    pub flows: PathBuf,
    /// If true, rounds starts as that simulator does, about half of them 1 ns early; needed for identical results flow
    /// by flow. Default false.
    #[serde(default)]
    pub ns3_starts: bool,
}

impl Pattern for Ns3 {
    fn has_labels(&self) -> bool {
        true
    }

    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let file = entry.base_dir.join(&self.flows);
        let rounding = if self.ns3_starts { StartRounding::Ns3 } else { StartRounding::Exact };
        let set = read_flows(&file, entry.members.fabric, rounding)
            .map_err(|source| EntryError::Ns3 { field: entry.field("flows"), source: Box::new(source) })?;
        let hosts = entry.host_count();
        for read in set.flows {
            if let Some(host) = [read.src, read.dst].into_iter().find(|host| host.0 >= hosts) {
                return Err(entry.refuse("flows", format!("{} in a flow", host.0), entry.members.numbers()));
            }
            let start = entry.after("flows", read.start)?;
            let mut flow = entry.flow(read.src, read.dst, read.size.0, start);
            (flow.priority, flow.dport) = (read.priority, read.dport);
            if !entry.labelled {
                let name = &set.labels[usize::from(read.label)];
                flow.label =
                    out.label(name).ok_or_else(|| entry.refuse("flows", name, "one of at most 65536 labels"))?;
            }
            out.push(flow)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{folder, generate_in, pattern, refused_in, star};
    use crate::units::{Rate, Time};

    #[test]
    fn flows_of_the_file_are_replayed() {
        let folder = folder();
        let fabric = star(4, Rate::gbps(100));
        std::fs::write(folder.path().join("flow.txt"), "2\n1 2 5 100 9 0.000001\n1 2 3 200 8 0.000002\n").unwrap();
        let mut spec = pattern("ns3", r#"{"flows": "flow.txt"}"#);
        spec.start = Time::ms(1);
        let set = generate_in(folder.path(), &fabric, &spec, 1).unwrap();
        let got: Vec<_> =
            set.flows.iter().map(|f| (f.start, f.size.0, f.priority, f.sport, f.dport, f.label)).collect();
        assert_eq!(got, [(Time::us(1001), 9, 5, 10000, 100, 0), (Time::us(1002), 8, 3, 10001, 200, 1)]);
        assert_eq!(set.labels, ["background", "incast"]);
        spec.label = Some("replay".into());
        let set = generate_in(folder.path(), &fabric, &spec, 1).unwrap();
        assert_eq!((set.labels, set.flows[1].label), (vec!["replay".to_owned()], 0));
        spec.ns3.as_mut().unwrap().ns3_starts = true;
        std::fs::write(folder.path().join("flow.txt"), "1\n1 2 5 100 9 2.0002\n").unwrap();
        let set = generate_in(folder.path(), &fabric, &spec, 1).unwrap();
        assert_eq!(set.flows[0].start, Time::ns(2_001_199_999));
    }

    #[test]
    fn faults_name_field_and_line() {
        let folder = folder();
        let fabric = star(4, Rate::gbps(100));
        let why = |text: &str| {
            std::fs::write(folder.path().join("flow.txt"), text).unwrap();
            refused_in(folder.path(), &fabric, &pattern("ns3", r#"{"flows": "flow.txt"}"#))
        };
        let message = why("1\n1 1 3 100 9 0\n");
        assert!(message.starts_with("workload[0].ns3.flows: /") && message.contains("flow.txt:2: "), "{message}");
        let message = refused_in(folder.path(), &fabric, &pattern("ns3", r#"{"flows": "none.txt"}"#));
        assert!(message.starts_with("workload[0].ns3.flows: /") && message.contains("none.txt: "), "{message}");
    }
}
