use std::collections::HashMap;
use std::path::Path;

use super::entry::{Collector, Entry, Pattern, UNASSIGNED};
use super::least_time::too_early;
use super::members::Members;
use super::spec::WorkloadSpec;
use super::warning::WorkloadWarning;
use crate::entry::{EntryError, LABEL_RULE, is_label};
use crate::fabric::Fabric;
use crate::flow::FlowSet;
use crate::memory::Memory;
use crate::ns3::unread_flows;
use crate::range;
use crate::tenant::Tenancy;
use crate::units::{Bytes, Time, ceil3, round3};

/// [`generate_with`] without tenants.
pub fn generate(
    specs: &[WorkloadSpec],
    fabric: &Fabric,
    base_dir: &Path,
    seed: u64,
    horizon: Option<Time>,
) -> Result<FlowSet, EntryError> {
    generate_with(specs, fabric, None, base_dir, seed, horizon)
}

/// Generates a workload's flows, sorted by start; ties keep the order of entries. Equal arguments give equal flows on every
/// machine.
///
/// Relative paths start at `base_dir`; `horizon` is the simulation's end, if any. Each sending host has random streams by the
/// entry's label, and its number among entries of that label: other entries do not affect it. Tenants have flows of their own,
/// from streams of their name: other tenants and placements do not affect sizes and times.
///
/// Messages with several queue pairs become consecutive flows. A flow without a source port gets 10000 plus the number of
/// earlier flows between its hosts (after 65535 comes 10000), as in the HPCC authors' simulator.
///
/// # Errors
///
/// If flows do not fit the available memory (checked before allocation).
pub fn generate_with(
    specs: &[WorkloadSpec],
    fabric: &Fabric,
    tenancy: Option<&Tenancy>,
    base_dir: &Path,
    seed: u64,
    horizon: Option<Time>,
) -> Result<FlowSet, EntryError> {
    generate_within(specs, fabric, tenancy, base_dir, (seed, horizon), Memory::available())
}

/// [`generate_with()`], with the memory that flows may take.
///
/// # Errors
///
/// As [`generate_with()`].
pub fn generate_within(
    specs: &[WorkloadSpec],
    fabric: &Fabric,
    tenancy: Option<&Tenancy>,
    base_dir: &Path,
    (seed, horizon): (u64, Option<Time>),
    memory: Memory,
) -> Result<FlowSet, EntryError> {
    let mut out = Collector::within(memory);
    let run = Run { base_dir, seed, horizon };
    for one in named(specs) {
        let one = one?;
        range::check(one.spec).map_err(|error| error.within(&one.path))?;
        check_times(one.spec, horizon, &one.path)?;
        let field = |name: &str| format!("{}.{name}", one.path);
        if !is_label(one.label) {
            return Err(EntryError::field(field("label"), format!("\"{}\"", one.label), LABEL_RULE));
        }
        let too_many = || EntryError::field(field("label"), one.label, "one of at most 65536 labels");
        let label = out.label(one.label).ok_or_else(too_many)?;
        for (members, tenant) in places(one.spec, fabric, tenancy, &one.path)? {
            let entry = Entry { memory: out.left(), ..one.entry(&run, members, tenant, label) };
            out.begin(&entry);
            let before = out.counts();
            one.pattern.generate(&entry, &mut out).map_err(|error| error.within(tenant))?;
            out.place(before.0, members);
            out.check_starts(&one.path, before.0)?;
            if let Some(end) = one.spec.end {
                out.cut(before, end);
            }
        }
    }
    let mut set = out.finish();
    number_ports(&mut set);
    Ok(set)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) base_dir: &'a Path,
    pub(super) seed: u64,
    pub(super) horizon: Option<Time>,
}

pub(super) struct Named<'a> {
    pub(super) spec: &'a WorkloadSpec,
    /// Such as `workload[1]`.
    pub(super) path: String,
    pub(super) name: &'static str,
    pub(super) pattern: &'a dyn Pattern,
    pub(super) label: &'a str,
    stream: String,
}

pub(super) fn named(specs: &[WorkloadSpec]) -> impl Iterator<Item = Result<Named<'_>, EntryError>> {
    let mut same_label: HashMap<&str, u32> = HashMap::new();
    specs.iter().enumerate().map(move |(index, spec)| {
        let path = format!("workload[{index}]");
        let (name, pattern) = spec.pattern(&path)?;
        let label = spec.label.as_deref().unwrap_or(name);
        let nth = same_label.entry(label).or_default();
        let stream = format!("{label}/{nth}");
        *nth += 1;
        Ok(Named { spec, path, name, pattern, label, stream })
    })
}

impl Named<'_> {
    pub(super) fn entry<'a>(&self, run: &Run<'a>, members: Members<'a>, tenant: Option<&str>, label: u16) -> Entry<'a> {
        Entry {
            path: format!("{}.{}", self.path, self.name),
            members,
            base_dir: run.base_dir,
            horizon: run.horizon,
            start: self.spec.start,
            end: self.spec.end,
            priority: self.spec.priority,
            qps: self.spec.qps,
            label,
            labelled: self.spec.label.is_some(),
            seed: run.seed,
            stream: tenant.map_or_else(|| self.stream.clone(), |tenant| format!("{}/{tenant}", self.stream)),
            memory: Memory::UNLIMITED,
        }
    }
}

fn check_times(spec: &WorkloadSpec, horizon: Option<Time>, path: &str) -> Result<(), EntryError> {
    let field = |name: &str| format!("{path}.{name}");
    if let Some(horizon) = horizon.filter(|&horizon| spec.start >= horizon) {
        let allowed = format!("before the end of the simulation at {horizon}");
        return Err(EntryError::field(field("start"), spec.start, allowed));
    }
    match spec.end.filter(|&end| end <= spec.start) {
        Some(end) => Err(EntryError::field(field("end"), end, format!("after the entry's start at {}", spec.start))),
        None => Ok(()),
    }
}

/// Hosts to generate for: all, or VMs by tenant, with its name.
pub(super) fn places<'a>(
    spec: &WorkloadSpec,
    fabric: &'a Fabric,
    tenancy: Option<&'a Tenancy>,
    path: &str,
) -> Result<Vec<(Members<'a>, Option<&'a str>)>, EntryError> {
    let Some(name) = &spec.tenant else { return Ok(vec![(Members::new(fabric, None), None)]) };
    let all = tenancy.map_or(&[][..], Tenancy::tenants);
    let of_name = all.iter().filter(|tenant| tenant.group == *name || tenant.name == *name);
    let found: Vec<_> = of_name.map(|one| (Members::new(fabric, Some(one)), Some(one.name.as_str()))).collect();
    if found.is_empty() {
        let names = || all.iter().flat_map(|tenant| [tenant.group.as_str(), tenant.name.as_str()]);
        let allowed = if all.is_empty() { "omitted: there is no [[tenant]]" } else { "the name of a [[tenant]]" };
        return Err(EntryError::field(format!("{path}.tenant"), name, allowed).near(names()));
    }
    Ok(found)
}

const FIRST_PORT: u16 = 10_000;

fn number_ports(set: &mut FlowSet) {
    let mut next: HashMap<(u32, u32), u16> = HashMap::new();
    for flow in set.flows.iter_mut().filter(|flow| flow.sport == UNASSIGNED) {
        let port = next.entry((flow.src.0, flow.dst.0)).or_insert(FIRST_PORT);
        flow.sport = *port;
        *port = port.checked_add(1).unwrap_or(FIRST_PORT);
    }
}

/// Warns about entries without a flow, an end of the simulation before the flows' ends, mean sizes far from the load's assumption, collectives on the network
/// within a server, and content of ns-3 files that is not read. For loads see [`overload`](super::overload).
pub fn warnings(
    specs: &[WorkloadSpec],
    fabric: &Fabric,
    base_dir: &Path,
    flows: &FlowSet,
    horizon: Option<Time>,
) -> Vec<WorkloadWarning> {
    let mut warnings = within_servers(specs, fabric, flows);
    warnings.extend(without_flows(specs, flows));
    let mut entries: HashMap<&str, usize> = HashMap::new();
    specs.iter().filter_map(WorkloadSpec::name).for_each(|name| *entries.entry(name).or_default() += 1);
    let alone = |spec: &WorkloadSpec| spec.name().is_some_and(|name| entries[name] == 1);
    let own = specs.iter().enumerate().filter(|(_, spec)| alone(spec));
    warnings.extend(own.filter_map(|(index, spec)| off_the_mean(spec, index, base_dir, flows)));
    warnings.extend(too_early(fabric, flows, horizon));
    warnings.extend(unread(specs, base_dir));
    warnings
}

fn without_flows(specs: &[WorkloadSpec], flows: &FlowSet) -> Vec<WorkloadWarning> {
    let of_entry = |(index, spec): (usize, &WorkloadSpec)| {
        let name = spec.name().filter(|name| !flows.labels.iter().any(|label| label == name))?;
        let (pattern, _) = spec.pattern("").ok().filter(|(_, pattern)| !pattern.has_labels())?;
        let hint =
            if duration(spec, pattern).is_some() { ": a longer duration or a higher load makes some" } else { "" };
        let message = format!("no flow has the label `{name}`{hint}");
        Some(WorkloadWarning { field: format!("workload[{index}].{pattern}"), message })
    };
    specs.iter().enumerate().filter_map(of_entry).collect()
}

fn unread(specs: &[WorkloadSpec], base_dir: &Path) -> Vec<WorkloadWarning> {
    let of_entry = |(index, spec): (usize, &WorkloadSpec)| {
        let notice = unread_flows(&base_dir.join(&spec.ns3.as_ref()?.flows))?;
        Some(WorkloadWarning { field: format!("workload[{index}].ns3.flows"), message: notice.remark() })
    };
    specs.iter().enumerate().filter_map(of_entry).collect()
}

fn within_servers(specs: &[WorkloadSpec], fabric: &Fabric, flows: &FlowSet) -> Vec<WorkloadWarning> {
    if fabric.has_nvlink() {
        return Vec::new();
    }
    let of_label = |(label, name): (usize, &String)| {
        let mine = || flows.flows.iter().filter(|flow| usize::from(flow.label) == label);
        let within = mine().filter(|flow| fabric.same_server(flow.src, flow.dst)).count();
        let entries = || specs.iter().enumerate().filter(|(_, spec)| spec.name() == Some(name));
        let (index, spec) = entries().find(|(_, spec)| spec.collective().is_some()).filter(|_| within > 0)?;
        let ring = entries().all(|(_, spec)| spec.ring_all_reduce.is_some());
        let share = within as f64 / mine().count() as f64 * 100.0;
        Some(WorkloadWarning {
            field: format!("workload[{index}].{}", spec.collective()?),
            message: format!(
                "{share:.0} % of {} stay in one server but go over the fabric: its servers have no NVLink; write \
                 `fabric.rail_optimized.nvlink = {{}}`",
                if ring { "ring hops" } else { "messages" }
            ),
        })
    };
    flows.labels.iter().enumerate().filter_map(of_label).collect()
}

/// Tolerated deviation of mean sizes (our choice).
const TOLERATED: f64 = 0.3;

/// Too few flows for the tail. For entries with a label of their own: flows record only that.
fn off_the_mean(spec: &WorkloadSpec, index: usize, base_dir: &Path, flows: &FlowSet) -> Option<WorkloadWarning> {
    let path = format!("workload[{index}]");
    let (pattern_name, pattern) = spec.pattern(&path).ok()?;
    let nominal = pattern.mean_size(base_dir)?;
    let label = flows.labels.iter().position(|label| Some(label.as_str()) == spec.name())?;
    // Queue pairs share a message.
    let messages = flows.messages().map(|part| &flows.flows[part.start as usize..part.end as usize]);
    let own = messages.filter(|message| usize::from(message[0].label) == label);
    let sizes: Vec<f64> = own.map(|message| message.iter().map(|flow| flow.size.0 as f64).sum()).collect();
    let (count, units) = (sizes.len(), if flows.messages.is_empty() { "flows" } else { "messages" });
    let realised = sizes.iter().sum::<f64>() / count as f64;
    let ratio = realised / nominal;
    let deviation = (ratio - 1.0).abs();
    (deviation > TOLERATED).then(|| WorkloadWarning {
        field: format!("{path}.{pattern_name}"),
        message: format!(
            "the mean size of its {count} {units} is {:#}, {ratio:.2} times that of the distribution ({:#}), \
             and so is the load: a longer duration has more of the tail{}",
            Bytes(round3(realised as u64)),
            Bytes(round3(nominal as u64)),
            longer(spec, pattern_name, deviation)
                .map_or_else(String::new, |time| format!("; write `duration = \"{time}\"`"))
        ),
    })
}

/// Duration for a third of the tolerated deviation, which shrinks with the square root of the number of flows.
fn longer(spec: &WorkloadSpec, pattern: &str, deviation: f64) -> Option<Time> {
    let times = 3.0 * deviation / TOLERATED;
    Some(Time(ceil3((duration(spec, pattern)?.0 as f64 * times * times) as u64)))
}

fn duration(spec: &WorkloadSpec, pattern: &str) -> Option<Time> {
    serde_json::to_value(spec).ok()?[pattern]["duration"].as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, pattern, star};
    use super::*;
    use crate::fabric::generators::{NvLink, RailOptimized};
    use crate::flow::Flow;
    use crate::rng::mix;
    use crate::units::{Bytes, Rate};

    fn background() -> WorkloadSpec {
        pattern("poisson", r#"{"load": 0.3, "sizes": "fb_hadoop", "duration": "1ms"}"#)
    }
    fn bursts() -> WorkloadSpec {
        pattern("incast", r#"{"fan_in": 8, "size": "50kB", "load": 0.02, "duration": "1ms"}"#)
    }
    fn permutation() -> WorkloadSpec {
        pattern("permutation", r#"{"size": "websearch"}"#)
    }
    fn labelled(set: &FlowSet, label: &str) -> Vec<(u32, u32, Bytes, Time)> {
        let label = set.labels.iter().position(|name| name == label).unwrap();
        let of_label = set.flows.iter().filter(|flow| usize::from(flow.label) == label);
        of_label.map(|f| (f.src.0, f.dst.0, f.size, f.start)).collect()
    }

    #[test]
    fn equal_arguments_give_equal_flows() {
        let fabric = star(16, Rate::gbps(100));
        let specs = [background(), bursts(), permutation()];
        let set = all(&specs, &fabric, 7).unwrap();
        assert_eq!(set, all(&specs, &fabric, 7).unwrap());
        assert_ne!(set.flows, all(&specs, &fabric, 8).unwrap().flows);
        assert!(set.flows.is_sorted_by_key(|flow| flow.start));
        assert_eq!(set.labels, ["poisson", "incast", "permutation"]);
    }

    #[test]
    fn another_entry_changes_nothing() {
        let fabric = star(16, Rate::gbps(100));
        let alone = all(&[background()], &fabric, 7).unwrap();
        let more = all(&[bursts(), permutation(), background()], &fabric, 7).unwrap();
        assert_eq!(labelled(&alone, "poisson"), labelled(&more, "poisson"));
        let twice = all(&[background(), background()], &fabric, 7).unwrap();
        let (alone, twice) = (labelled(&alone, "poisson"), labelled(&twice, "poisson"));
        assert!(alone.iter().all(|flow| twice.contains(flow)));
        let mut starts: Vec<_> = twice.iter().map(|flow| (flow.0, flow.3)).collect();
        starts.dedup();
        assert_eq!(starts.len(), twice.len());
    }

    #[test]
    fn a_hosts_flows_do_not_depend_on_how_many_hosts_there_are() {
        let starts = |hosts| {
            let set = all(&[background()], &star(hosts, Rate::gbps(100)), 7).unwrap();
            let flows = labelled(&set, "poisson");
            flows.into_iter().filter(|flow| flow.0 == 3).map(|flow| (flow.2, flow.3)).collect::<Vec<_>>()
        };
        assert_eq!(starts(8), starts(32));
    }

    #[test]
    fn the_flows_of_a_seed_stay_what_they_are() {
        // Other streams, draws or rounding would change published results.
        let set = all(&[background(), bursts(), permutation()], &star(16, Rate::gbps(100)), 1).unwrap();
        let facts = |f: &Flow| [f.src.0.into(), f.dst.0.into(), f.size.0, f.start.0, f.sport.into(), f.label.into()];
        let digest = set.flows.iter().flat_map(facts).fold(0, |digest, fact| mix(digest ^ fact));
        assert_eq!((set.flows.len(), set.bytes().0, digest), (559, 63_165_862, 9_879_843_181_651_241_336));
    }

    #[test]
    fn flows_that_do_not_fit_the_memory_are_refused_before_they_are_made() {
        let within = |specs: &[WorkloadSpec], bytes| {
            let memory = Memory { bytes, limit: "available" };
            let set = generate_within(specs, &star(16, Rate::gbps(100)), None, Path::new("."), (1, None), memory);
            set.map(|set| set.flows.len()).map_err(|error| error.to_string())
        };
        let burst = || pattern("incast", r#"{"fan_in": 10, "size": "1kB", "every": "1us", "duration": "1ms"}"#);
        assert_eq!(within(&[burst()], 700_000), Ok(10_000));
        let why = "workload[0].incast.every = 1us: must be few enough flows for the memory: about 1.000e4 take at least \
                   700 kB; 600 kB are available";
        assert_eq!(within(&[burst()], 600_000), Err(why.into()));
        let why = within(&[burst(), burst()], 1_000_000).unwrap_err();
        assert!(
            why.starts_with("workload[1].incast.every = 1us: ") && why.ends_with("; 300 kB are available"),
            "{why}"
        );
        let why = within(&[permutation()], 1_000).unwrap_err();
        assert!(why.starts_with("workload[0].permutation = more flows: must be few enough flows"), "{why}");
        for (name, json, field) in [
            ("ring_all_reduce", r#"{"size": "4GB", "chunks": 10000}"#, "iterations = 1"),
            ("tree_all_reduce", r#"{"size": "4GB", "chunks": 1000000}"#, "iterations = 1"),
            ("moe_all_to_all", r#"{"size": "1MB", "layers": 10000}"#, "iterations = 10000"),
            ("all_to_all", r#"{"size": "1MB", "iterations": 100000}"#, "iterations = 100000"),
            ("shuffle", r#"{"size": "1MB"}"#, "reducers = 16 hosts"),
            ("request_response", r#"{"request": 1, "response": 1, "requests": 1000000}"#, "requests = 1000000"),
        ] {
            let why = within(&[pattern(name, json)], 10_000).unwrap_err();
            assert!(why.starts_with(&format!("workload[0].{name}.{field}: must be few enough flows")), "{why}");
        }
    }

    #[test]
    fn messages_are_split_over_queue_pairs() {
        let fabric = star(4, Rate::gbps(100));
        let list = r#"[{"name": "a", "src": 0, "dst": 1, "size": 10, "start": "1us"}, {"src": 2, "dst": 1, "size": 3},
                       {"src": 1, "dst": 0, "size": 2, "after": ["a"]}]"#;
        let specs = [WorkloadSpec { qps: 4, ..pattern("list", list) }, pattern("permutation", r#"{"size": 9}"#)];
        let set = all(&specs, &fabric, 1).unwrap();
        let messages: Vec<_> = set.messages().collect();
        assert_eq!(messages, [0..3, 3..5, 5..6, 6..7, 7..8, 8..9, 9..13]);
        let sizes = |range: std::ops::Range<u32>| -> Vec<u64> {
            set.flows[range.start as usize..range.end as usize].iter().map(|flow| flow.size.0).collect()
        };
        assert_eq!([sizes(0..3), sizes(3..5), sizes(9..13)], [vec![1, 1, 1], vec![1, 1], vec![3, 3, 2, 2]]);
        let ports: Vec<u16> = set.flows[9..].iter().map(|flow| flow.sport).collect();
        assert!(ports.windows(2).all(|pair| pair[1] == pair[0] + 1), "each has a port of its own: {ports:?}");
        let [gate] = set.gates.as_slice() else { panic!("{:?}", set.gates) };
        assert_eq!((gate.waits_for.as_slice(), gate.starts.as_slice()), (&[9, 10, 11, 12][..], &[3, 4][..]));
        let plain = all(&[pattern("list", list), specs[1].clone()], &fabric, 1).unwrap();
        assert_eq!((plain.messages.as_slice(), plain.bytes()), (&[][..], set.bytes()));
        assert_eq!(plain.messages().collect::<Vec<_>>(), (0..7).map(|at| at..at + 1).collect::<Vec<_>>());
    }

    #[test]
    fn ports_count_the_flows_of_a_pair_and_wrap() {
        let one = r#"{"src": 0, "dst": 1, "size": 1}"#;
        let other = r#"{"src": 1, "dst": 0, "size": 1}"#;
        let set = all(&[pattern("list", &format!("[{one}, {other}, {one}]"))], &star(2, Rate::gbps(1)), 1).unwrap();
        assert_eq!(
            set.flows.iter().map(|f| (f.sport, f.dport)).collect::<Vec<_>>(),
            [(10000, 100), (10000, 100), (10001, 100)]
        );
        let flow = Flow { sport: UNASSIGNED, ..set.flows[0].clone() };
        let mut many = FlowSet { flows: vec![flow; 55_538], ..FlowSet::default() };
        number_ports(&mut many);
        assert_eq!(
            (many.flows[55_535].sport, many.flows[55_536].sport, many.flows[55_537].sport),
            (65535, 10000, 10001)
        );
    }

    #[test]
    fn common_fields_are_checked() {
        let fabric = star(16, Rate::gbps(100));
        let why = |change: &dyn Fn(&mut WorkloadSpec)| {
            let mut specs = [bursts(), background()];
            change(&mut specs[1]);
            generate(&specs, &fabric, Path::new("."), 1, Some(Time::ms(5))).unwrap_err().to_string()
        };
        assert_eq!(
            why(&|spec| spec.priority = 8),
            "workload[1].priority = 8: must be a traffic class, 1 to 7 (0 carries PFC frames)"
        );
        assert!(
            why(&|spec| spec.priority = 0).starts_with("workload[1].priority = 0: must be a traffic class, 1 to 7")
        );
        assert_eq!(why(&|spec| spec.qps = 0), "workload[1].qps = 0: must be 1 to 128");
        assert_eq!(why(&|spec| spec.qps = 129), "workload[1].qps = 129: must be 1 to 128");
        assert_eq!(
            why(&|spec| spec.start = Time::ms(5)),
            "workload[1].start = 5ms: must be before the end of the simulation at 5ms"
        );
        assert_eq!(
            why(&|spec| spec.label = Some("a,b".into())),
            "workload[1].label = \"a,b\": must be a name of at most 200 characters without commas, quotes, control characters, or blanks at its ends, and not `all`, which means all labels in results"
        );
        assert!(why(&|spec| spec.label = Some(String::new())).starts_with("workload[1].label = \"\": must be a name"));
        let late = r#"[{"src": 0, "dst": 1, "size": 1, "start": "5ms"}]"#;
        assert_eq!(
            why(&|spec| *spec = pattern("list", late)),
            "workload[1].list[0].start = 5ms: must be before the end of the simulation at 5ms, counted from 0ps"
        );
        assert!(why(&|spec| spec.poisson.as_mut().unwrap().duration = Some(Time::MAX)).contains("small enough for"));
        let long = |spec: &mut WorkloadSpec| {
            spec.start = Time(1);
            spec.poisson.as_mut().unwrap().duration = Some(Time::MAX);
        };
        assert!(why(&long).contains("workload[1].poisson.duration = 18446744073709551.615ns: must be at most 184467"));
    }

    #[test]
    fn tails_that_did_not_come_are_flagged() {
        let fabric = star(16, Rate::gbps(100));
        let json = r#"{"load": 0.5, "sizes": "datamining_vl2_hkust", "duration": "5ms"}"#;
        let mut specs = vec![pattern("poisson", json)];
        let flows = all(&specs, &fabric, 1).unwrap();
        let found = |specs: &[WorkloadSpec]| warnings(specs, &fabric, Path::new("."), &flows, None);
        let mean = flows.bytes().0 as f64 / flows.flows.len() as f64;
        let [warning] = &found(&specs)[..] else { panic!("{:?}", found(&specs)) };
        // A deviation of 10 % needs (deviation / 10 %)^2 times the flows.
        let times = (mean / 12_658_198.75 - 1.0) / 0.1;
        let longer = Time((Time::ms(5).0 as f64 * times * times) as u64);
        assert_eq!(
            warning.to_string(),
            format!(
                "workload[0].poisson: the mean size of its {} flows is {:#}, {:.2} times that of the \
                 distribution (12.7 MB), and so is the load: a longer duration has more of the tail; write \
                 `duration = \"{}\"`",
                flows.flows.len(),
                Bytes(round3(mean as u64)),
                mean / 12_658_198.75,
                Time(ceil3(longer.0)),
            )
        );
        let split: Vec<_> = specs.iter().map(|spec| WorkloadSpec { qps: 2, ..spec.clone() }).collect();
        let flows = all(&split, &fabric, 1).unwrap();
        let [same] = &warnings(&split, &fabric, Path::new("."), &flows, None)[..] else { panic!("a warning") };
        assert_eq!(same.to_string(), warning.to_string().replace(" flows is", " messages is"));
        specs.push(specs[0].clone());
        assert_eq!(found(&specs), [], "flows of two entries cannot be told apart");
    }

    #[test]
    fn no_flow_starts_at_the_end_or_later() {
        let fabric = star(16, Rate::gbps(100));
        let until = |spec: WorkloadSpec, end| all(&[WorkloadSpec { end: Some(end), ..spec }], &fabric, 7);
        let whole = all(&[background()], &fabric, 7).unwrap();
        let set = until(background(), Time::us(300)).unwrap();
        assert!(set.flows.iter().eq(whole.flows.iter().take_while(|flow| flow.start < Time::us(300))));
        let open = pattern("poisson", r#"{"load": 0.3, "sizes": "fb_hadoop"}"#);
        assert_eq!(until(open, Time::us(300)).unwrap(), set, "an end is a duration too");
        let listed = r#"[{"src": 0, "dst": 1, "size": 1}, {"src": 0, "dst": 1, "size": 2, "start": "2us"}]"#;
        assert_eq!(until(pattern("list", listed), Time::us(2)).unwrap().flows.len(), 1);
        let mut late = background();
        late.start = Time::us(5);
        assert_eq!(
            until(late, Time::us(5)).unwrap_err().to_string(),
            "workload[0].end = 5us: must be after the entry's start at 5us"
        );
    }

    #[test]
    fn collectives_within_servers_without_nvlink_are_flagged() {
        let spec = RailOptimized { nvlink: None, ..RailOptimized::new(4, 4) };
        let ring = pattern("ring_all_reduce", r#"{"size": "1MB"}"#);
        let specs = [ring, pattern("all_to_all", r#"{"size": "1kB"}"#), background()];
        let found = |nvlink: Option<NvLink>| {
            let fabric = RailOptimized { nvlink, ..spec.clone() }.build().unwrap();
            let flows = all(&specs, &fabric, 1).unwrap();
            warnings(&specs, &fabric, Path::new("."), &flows, None)
        };
        // 28 of 32 hops are between neighbours of a server; 7 of 31 receivers are.
        let rest = "stay in one server but go over the fabric: its servers have no NVLink; write `fabric.rail_optimized.nvlink = {}`";
        let [ring, all_to_all] = &found(None)[..] else { panic!("{:?}", found(None)) };
        assert_eq!(ring.to_string(), format!("workload[0].ring_all_reduce: 88 % of ring hops {rest}"));
        assert_eq!(all_to_all.to_string(), format!("workload[1].all_to_all: 23 % of messages {rest}"));
        assert_eq!(found(Some(NvLink::default())), []);
    }

    #[test]
    fn entries_without_a_flow_are_flagged() {
        let fabric = star(16, Rate::gbps(100));
        let rare = pattern("poisson", r#"{"load": 0.00001, "sizes": "fb_hadoop", "duration": "1us"}"#);
        let early = WorkloadSpec {
            label: Some("none".into()),
            end: Some(Time::us(2)),
            ..pattern("list", r#"[{"src": 0, "dst": 1, "size": 1, "start": "2us"}]"#)
        };
        let specs = [rare, early, bursts()];
        let flows = all(&specs, &fabric, 1).unwrap();
        let found = warnings(&specs, &fabric, Path::new("."), &flows, None);
        assert_eq!(
            found.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "workload[0].poisson: no flow has the label `poisson`: a longer duration or a higher load makes some",
                "workload[1].list: no flow has the label `none`"
            ]
        );
    }

    #[test]
    fn doubtful_workloads_are_flagged() {
        let fabric = star(16, Rate::gbps(100));
        let specs = [background(), bursts(), permutation()];
        let flows = all(&specs, &fabric, 1).unwrap();
        assert_eq!(warnings(&specs, &fabric, Path::new("."), &flows, Some(Time::ms(100))), []);
        let found = warnings(&specs, &fabric, Path::new("."), &flows, Some(Time(1)));
        let messages: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(
            messages[0].starts_with("label `poisson`: ")
                && messages[0].contains(" end of the simulation at 1 ps; leave out")
        );
        assert_eq!(messages.len(), 2);
    }
}
