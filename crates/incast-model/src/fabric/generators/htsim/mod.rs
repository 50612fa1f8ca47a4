mod file;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::file::TopoFile;
use super::GeneratorError;
use super::check::Check;
use super::folded::{Folded, Links, TopOrder};
use crate::fabric::Fabric;
use crate::foreign::Ns3Error;
use crate::input;
use crate::units::{Rate, Time};

/// Topology file of htsim (`*.topo` of Broadcom/csg-htsim and ultraethernet/uet-htsim): a fat tree of two or three
/// tiers. Hosts and switches (`tor0`, …, `agg0`, … and `core0`, …) are numbered as there.
///
/// Half of `Switch_Latency_ns` is added to the delay of each link of the switch: paths take as long as in htsim, but
/// frames that turn back at a switch, such as pauses, half a latency longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HtsimFile {
    /// Topology file, relative to the scenario's folder.
    pub topology: PathBuf,
    /// If true, reads a file with `Queue_Up` or `Queue_Down` and ignores both; they are buffers of single ports, a
    /// switch here shares one, `switch.buffer`. Default false: error.
    #[serde(default)]
    pub ignore_queues: bool,
}

impl HtsimFile {
    /// Builds the fabric; relative paths start at `base_dir`.
    pub fn build(&self, base_dir: &Path) -> Result<Fabric, GeneratorError> {
        let path = base_dir.join(&self.topology);
        let file = path.display().to_string();
        let text = input::read_text(&path, input::LARGE)
            .map_err(|why| Ns3Error::Unreadable { file: file.as_str().into(), why: why.to_string().into() })
            .map_err(GeneratorError::Htsim)?;
        self.parse(&text, &file)
    }

    fn parse(&self, text: &str, file: &str) -> Result<Fabric, GeneratorError> {
        tree(text, file, self.ignore_queues).map_err(GeneratorError::Htsim)?.build(Check("htsim"))
    }
}

/// Interprets a file as htsim's loader does (`fat_tree_topology.cpp`, commit 40ccb05).
///
/// DEVIATION: htsim also compares a ToR's oversubscription with its numbers of ports, which refuses different rates up and
/// down. Here only rates count.
fn tree(text: &str, file: &str, ignore_queues: bool) -> Result<Folded, Ns3Error> {
    let file = TopoFile::parse(text, file)?;
    let tiers = file.header("Tiers")?;
    if !ignore_queues {
        file.refuse_queues()?;
    }
    let (nodes, pod) = (file.header("Nodes")?, file.header("Podsize")?);
    let top = tiers - 1;
    file.refuse_above(top)?;
    let bundles = [0, 1, 2].map(|tier| if tier <= top { file.or(tier, "Bundle", 1) } else { 1 });
    file.holds(bundles[0] == 1, Some(0), "Bundle", || "1: a host has one link".into())?;
    let down = file.tier(0, "Radix_Down")?;
    file.holds(pod % down == 0, None, "Podsize", || format!("a multiple of tier 0's Radix_Down, {down}"))?;
    if tiers == 2 {
        file.holds(pod == nodes, None, "Podsize", || format!("{nodes}, all Nodes: two tiers are one pod"))?;
    }
    file.holds(nodes % pod == 0, None, "Nodes", || format!("a multiple of Podsize, {pod}"))?;
    let (pods, mut below) = (nodes / pod, pod / down);
    let mut wide = [0, 0];
    for tier in 0..top {
        let bundle = bundles[tier as usize + 1];
        let up = file.tier(tier, "Radix_Up")?;
        let multiple = || format!("a multiple of tier {}'s Bundle, {bundle}", tier + 1);
        file.holds(up % bundle == 0, Some(tier), "Radix_Up", multiple)?;
        let needed = below * bundle;
        let why = || format!("{needed}: {bundle} to each of the {below} switches or pods below");
        file.holds(file.tier(tier + 1, "Radix_Down")? == needed, Some(tier + 1), "Radix_Down", why)?;
        check_oversubscription(&file, tier)?;
        wide[tier as usize] = up / bundle;
        below = pods;
    }
    Ok(Folded {
        names: ["tor", "agg", "core"],
        pods,
        bottoms: pod / down,
        hosts_per_bottom: down,
        middles: wide[0],
        tops_per_middle: wide[1],
        order: TopOrder::Strides,
        bundles: [bundles[1], bundles[2]],
        links: links(&file, top)?,
    })
}

/// `Oversubscribed`: a switch's rate down over its rate up.
fn check_oversubscription(file: &TopoFile<'_>, tier: u32) -> Result<(), Ns3Error> {
    let rate =
        |tier, ports| Ok(u64::from(file.tier(tier, ports)?) * u64::from(file.tier(tier, "Downlink_speed_Gbps")?));
    let down = rate(tier, "Radix_Down")?;
    let up = u64::from(file.tier(tier, "Radix_Up")?) * u64::from(file.tier(tier + 1, "Downlink_speed_Gbps")?);
    let ratio = u64::from(file.or(tier, "Oversubscribed", 1));
    let allowed = || format!("{}, as {down} Gb/s lead down and {up} Gb/s up", down as f64 / up as f64);
    if file.has(tier, "Oversubscribed") {
        file.holds(down == up * ratio, Some(tier), "Oversubscribed", allowed)
    } else {
        file.holds(down == up, Some(tier), "Radix_Up", || {
            format!("as much up as down, or an Oversubscribed of {}", allowed())
        })
    }
}

/// Each side of a switch adds half of its latency.
fn links(file: &TopoFile<'_>, top: u32) -> Result<[Links; 3], Ns3Error> {
    let half = |tier| u64::from(file.or(tier, "Switch_Latency_ns", 0)) * 500;
    let below = |tier: u32| -> Result<Links, Ns3Error> {
        let lower = if tier > 0 { half(tier - 1) } else { 0 };
        let delay = Time::ns(u64::from(file.tier(tier, "Downlink_Latency_ns")?)) + Time(lower + half(tier));
        Ok(Links { rate: Rate::gbps(u64::from(file.tier(tier, "Downlink_speed_Gbps")?)), delay })
    };
    let (hosts, middle) = (below(0)?, below(1)?);
    Ok([hosts, middle, if top == 2 { below(2)? } else { middle }])
}
