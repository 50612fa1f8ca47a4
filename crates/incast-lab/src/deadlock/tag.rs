use std::fmt;
use std::path::Path;

use incast_deadlock::Wiring;
use incast_deadlock::export::{
    CodePoints, ExportError, P4Ids, PortNames, p4_program, write_csv, write_json, write_nftables, write_p4runtime,
    write_sonic,
};
use incast_deadlock::rules::{Compression, Counting, RuleTable};
use incast_deadlock::tagging::{ClosScheme, Greedy, Injection, Order, Tagged, Tagging};
use incast_deadlock::verify::{Verification, fit};
use incast_model::fabric::NodeId;
use serde::{Deserialize, Serialize};

use super::{PathsOption, Ready, option};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::scenario::Loaded;

/// Algorithm that chooses tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Algorithm 2: merges hop numbers greedily.
    Greedy,
    /// Number of bounces, for fabrics with tiers.
    Clos,
    /// Algorithm 1: number of the hop.
    PerHop,
}

/// Format of exported rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportForm {
    /// One JSON file.
    Json,
    /// The same as a CSV table.
    Csv,
    /// SONiC configuration per switch, with notices of its limits.
    Sonic,
    /// P4 program and P4Runtime entries per switch.
    P4,
    /// nftables file per switch.
    Nftables,
}

/// Options of [`tag`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagOptions {
    /// Paths that should stay lossless. Default: the routes if the scenario has `network.route`, or else the shortest paths.
    pub paths: Option<PathsOption>,
    /// Algorithm that chooses tags.
    pub method: Method,
    /// Traffic classes that share tags, 1 or more; above 1 only with Clos.
    pub classes: u8,
    /// If true, links of a hop are in random order, else by number.
    pub random_order: bool,
    /// Compression of the rules.
    pub compression: Compression,
    /// Lossless priorities of the switches, 1 to 7.
    pub priorities: u8,
    /// Seed of random choices.
    pub seed: u64,
    /// Formats to export.
    #[serde(default)]
    pub export: Vec<ExportForm>,
    /// Name of port 0: `swp1`, or `Ethernet0/8` to count by 8. Default: the format's.
    #[serde(default)]
    pub port_names: Option<String>,
    /// DSCP per tag, from tag 1. If empty: 8, 16, … Lossy packets have 0.
    #[serde(default)]
    pub dscp: Vec<u8>,
}

/// Result of [`tag`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TagShow {
    /// Lossless tags, each a PFC priority.
    pub tags: u8,
    /// Number of rules, by counting method.
    pub rules: Vec<Counted>,
    /// Result of the verification.
    pub verification: Verification,
    /// Reasons why SONiC cannot load its files.
    pub notices: Vec<String>,
}

/// Rules by one counting method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Method.
    pub counted: &'static str,
    /// Rules in all switches.
    pub total: usize,
    /// Most rules in a switch.
    pub most: usize,
}

/// Exported rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// Name within the export folder.
    pub name: String,
    /// Content.
    pub text: String,
}

/// Makes, verifies and exports tags and rules. Relative file names start at `base`.
pub fn tag(loaded: &Loaded, options: &TagOptions, base: &Path) -> Result<(TagShow, Vec<RuleFile>), Diagnostics> {
    let ready = Ready::new(loaded)?;
    let wiring = Wiring::new(&ready.fabric);
    let given = if loaded.scenario().network.route.is_empty() { PathsOption::Shortest } else { PathsOption::Routes };
    let elp = options.paths.as_ref().unwrap_or(&given).elp(&wiring, &ready, base, options.seed)?;
    let Tagged { rules, verification } =
        options.tagging()?.rules(&wiring, &elp).map_err(|error| option("paths", error))?;
    if rules.tags() > options.priorities {
        let why = fit(&wiring, &rules, &elp, options.classes, options.priorities).err().map(|error| error.to_string());
        let none = || format!("{} tags for {} lossless priorities", rules.tags(), options.priorities);
        return Err(option("priorities", why.unwrap_or_else(none)));
    }
    let table = rules.compress(options.compression).with_classes(options.classes);
    let mut files = Vec::new();
    let mut notices = Vec::new();
    let names = Names::new(options, table.tags())?;
    for &form in &options.export {
        files.extend(export(&wiring, &table, form, &names, &mut notices)?);
    }
    let count = |counted, counting| {
        let count = rules.transitions().count(counting);
        Counted { counted, total: count.total, most: count.most }
    };
    let rules = vec![
        count("one ingress port, one egress port", Counting::Each),
        count("a set of ingress ports", Counting::InputSets),
        count("a set of ingress ports, changed tags", Counting::ChangingInputSets),
        count("a set of egress ports", Counting::OutputSets),
        Counted { counted: "as exported", total: table.len(), most: table.most() },
    ];
    Ok((TagShow { tags: table.tags(), rules, verification, notices }, files))
}

impl TagOptions {
    fn tagging(&self) -> Result<Tagging, Diagnostics> {
        let order = if self.random_order { Order::Random(self.seed) } else { Order::Number };
        if self.classes != 1 && self.method != Method::Clos {
            return Err(option("classes", "only the Clos scheme shares tags between classes: --method clos"));
        }
        Ok(match (self.method, &self.paths) {
            (Method::PerHop, _) => Tagging::PerHop,
            (Method::Greedy, _) => Tagging::Greedy(Greedy { order, injection: Injection::Shared }),
            (Method::Clos, Some(PathsOption::UpDown { bounces })) => {
                Tagging::Clos(ClosScheme { classes: self.classes, ..ClosScheme::new(*bounces) })
            }
            (Method::Clos, _) => {
                return Err(option("method", "the Clos scheme is for up-down paths: --paths up-down, with --bounces"));
            }
        })
    }
}

struct Names {
    ports: Option<PortNames>,
    points: CodePoints,
}

impl Names {
    fn new(options: &TagOptions, tags: u8) -> Result<Self, Diagnostics> {
        let mut points = CodePoints::class_selectors(tags);
        if !options.dscp.is_empty() {
            points.tags.clone_from(&options.dscp);
        }
        Ok(Self { ports: options.port_names.as_deref().map(port_names).transpose()?, points })
    }

    fn ports_or(&self, usual: fn() -> PortNames) -> PortNames {
        self.ports.clone().unwrap_or_else(usual)
    }
}

fn port_names(text: &str) -> Result<PortNames, Diagnostics> {
    let (first, step) = text.split_once('/').unwrap_or((text, "1"));
    let prefix = first.trim_end_matches(|c: char| c.is_ascii_digit());
    match (first[prefix.len()..].parse(), step.parse()) {
        (Ok(first), Ok(step)) if step > 0 && !prefix.is_empty() => Ok(PortNames { prefix: prefix.into(), first, step }),
        _ => {
            let found = Diagnostic::new("--port-names", format!("`{text}` is not the name of a first port"));
            Err(found.allowed("letters and a number, such as swp1, or Ethernet0/8 where names count by 8").into())
        }
    }
}

const fn meant(error: &ExportError) -> &'static str {
    match error {
        ExportError::CodePoint { .. } | ExportError::TooFewCodePoints { .. } => "dscp",
        ExportError::PortName { .. } => "port-names",
        _ => "export",
    }
}

fn export(
    wiring: &Wiring<'_>,
    table: &RuleTable,
    form: ExportForm,
    names: &Names,
    notices: &mut Vec<String>,
) -> Result<Vec<RuleFile>, Diagnostics> {
    let switches: Vec<NodeId> = table.switches().map(|(switch, _)| switch).collect();
    let file = |name: String, text: String| RuleFile { name, text };
    let json = |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
    let each = |make: &mut dyn FnMut(NodeId, &str) -> Result<RuleFile, ExportError>| {
        let made = switches.iter().map(|&switch| {
            let name = wiring.name(switch);
            if name.starts_with('.') || name.contains(['/', '\\', '\0']) {
                let text = format!("`{name}` cannot be a file's name, and this form has a file for each switch");
                return Err(option("export", text));
            }
            make(switch, name).map_err(|error| option(meant(&error), error))
        });
        made.collect::<Result<Vec<_>, _>>()
    };
    Ok(match form {
        ExportForm::Json => vec![file("rules.json".into(), write_json(wiring, table))],
        ExportForm::Csv => vec![file("rules.csv".into(), write_csv(wiring, table))],
        ExportForm::Nftables => each(&mut |switch, name| {
            let text = write_nftables(wiring, table, switch, &names.ports_or(PortNames::linux), &names.points)?;
            Ok(file(format!("{name}.nft"), text))
        })?,
        ExportForm::P4 => {
            let mut files = each(&mut |switch, name| {
                let entries = write_p4runtime(wiring, table, switch, P4Ids::default())?;
                Ok(file(format!("{name}.p4runtime.json"), json(&entries)))
            })?;
            let ports = switches.iter().map(|&switch| wiring.degree(switch)).max().unwrap_or(0);
            files.push(file("tags.p4".into(), p4_program(ports as u32, table.tags())));
            files
        }
        ExportForm::Sonic => each(&mut |switch, name| {
            let sonic = write_sonic(wiring, table, switch, &names.ports_or(PortNames::sonic), &names.points)?;
            for cannot in sonic.cannot {
                if !notices.contains(&cannot) {
                    notices.push(cannot);
                }
            }
            Ok(file(format!("{name}.sonic.json"), json(&sonic.config_db)))
        })?,
    })
}

impl fmt::Display for TagShow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.notices.is_empty() {
            writeln!(f, "These files cannot be loaded on SONiC today:")?;
            self.notices.iter().try_for_each(|notice| writeln!(f, "- {notice}"))?;
            writeln!(f)?;
        }
        let tags = match self.tags {
            1 => "1 lossless tag, a PFC priority".to_owned(),
            many => format!("{many} lossless tags, each a PFC priority"),
        };
        writeln!(f, "{tags}; packets that leave the paths become lossy")?;
        writeln!(f, "verified: {}", self.verification)?;
        let head = "rules, by matched ports";
        let width = self.rules.iter().map(|one| one.counted.len()).max().unwrap_or(0).max(head.len());
        writeln!(f, "\n{head:<width$}  in all switches  in the largest switch")?;
        for Counted { counted, total, most } in &self.rules {
            writeln!(f, "{counted:<width$}  {total:>15}  {most:>21}")?;
        }
        Ok(())
    }
}
