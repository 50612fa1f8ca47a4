//! Scenarios from the HPCC authors' ns-3. Missing keys have its defaults (`third.cc`, commit 9f4be2a), not incast's.

use std::collections::BTreeSet;
use std::fmt::{Display, Write as _};
use std::io;
use std::path::{Component, Path, PathBuf};

use incast_model::fabric::generators::read_topology;
use incast_model::fabric::{Fabric, Link, NodeId};
use incast_model::flow::FlowSet;
use incast_model::foreign::{Notice, Severity};
use incast_model::ns3::{CcMode, LinkDown, Ns3Config, read_config, unread_flows};
use incast_model::units::{Bytes, Rate, Time};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ns3_control::{self, ImportedControl};
use crate::scenario::Loaded;
use crate::text_file;

mod sources;

use sources::Sources;

/// Scenario from ns-3 files.
#[derive(Debug, Clone)]
pub struct Ns3Import {
    /// Scenario file; relative file names start there.
    pub file: PathBuf,
    /// Text of the scenario.
    pub text: String,
    /// Ignored settings, to report.
    pub notices: Vec<Notice>,
}

impl Ns3Import {
    /// Replaces existing files only if `overwrite`.
    pub fn write(&self, overwrite: bool) -> io::Result<()> {
        text_file::write(&self.file, &self.text, overwrite)
    }
}

/// Makes a scenario that repeats a run of the HPCC authors' ns-3, for file `out`.
///
/// Each configuration becomes a scheme; common settings go to the scenario's sections. Without one: HPCC, and DCQCN with a
/// window, with that simulator's usual parameters (`run.py`).
pub fn import_ns3(topology: &Path, flows: &Path, configs: &[PathBuf], out: &Path) -> Result<Ns3Import, Diagnostics> {
    let folder = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut text = String::from("# Scenario from files of the HPCC authors' ns-3.\n");
    text += "profile = \"ns3\"\n\n";
    section(&mut text, "fabric.ns3", &[("topology", quoted(&relative(folder, topology)))]);
    text += &format!("[[workload]]\nns3.flows = {}\n\n", quoted(&relative(folder, flows)));
    let mut notices = of_files(topology, flows);
    let usual = text.clone() + USUAL_SCHEMES;
    let sources = Sources { out: &out.display().to_string(), topology, flows };
    let prepared = Loaded::from_text(sources.out, &usual, folder, &[]).and_then(|loaded| loaded.prepare());
    let prepared = prepared.map_err(|errors| sources.blamed(errors, &[]));
    let (prepared, configs) = both(prepared, read_all(configs))?;
    let lossless = lossless(&prepared.flows);
    if configs.is_empty() {
        text += USUAL_SCHEMES;
        if !lossless.is_empty() {
            section(&mut text, "switch", &lossless);
        }
    } else {
        let mut found = Vec::new();
        for config in &configs {
            notices.extend(check(config, &prepared.fabric, &mut found));
        }
        if let Some(other) = configs.iter().find(|config| config.stop_time != configs[0].stop_time) {
            let line = other.line("SIMULATOR_STOP_TIME").unwrap_or(0);
            let what = format!("SIMULATOR_STOP_TIME: allowed: that of {}, as a run has one end", configs[0].file);
            found.push(at(other, line, &what));
        }
        Diagnostics::check(found)?;
        write_configs(&mut text, &configs, &prepared.fabric, lossless);
    }
    // Finds contradictions before the first run.
    let whole = Loaded::from_text(sources.out, &text, folder, &[]).and_then(|loaded| loaded.prepare());
    whole.map_err(|errors| sources.blamed(errors, &configs))?;
    Ok(Ns3Import { file: out.to_owned(), text, notices })
}

/// Both, or the errors of both.
fn both<A, B>(first: Result<A, Diagnostics>, second: Result<B, Diagnostics>) -> Result<(A, B), Diagnostics> {
    match (first, second) {
        (Ok(first), Ok(second)) => Ok((first, second)),
        (Err(first), Err(second)) => Err(first.and(second)),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// ns-3's switches pause all priorities (`switch-mmu.cc`); 3 alone is the default here.
fn lossless(flows: &FlowSet) -> Values {
    let others = flows.flows.iter().any(|flow| flow.priority != 3);
    others.then(|| ("lossless", "[1, 2, 3, 4, 5, 6, 7]".into())).into_iter().collect()
}

/// Differences from ns-3, and content that is not read.
fn of_files(topology: &Path, flows: &Path) -> Vec<Notice> {
    let of_topology = read_topology(topology).map(|file| file.notices.into_iter().chain(file.unread));
    of_topology.into_iter().flatten().chain(unread_flows(flows)).collect()
}

fn read_all(files: &[PathBuf]) -> Result<Vec<Ns3Config>, Diagnostics> {
    let mut configs = Vec::new();
    let mut found = Vec::new();
    for file in files {
        match read_config(file) {
            Ok(config) => configs.push(config),
            Err(invalid) => {
                found.extend(invalid.errors.iter().map(|error| Diagnostic::new("", error.to_string())));
                found.extend(not_honoured(&invalid.config).1);
            }
        }
    }
    Diagnostics::check(found)?;
    Ok(configs)
}

const USUAL_SCHEMES: &str =
    "[scheme.HPCC]\ncontrol = \"hpcc\"\n\n[scheme.\"DCQCN+w\"]\ncontrol = \"dcqcn\"\nwindow = \"rate\"\n";

/// Returns ignorable settings.
fn check(config: &Ns3Config, fabric: &Fabric, found: &mut Vec<Diagnostic>) -> Vec<Notice> {
    let (notices, errors) = not_honoured(config);
    found.extend(errors);
    let mut fail = |holds: bool, key: &str, what: &str| {
        if !holds {
            found.push(at(config, config.line(key).unwrap_or(0), &format!("{key}: {what}")));
        }
    };
    if let Some(down) = config.failure() {
        let what =
            format!("no link connects nodes {} and {}; allowed: the ends of a link of the topology", down.a, down.b);
        fail(!links_of(down, fabric).is_empty(), "LINK_DOWN", &what);
    }
    let needed = "is not set, and the original has no default that makes sense";
    for (key, set) in ns3_control::needed(config) {
        fail(set, key, needed);
    }
    let rates: BTreeSet<Rate> = fabric.links().iter().map(|link| link.rate).collect();
    if config.cc_mode == Some(CcMode::Hpcc) {
        for rate in rates.iter().filter(|rate| !INT_RATES.contains(rate)) {
            let what = format!(
                "3 (HPCC) with links of {rate}: the original's INT records have no such rate; allowed: links of 25, 50, 100, \
                 200 or 400 Gb/s"
            );
            fail(false, "CC_MODE", &what);
        }
    }
    if config.enable_qcn != Some(false) {
        let has = |map: Option<&[Rate]>, rate: Rate| map.is_some_and(|rates| rates.contains(&rate));
        let keys = |map: &Option<Vec<(Rate, Bytes)>>| {
            map.as_ref().map(|map| map.iter().map(|(rate, _)| *rate).collect::<Vec<_>>())
        };
        let pmax = config.pmax.as_ref().map(|map| map.iter().map(|(rate, _)| *rate).collect::<Vec<_>>());
        for (key, map) in [("KMIN_MAP", keys(&config.kmin)), ("KMAX_MAP", keys(&config.kmax)), ("PMAX_MAP", pmax)] {
            for &rate in &rates {
                fail(has(map.as_deref(), rate), key, &format!("has no value for the fabric's links of {rate}"));
            }
        }
    }
    notices
}

/// Warnings and errors.
fn not_honoured(config: &Ns3Config) -> (Vec<Notice>, Vec<Diagnostic>) {
    let (errors, notices): (Vec<Notice>, Vec<Notice>) =
        config.not_honoured().into_iter().partition(|notice| notice.severity == Severity::Error);
    (notices, errors.iter().map(|notice| at(config, notice.line, &notice.text)).collect())
}

fn at(config: &Ns3Config, line: usize, text: &str) -> Diagnostic {
    let place = if line == 0 { config.file.clone() } else { format!("{}:{line}", config.file) };
    Diagnostic::new("", format!("{place}: {text}"))
}

/// `int-header.h`.
const INT_RATES: [Rate; 5] = [Rate::gbps(25), Rate::gbps(50), Rate::gbps(100), Rate::gbps(200), Rate::gbps(400)];

type Values = Vec<(&'static str, String)>;
type Section = (&'static str, Values);

/// Settings of all schemes.
struct Common<'a> {
    fabric: &'a Fabric,
    lossless: Values,
    /// Exact arithmetic, as links fail.
    exact: bool,
    /// A scheme reads INT.
    int: bool,
}

fn write_configs(text: &mut String, configs: &[Ns3Config], fabric: &Fabric, lossless: Values) {
    let names = scheme_names(configs);
    let exact = configs.iter().any(|config| config.failure().is_some());
    let int = configs.iter().any(|config| config.cc_mode == Some(CcMode::Hpcc));
    let common = Common { fabric, lossless, exact, int };
    let sections: Vec<Vec<Section>> = configs.iter().map(|config| sections(config, &common)).collect();
    let alike = |index: usize| sections.iter().all(|own| own[index] == sections[0][index]);
    for ((name, config), own) in names.iter().zip(configs).zip(&sections) {
        let bare = name.chars().all(|c| c.is_ascii_alphanumeric());
        let scheme = if bare { name.clone() } else { quoted(name) };
        let ImportedControl { control, parameters, .. } = ns3_control::control(config, window(config));
        section(text, &format!("scheme.{scheme}"), &[("window", quoted(window(config)))]);
        section(text, &format!("scheme.{scheme}.control.{control}"), &parameters);
        let given = |(index, (_, values)): &(usize, &Section)| !alike(*index) && !values.is_empty();
        for (_, (name, values)) in own.iter().enumerate().filter(given) {
            section(text, &format!("scheme.{scheme}.{name}"), values);
        }
    }
    let given = |(index, (_, values)): &(usize, &Section)| alike(*index) && !values.is_empty();
    for (_, (name, values)) in sections[0].iter().enumerate().filter(given) {
        section(text, name, values);
    }
    let mut simulation = vec![("horizon", text_of(configs[0].stop_time.unwrap_or(Time::ms(3010))))];
    if exact {
        simulation.push(("arithmetic", quoted("exact")));
    }
    section(text, "simulation", &simulation);
}

fn window(config: &Ns3Config) -> &'static str {
    match (config.has_window.unwrap_or(true), config.variable_window.unwrap_or(false)) {
        (false, _) => "off",
        (true, false) => "fixed",
        (true, true) => "rate",
    }
}

/// Control; if names collide, folder, file or number.
fn scheme_names(configs: &[Ns3Config]) -> Vec<String> {
    let by_control = configs.iter().map(|config| ns3_control::control(config, window(config)).scheme.to_owned());
    let by_folder = configs.iter().map(|config| name_of(Path::new(&config.file).parent().and_then(Path::file_name)));
    let by_file = configs.iter().map(|config| name_of(Path::new(&config.file).file_stem()));
    let by_number = (1..=configs.len()).map(|number| format!("config {number}"));
    let choices: [Vec<String>; 3] = [by_control.collect(), by_folder.collect(), by_file.collect()];
    let distinct = |names: &Vec<String>| {
        names.iter().all(|name| !name.is_empty()) && names.iter().collect::<BTreeSet<_>>().len() == names.len()
    };
    choices.into_iter().find(distinct).unwrap_or_else(|| by_number.collect())
}

fn name_of(part: Option<&std::ffi::OsStr>) -> String {
    part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default()
}

fn sections(config: &Ns3Config, common: &Common<'_>) -> Vec<Section> {
    let fabric = common.fabric;
    let marks = config.enable_qcn.unwrap_or(true);
    let mut ecn = vec![("enabled", marks.to_string())];
    if marks {
        ecn.push(("by_rate", thresholds(config, fabric)));
    }
    vec![
        ("network", config.failure().map(|down| failure(down, fabric)).unwrap_or_default()),
        ("switch", switch(config, common)),
        ("ecn", ecn),
        ("rdma", vec![("acks_ignore_pause", config.ack_high_prio.unwrap_or(false).to_string())]),
        ("packets", vec![("payload", text_of(config.payload.unwrap_or(Bytes(1000))))]),
    ]
}

fn switch(config: &Ns3Config, common: &Common<'_>) -> Values {
    let mut values = vec![("buffer", buffer(config.buffer_size.unwrap_or(Bytes(16 << 20))))];
    values.extend(common.lossless.iter().cloned());
    if common.int && !common.exact {
        values.push(("int_multiplier", config.int_multiplier.unwrap_or(1).to_string()));
    }
    values
}

/// The reference fails a link at this time plus LINK_DOWN's delay (its `third.cc`).
const LINKS_UP: Time = Time::ms(2000);

/// Routes follow immediately, as in ns-3, which takes down the last of parallel links.
fn failure(down: LinkDown, fabric: &Fabric) -> Values {
    let [a, b] = [down.a, down.b].map(|node| quoted(&fabric.node(NodeId(node)).name));
    let parallel = match links_of(down, fabric).len() {
        0 | 1 => String::new(),
        links => format!(", parallel = {}", links - 1),
    };
    let at = text_of(LINKS_UP + down.after);
    vec![("failure", format!("[{{ link = [{a}, {b}]{parallel}, at = {at} }}]")), ("reroute_after", quoted("0s"))]
}

fn links_of(down: LinkDown, fabric: &Fabric) -> Vec<&Link> {
    let ends = [(down.a, down.b), (down.b, down.a)];
    let node = |port| fabric.port(port).node.0;
    fabric.links().iter().filter(|link| ends.contains(&(node(link.a), node(link.b)))).collect()
}

fn thresholds(config: &Ns3Config, fabric: &Fabric) -> String {
    fn of<T: Copy>(map: &Option<Vec<(Rate, T)>>, rate: Rate) -> Option<T> {
        map.as_ref()?.iter().find(|(at, _)| *at == rate).map(|(_, value)| *value)
    }
    let rates: BTreeSet<Rate> = fabric.links().iter().map(|link| link.rate).collect();
    let mut list = String::from("[");
    for rate in rates {
        if let (Some(kmin), Some(kmax), Some(pmax)) =
            (of(&config.kmin, rate), of(&config.kmax, rate), of(&config.pmax, rate))
        {
            let _ = write!(
                list,
                "\n  {{ rate = \"{rate}\", kmin = \"{kmin}\", kmax = \"{kmax}\", pmax = {} }},",
                real(pmax)
            );
        }
    }
    list + "\n]"
}

fn section(text: &mut String, name: &str, values: &[(&str, impl Display)]) {
    let _ = writeln!(text, "[{name}]");
    for (key, value) in values {
        let _ = writeln!(text, "{key} = {value}");
    }
    text.push('\n');
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}

fn text_of(quantity: impl Display) -> String {
    quoted(&quantity.to_string())
}

fn real(value: f64) -> String {
    toml::Value::Float(value).to_string()
}

fn buffer(size: Bytes) -> String {
    if size.0.is_multiple_of(1 << 20) { format!("\"{}MiB\"", size.0 >> 20) } else { text_of(size) }
}

/// Absolute without a common root.
fn relative(folder: &Path, file: &Path) -> String {
    let real =
        |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned());
    let (folder, file) = (real(folder), real(file));
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), file.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return file.display().to_string();
    }
    let mut path = PathBuf::new();
    path.extend(from[common..].iter().map(|_| Component::ParentDir));
    path.extend(&to[common..]);
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use incast_sim::Arithmetic;
    use incast_sim::congestion::{Control, WindowMode};

    use super::*;

    const TOPOLOGY: &str = "4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 3 400Gbps 1us 0\n";
    const FLOWS: &str = "2\n0 1 3 100 5000 2.000200000\n2 1 3 200 100 2.1\n";
    const CONFIG: &str = "CC_MODE 1\nRP_TIMER 300\nEWMA_GAIN 0.00390625\nRATE_AI 20Mb/s\nRATE_HAI 200Mb/s\nALPHA_RESUME_INTERVAL 1\n\
        HAS_WIN 1\nVAR_WIN 1\nACK_HIGH_PRIO 1\nBUFFER_SIZE 32\nSIMULATOR_STOP_TIME 2.5\nENABLE_TRACE 1\nMIN_RATE 1000Mb/s\n\
        KMIN_MAP 2 100000000000 400 400000000000 1600\nKMAX_MAP 2 100000000000 1600 400000000000 6400\n\
        PMAX_MAP 2 100000000000 0.20 400000000000 0.20\n";

    fn import(config: Option<&str>) -> (tempfile::TempDir, Result<Ns3Import, Diagnostics>) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("out")).unwrap();
        std::fs::write(path("topology.txt"), TOPOLOGY).unwrap();
        std::fs::write(path("flow.txt"), FLOWS).unwrap();
        let config = config.map(|text| {
            std::fs::write(path("config.txt"), text).unwrap();
            path("config.txt")
        });
        let import = import_ns3(
            &path("topology.txt"),
            &path("flow.txt"),
            &config.into_iter().collect::<Vec<_>>(),
            &path("out/scenario.toml"),
        );
        (folder, import)
    }

    #[test]
    fn a_configuration_becomes_parameters() {
        let (_folder, import) = import(Some(CONFIG));
        let import = import.unwrap();
        import.write(false).unwrap();
        assert!(import.write(false).is_err());
        let loaded = Loaded::from_path(&import.file, &[]).unwrap();
        let scenario = loaded.scenario();
        assert_eq!(scenario.simulation.arithmetic, Arithmetic::Ns3);
        assert_eq!(scenario.simulation.horizon, Some(Time::ms(2500)));
        assert!(scenario.rdma.acks_ignore_pause && scenario.rdma.rto.is_none());
        let scheme = &scenario.scheme["DCQCN+w"];
        assert_eq!(scenario.switch(scheme, "").unwrap().buffer, Bytes(32 << 20));
        let ecn = scenario.ecn(scheme, "").unwrap();
        assert_eq!(ecn.by_rate.len(), 2);
        assert_eq!((ecn.by_rate[1].kmin, ecn.by_rate[1].pmax), (Bytes(1_600_000), 0.2));
        assert_eq!(scheme.window(), Some(WindowMode::Rate));
        let Some(Control::Dcqcn(dcqcn)) = &scheme.control else { panic!() };
        assert_eq!((dcqcn.fast_recovery, dcqcn.decrease_interval), (5, Time::us(4)));
        assert_eq!((dcqcn.alpha_interval, dcqcn.ai, dcqcn.min_rate), (Time::us(1), Rate::mbps(20), Rate::gbps(1)));
        let prepared = loaded.prepare().unwrap();
        assert_eq!(prepared.flows.flows[0].start, Time::ns(2_000_199_999));
        assert_eq!(prepared.flows.labels, ["background", "incast"]);
        assert!(import.text.contains("topology = \"../topology.txt\""), "{}", import.text);
        assert_eq!(import.notices.len(), 1);
        assert!(import.notices[0].text.starts_with("ENABLE_TRACE"));
    }

    #[test]
    fn several_configurations_are_schemes_of_one_scenario() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("topology.txt"), TOPOLOGY).unwrap();
        std::fs::write(path("flow.txt"), FLOWS).unwrap();
        let import = |texts: &[String]| {
            let write = |(number, text): (usize, &String)| {
                let own = path(&format!("run{number}"));
                std::fs::create_dir_all(&own).unwrap();
                std::fs::write(own.join("config.txt"), text).unwrap();
                own.join("config.txt")
            };
            let files: Vec<PathBuf> = texts.iter().enumerate().map(write).collect();
            import_ns3(&path("topology.txt"), &path("flow.txt"), &files, &path("s.toml"))
        };
        let loaded = |texts: &[String]| {
            Loaded::from_text("s.toml", &import(texts).unwrap().text, folder.path(), &[]).unwrap().scenario().clone()
        };
        let hpcc = CONFIG.replace("CC_MODE 1", "CC_MODE 3").replace("BUFFER_SIZE 32", "BUFFER_SIZE 16")
            + "INT_MULTI 4\nMULTI_RATE 0\n";
        let two = loaded(&[CONFIG.into(), hpcc.clone()]);
        assert_eq!(two.scheme.keys().collect::<Vec<_>>(), ["DCQCN+w", "HPCC"]);
        let buffer = |name: &str| two.switch(&two.scheme[name], "").unwrap().buffer;
        assert_eq!((buffer("DCQCN+w"), buffer("HPCC")), (Bytes(32 << 20), Bytes(16 << 20)));
        assert!(two.rdma.acks_ignore_pause);
        let faster = hpcc.replace("RATE_AI 20Mb/s", "RATE_AI 40Mb/s");
        assert_eq!(loaded(&[hpcc.clone(), faster]).scheme.keys().collect::<Vec<_>>(), ["run0", "run1"]);
        let longer = hpcc.replace("SIMULATOR_STOP_TIME 2.5", "SIMULATOR_STOP_TIME 3");
        let wrong = CONFIG.replace("HAS_WIN 1", "HAS_WNI 1").replace("CC_MODE 1", "CC_MOED 1");
        assert!(
            import(&[CONFIG.into(), longer]).unwrap_err().to_string().contains("SIMULATOR_STOP_TIME: allowed: that of")
        );
        let errors = import(&[wrong, hpcc.replace("ACK_HIGH_PRIO 1", "ACK_HIGH_PRI 1")]).unwrap_err().to_string();
        for each in ["HAS_WNI", "CC_MOED", "ACK_HIGH_PRI"] {
            assert!(errors.contains(each), "{errors}");
        }
        let errors = import(&[CONFIG.replace("HAS_WIN 1", "HAS_WNI 1") + "RATE_BOUND 0\n"]).unwrap_err().to_string();
        assert!(errors.contains("HAS_WNI") && errors.contains("RATE_BOUND"), "{errors}");
    }

    #[test]
    fn a_link_fails() {
        let down = |text: &str| import(Some(&(CONFIG.to_owned() + text)));
        let (folder, imported) = down("LINK_DOWN 5 3 2\n");
        let imported = imported.unwrap();
        let loaded = Loaded::from_text("s", &imported.text, &folder.path().join("out"), &[]).unwrap();
        let network = &loaded.scenario().network;
        assert_eq!(network.failure[0].link, Some(["s3".into(), "h2".into()]));
        assert_eq!((network.failure[0].at, network.failure[0].until), (Time::ms(2000) + Time::us(5), None));
        assert_eq!(network.reroute_after, Some(Time::ZERO));
        assert_eq!(loaded.scenario().simulation.arithmetic, Arithmetic::Exact);
        assert!(imported.notices.iter().any(|notice| notice.text.starts_with("LINK_DOWN: becomes network.failure")));
        for wrong in ["LINK_DOWN 5 0 1\n", "LINK_DOWN 5 3 9\n"] {
            let error = down(wrong).1.unwrap_err().to_string();
            assert!(error.contains("config.txt:17: LINK_DOWN: no link connects nodes"), "{error}");
        }
        let unharmed = down("LINK_DOWN 0 0 0\n").1.unwrap();
        assert!(!unharmed.text.contains("failure") && !unharmed.text.contains("exact"));
    }

    #[test]
    fn hpcc_and_no_window() {
        let hpcc = CONFIG.replace("CC_MODE 1", "CC_MODE 3") + "MULTI_RATE 0\nU_TARGET 0.99\n";
        let (_folder, imported) = import(Some(&hpcc));
        let loaded =
            Loaded::from_text("s", &imported.unwrap().text, _folder.path().join("out").as_path(), &[]).unwrap();
        let Some(Control::Hpcc(hpcc)) = &loaded.scenario().scheme["HPCC"].control else { panic!() };
        assert_eq!((hpcc.eta, hpcc.max_stage), (0.99, 5));
        // That simulator's default, and not the hosts' rate over 25 Gb/s.
        assert_eq!(loaded.prepare().unwrap().schemes[0].setup.params.switch.int_multiplier, Some(1));
        let (_folder, imported) = import(Some(&CONFIG.replace("HAS_WIN 1", "HAS_WIN 0")));
        assert!(imported.unwrap().text.contains("[scheme.DCQCN]\nwindow = \"off\""));
        let (_folder, imported) = import(None);
        assert!(imported.unwrap().text.contains("[scheme.HPCC]"));
    }

    #[test]
    fn the_rest_of_the_family() {
        let scheme = |mode: &str, name: &str| {
            let text = CONFIG.replace("CC_MODE 1", mode) + "PINT_LOG_BASE 1.05\nDCTCP_RATE_AI 615Mb/s\n";
            let (folder, imported) = import(Some(&text));
            let text = imported.unwrap().text;
            Loaded::from_text("s", &text, &folder.path().join("out"), &[]).unwrap().scenario().scheme[name].clone()
        };
        let Some(Control::Timely(timely)) = scheme("CC_MODE 7", "TIMELY+w").control else { panic!() };
        assert_eq!((timely.ai, timely.hai, timely.t_low), (Rate::mbps(20), Rate::mbps(200), Time::us(50)));
        let Some(Control::Dctcp(dctcp)) = scheme("CC_MODE 8", "DCTCP").control else { panic!() };
        assert_eq!((dctcp.g, dctcp.ai), (0.00390625, Rate::mbps(615)));
        let Some(Control::HpccPint(pint)) = scheme("CC_MODE 10", "HPCC-PINT").control else { panic!() };
        assert_eq!((pint.log_base, pint.max_stage, pint.ai), (1.05, 5, Rate::mbps(20)));
    }

    #[test]
    fn what_cannot_be_repeated_is_refused() {
        let why = |from: &str, to: &str| {
            assert!(CONFIG.contains(from));
            import(Some(&CONFIG.replace(from, to))).1.unwrap_err().to_string()
        };
        assert!(
            why("CC_MODE 1", "MULTI_RATE 1\nCC_MODE 3").contains("MULTI_RATE: only one rate for all hops is supported")
        );
        assert!(why("EWMA_GAIN 0.00390625\n", "").contains("config.txt: EWMA_GAIN: is not set"));
        assert!(
            why("KMIN_MAP 2 100000000000 400 400000000000 1600", "KMIN_MAP 1 100000000000 400")
                .contains("KMIN_MAP: has no value for the fabric's links of 400Gbps")
        );
        assert!(why("ACK_HIGH_PRIO 1", "RATE_BOUND 0").contains("RATE_BOUND: flows without pacing are not supported"));
        assert!(why("HAS_WIN 1", "HAS_WNI 1").contains("did you mean `HAS_WIN`?"));
        let late = why("SIMULATOR_STOP_TIME 2.5", "SIMULATOR_STOP_TIME 0");
        assert!(
            late.contains("config.txt:") && late.contains(": SIMULATOR_STOP_TIME: `0ps` is out of range"),
            "{late}"
        );
    }

    #[test]
    fn broken_files_are_located() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("topology.txt"), TOPOLOGY).unwrap();
        std::fs::write(path("flow.txt"), FLOWS.replace("0 1 3", "0 3 3")).unwrap();
        let error = import_ns3(&path("topology.txt"), &path("flow.txt"), &[], &path("s.toml")).unwrap_err();
        let place = error.iter().next().unwrap().place.clone().unwrap();
        assert!(place.file.ends_with("flow.txt"), "{error}");
        assert_eq!((place.line, place.text.as_str()), (2, "0 3 3 100 5000 2.000200000"));
    }
}
