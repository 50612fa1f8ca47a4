//! Runs one named benchmark and prints a line of JSON.
//!
//! `make bench` (benches/run.py) runs each in its own process to measure CPU time and peak memory.

use std::collections::BTreeSet;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use incast_model::fabric::generators::{FatTree, HpccFatTree, LeafSpine, Star};
use incast_model::fabric::{Fabric, FabricSpec, HostId, Service, Vms};
use incast_model::flow::{Flow, FlowSet};
use incast_model::tenant::{Tenancy, Tenant, Vm};
use incast_model::units::{Bytes, Rate, Time};
use incast_model::workload::{ArrivalLaw, Incast, LoadAt, LoadOf, Poisson, SizeSpec, WorkloadSpec, generate};
use incast_sim::balance::{Balance, SprayOrder, SprayParams};
use incast_sim::congestion::{Control, WindowMode};
use incast_sim::host::{ClassBy, CnpMode};
use incast_sim::switch::{Forwarding, QueueParams, SchedulerParams, SwitchParams};
use incast_sim::tenant::Hypervisor;
use incast_sim::transport::{FastpassParams, Transport, TransportParams};
use incast_sim::{Arithmetic, Carrier, ControlSetup, Cut, Params, Setup, Simulation};

/// (name, description); names: fabric-control or fabric-workload.
const BENCHES: &[(&str, &str)] = &[
    ("star17-dcqcn", "17 hosts, 16-to-1 of 20 MB, DCQCN: one deep queue"),
    ("star17-hpcc", "17 hosts, 16-to-1 of 20 MB, HPCC: INT on every packet, one short queue"),
    ("leafspine128-dcqcn+w", "128 hosts, web search 50 %, DCQCN+w"),
    (
        "leafspine128-incast",
        "128 hosts, web search 30 % and 60-to-1 incasts of 500 kB at 10 %, DCQCN: deep queues, PFC",
    ),
    ("fattree128-dcqcn+w", "128 hosts (k = 8), web search 30 %, DCQCN+w"),
    ("fattree128-hpcc", "128 hosts (k = 8), web search 30 %, HPCC"),
    ("hpcc320-dcqcn+w", "the HPCC evaluation's 320 hosts, web search 30 %, DCQCN+w: the reference's case"),
    ("hpcc320-hpcc", "the HPCC evaluation's 320 hosts, web search 30 %, HPCC"),
    ("hpcc320-ns3", "the same as hpcc320-dcqcn+w in ns3 arithmetic"),
    ("hpcc320-hadoop", "the HPCC evaluation's 320 hosts, FB Hadoop 50 %, DCQCN+w: many short flows"),
    ("fattree1024-dcqcn+w", "1,024 hosts (k = 16), web search 30 %, DCQCN+w"),
    ("fattree1024-hpcc", "1,024 hosts (k = 16), web search 30 %, HPCC"),
    ("fattree8192-hpcc", "8,192 hosts (k = 32), web search 30 %, HPCC: more state than caches have"),
    (
        "clos1152-plain",
        "1,152 hosts in regions of 32 and incasts of 16 x 1 MB, DCQCN: PFC and ECN alone, two queues by chance",
    ),
    ("clos1152-mice", "the same, mice before elephants"),
    ("clos1152-isolation", "the same with congestion isolation too"),
    (TENANTS, "300 VMs to one beside 1 to one, TCP behind ElasticSwitch, 30 s on a link of 1 Gb/s"),
];

const TENANTS: &str = "tenants300-elasticswitch";

fn poisson(load: f64, sizes: &str, duration: Time) -> WorkloadSpec {
    let sizes: SizeSpec = sizes.parse().expect("a named distribution");
    WorkloadSpec {
        poisson: Some(Poisson {
            load,
            load_at: LoadAt::Host,
            load_of: LoadOf::Payload,
            overhead: None,
            arrivals: ArrivalLaw::Poisson,
            sizes,
            locality: None,
            duration: Some(duration),
            hosts: None,
            region: None,
        }),
        ..WorkloadSpec::default()
    }
}

fn incast(fan_in: u32, size: &str, load: Option<f64>, duration: Option<Time>) -> WorkloadSpec {
    let size: SizeSpec = size.parse().expect("a size");
    let incast = Incast {
        fan_in,
        size,
        receiver: None,
        at: load.is_none().then_some(Time::ZERO),
        every: None,
        load,
        duration,
        hosts: None,
    };
    WorkloadSpec { incast: Some(incast), ..WorkloadSpec::default() }
}

/// `scale`: of the duration of arrivals, or the size of the star's flows.
fn scenario(name: &str, scale: f64) -> Option<(FabricSpec, Vec<WorkloadSpec>)> {
    let ms = |ms: f64| Time((ms * scale * 1e9) as u64);
    let bytes = |mb: f64| format!("{}B", (mb * scale * 1e6) as u64);
    let (family, _) = name.split_once('-')?;
    Some(match (family, name) {
        ("star17", _) => (FabricSpec::Star(Star::new(17)), vec![incast(16, &bytes(20.0), None, None)]),
        (_, "leafspine128-incast") => (
            FabricSpec::LeafSpine(LeafSpine::new(8, 8, 16)),
            vec![poisson(0.3, "websearch", ms(2.0)), incast(60, "500kB", Some(0.1), Some(ms(2.0)))],
        ),
        ("leafspine128", _) => {
            (FabricSpec::LeafSpine(LeafSpine::new(8, 8, 16)), vec![poisson(0.5, "websearch", ms(3.0))])
        }
        ("fattree128", _) => (FabricSpec::FatTree(FatTree::new(8)), vec![poisson(0.3, "websearch", ms(4.0))]),
        (_, "hpcc320-hadoop") => {
            (FabricSpec::HpccFatTree(HpccFatTree::default()), vec![poisson(0.5, "fb_hadoop", ms(1.5))])
        }
        ("hpcc320", _) => (FabricSpec::HpccFatTree(HpccFatTree::default()), vec![poisson(0.3, "websearch", ms(2.0))]),
        ("clos144", _) => {
            let mut clos = LeafSpine::new(9, 4, 16);
            (clos.host_rate, clos.uplink_rate, clos.delay) = (Rate::gbps(40), Rate::gbps(160), Time::ns(200));
            (FabricSpec::LeafSpine(clos), vec![poisson(0.6, "websearch_yaps", ms(6.0))])
        }
        ("clos1152", _) => {
            let clos = LeafSpine { delay: Time::ns(200), ..LeafSpine::new(48, 24, 24) };
            let regions = poisson(0.4, "fb_cachefollower_conweave", ms(1.0)).poisson;
            let regions = regions.map(|poisson| Poisson { region: Some(32), ..poisson });
            let regions = WorkloadSpec { poisson: regions, ..WorkloadSpec::default() };
            (FabricSpec::LeafSpine(clos), vec![regions, incast(16, "1MB", Some(0.02), Some(ms(1.0)))])
        }
        ("fattree8192", _) => (FabricSpec::FatTree(FatTree::new(32)), vec![poisson(0.3, "websearch", ms(0.1))]),
        ("fattree1024", _) => (FabricSpec::FatTree(FatTree::new(16)), vec![poisson(0.3, "websearch", ms(1.0))]),
        _ => return None,
    })
}

/// DCQCN by default.
fn control(name: &str) -> Option<ControlSetup> {
    let (control, window) = match name.split_once('-')?.1 {
        "dcqcn+w" | "hadoop" | "ns3" => ("dcqcn", Some(WindowMode::Rate)),
        "incast" | "plain" | "mice" | "isolation" => ("dcqcn", None),
        other => (other, None),
    };
    let info = Control::catalogue().into_iter().find(|info| info.name == control)?;
    let control = Control::named(info.name, info.profiles[0].0)?;
    Some(ControlSetup { control, window: window.unwrap_or(info.window) })
}

/// As in YAPS (the simulator of pHost's authors).
fn transport(name: &str) -> Option<Transport> {
    match name.strip_prefix("clos144-")? {
        "fastpass" => {
            let params = FastpassParams::profile("yaps")?;
            Some(Transport::Fastpass(FastpassParams { arbiter: ARBITER.into(), ..params }))
        }
        other => Transport::named(other, "yaps"),
    }
}

const ARBITER: &str = "arbiter";

/// The transport's switches with spraying and cut-through, or the control's ECN marking.
fn params(control: Option<&ControlSetup>, transport: Option<&Transport>) -> Params {
    let mut params = Params::default();
    if let Some(transport) = transport {
        params.switch = SwitchParams { forwarding: Forwarding::CutThrough, ..transport.switch() };
        params.ecn = transport.ecn().unwrap_or(params.ecn);
        params.network.load_balancing = Balance::Spray(SprayParams { order: SprayOrder::RoundRobin, acks: true });
    } else {
        params.ecn = control.and_then(|setup| setup.control.ecn()).unwrap_or_default();
    }
    params
}

/// Study `isolation`: `plain` hashes flows to two queues, `mice` serves mice first, `isolation` also isolates.
fn classes(params: &mut Params, solution: &str) {
    params.switch.buffer = Bytes(16_000_000);
    params.switch.lossless = vec![2, 3, 4];
    params.rdma.ack_priority = Some(7);
    params.rdma.cnp = CnpMode::Packet;
    params.host.classes.by = if solution == "plain" { ClassBy::Hash } else { ClassBy::Size };
    params.switch.isolation.enabled = solution == "isolation";
    let rounds = |elephants, strict| {
        let mut quanta = [1000; 8];
        quanta[3] = elephants;
        SchedulerParams::Drr { quanta, strict }
    };
    params.switch.scheduler = match solution {
        "plain" => rounds(1000, vec![7]),
        "mice" => SchedulerParams::StrictPriority,
        _ => rounds(8000, vec![7, 4]),
    };
}

fn benches() -> Vec<(String, String)> {
    let listed = BENCHES.iter().map(|(name, what)| ((*name).to_owned(), (*what).to_owned()));
    let of_control = |name: &&str| {
        (format!("hpcc320-{name}"), format!("the HPCC evaluation's 320 hosts, web search 30 %, control {name}"))
    };
    let of_transport = |name: &&str| {
        (format!("clos144-{name}"), format!("pFabric's 144 hosts at 40 Gb/s, web search 60 %, transport {name}"))
    };
    let of_yaps = Transport::NAMES.iter().filter(|name| transport(&format!("clos144-{name}")).is_some());
    let named = Control::NAMES.iter().map(of_control).chain(of_yaps.map(of_transport));
    let mut all: Vec<_> = listed.chain(named).collect();
    let mut seen = BTreeSet::new();
    all.retain(|(name, _)| seen.insert(name.clone()));
    all
}

/// ElasticSwitch (SIGCOMM 2013), figure 5: X and Y have 450 Mb/s each of 1 Gb/s; one VM sends to X, 300 to Y.
fn tenants(scale: f64) -> Result<Setup, Box<dyn Error>> {
    let (gigabit, end) = (Rate::gbps(1), Time((30e12 * scale) as u64));
    let tree = LeafSpine { host_rate: gigabit, uplink_rate: gigabit, delay: Time::us(5), ..LeafSpine::new(26, 1, 4) };
    let fabric = tree.build()?.with_vms(&Vms { rate: gigabit, ..Vms::new(4) })?;
    let tenant = |name: &str, hosts: &[u32]| Tenant {
        name: name.into(),
        group: name.into(),
        vms: hosts.iter().map(|&host| Vm { host: HostId(host), mapper: false }).collect(),
        send: Rate(450_000_000),
        receive: Rate(450_000_000),
    };
    // The first rack's 16 slots are X's and Y's.
    let senders: Vec<u32> = (16..317).collect();
    let tenancy = Tenancy::new(vec![tenant("x", &[0, senders[0]]), tenant("y", &[&[4][..], &senders[1..]].concat())]);
    let flow = |src: u32| Flow {
        src: HostId(src),
        dst: HostId(if src == senders[0] { 0 } else { 4 }),
        size: Bytes(1 << 40),
        start: Time::ZERO,
        priority: 3,
        label: 0,
        sport: src as u16,
        dport: 100,
        path: None,
        until: Some(end),
    };
    let flows = FlowSet {
        flows: senders.iter().map(|&src| flow(src)).collect(),
        labels: vec!["all".into()],
        ..FlowSet::default()
    };
    let tcp = Transport::named("tcp", "linux").ok_or("TCP")?;
    let mut params = Params {
        switch: SwitchParams { queues: QueueParams::DropTail { limit: Bytes(256_000) }, ..tcp.switch() },
        server_queue: Bytes(1_500_000),
        hypervisor: Hypervisor::named("elasticswitch"),
        horizon: Some(end),
        ..Params::default()
    };
    (params.packets.gap, params.host.jitter) = (Bytes(38), Time::us(1));
    params.ecn.enabled = false;
    Ok(Setup {
        tags: None,
        params,
        fabric: Arc::new(fabric),
        carriers: vec![Carrier::Transport(0)],
        tenancy: Some(Arc::new(tenancy)),
        flows: Arc::new(flows),
        controls: Vec::new(),
        transports: vec![tcp],
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: bench --list | bench NAME [SCALE [THREADS [PARTITIONS]]]";
    let name = args.next().ok_or(usage)?;
    if name == "--list" {
        for (name, what) in benches() {
            println!("{name}\t{what}");
        }
        return Ok(());
    }
    let scale: f64 = args.next().map_or(Ok(1.0), |text| text.parse())?;
    let threads: usize = args.next().map_or(Ok(1), |text| text.parse())?;
    if !benches().iter().any(|(known, _)| *known == name) {
        return Err(format!("no bench `{name}`; {usage}").into());
    }
    let mut setup = if name == TENANTS { tenants(scale)? } else { usual(&name, scale)? };
    if let Some(solution) = name.strip_prefix("clos1152-") {
        classes(&mut setup.params, solution);
    }
    if name.ends_with("-ns3") {
        setup.params.arithmetic = Arithmetic::Ns3;
    }
    let (flows, hosts) = (setup.flows.clone(), setup.fabric.hosts().len());
    let simulation = Simulation::new(setup.checked()?)?;
    let simulation = match args.next() {
        None => simulation.threads(threads),
        Some(parts) => simulation.cut(Cut::Into(parts.parse()?), threads),
    };
    report(&name, &flows, hosts, simulation);
    Ok(())
}

fn usual(name: &str, scale: f64) -> Result<Setup, Box<dyn Error>> {
    let unknown = || format!("no bench `{name}`");
    let (fabric, workload) = scenario(name, scale).ok_or_else(unknown)?;
    let (control, transport) = (control(name), transport(name));
    if control.is_none() && transport.is_none() {
        return Err(unknown().into());
    }
    let mut fabric = fabric.build(Path::new("."))?;
    if matches!(transport, Some(Transport::Fastpass(_))) {
        let arbiter = Service { name: ARBITER.into(), at: "leaf0".into(), rate: None, delay: None };
        fabric = fabric.with_services(&[arbiter])?;
    }
    let fabric: Arc<Fabric> = Arc::new(fabric);
    let flows = Arc::new(generate(&workload, &fabric, Path::new("."), 1, None)?);
    let carrier = if transport.is_some() { Carrier::Transport(0) } else { Carrier::Rdma(0) };
    Ok(Setup {
        params: params(control.as_ref(), transport.as_ref()),
        fabric,
        carriers: vec![carrier; flows.labels.len()],
        tenancy: None,
        tags: None,
        flows: flows.clone(),
        controls: control.into_iter().filter(|_| transport.is_none()).collect(),
        transports: transport.into_iter().collect(),
    })
}

fn report(name: &str, flows: &FlowSet, hosts: usize, simulation: Simulation) {
    let start = Instant::now();
    let outcome = simulation.run(&mut |_| ControlFlow::Continue(()));
    println!(
        "{{\"name\": \"{name}\", \"hosts\": {hosts}, \"flows\": {}, \"bytes\": {}, \"packet_hops\": {}, \"events\": {}, \"marks\": \
         {}, \"pauses\": {}, \"drops\": {}, \"peak_packets\": {}, \"run_s\": {:.6}, \"end_us\": {:.3}, \"finished\": {}, \
         \"sequential\": {}}}",
        flows.flows.len(),
        flows.bytes().0,
        outcome.counts.packet_hops(),
        outcome.counts.events,
        outcome.counts.marks,
        outcome.counts.pauses,
        outcome.counts.drops,
        outcome.counts.peak_packets,
        start.elapsed().as_secs_f64(),
        outcome.end.seconds() * 1e6,
        outcome.stop == incast_sim::outcome::Stop::Finished,
        outcome.threads.sequential,
    );
}
