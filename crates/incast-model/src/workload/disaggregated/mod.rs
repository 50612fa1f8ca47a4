//! Traffic of the resource disaggregation study (Gao et al., OSDI 2016).

mod applications;
mod blades;
mod measured;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use applications::Application;
use applications::{Kind, Mix};
use blades::{Blade, Blades, anywhere, in_racks};
use measured::Pairs;

use super::arrivals::Arrivals;
use super::entry::{Collector, Entry, Pattern};
use super::hosts::HostSet;
use super::law::SizeLaw;
use super::offer::{Dial, Offer, Parts};
use super::table_file;
use super::window::Window;
use crate::echo::counted;
use crate::entry::EntryError;
use crate::fabric::HostId;
use crate::range::least;
use crate::rng::{Stream, unit};
use crate::units::{Bytes, Time};

/// Placement of the blades of one small system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BladeScale {
    /// Hosts drawn at random from all; a remainder of hosts is in no system.
    #[default]
    Datacenter,
    /// One rack for each system.
    Rack,
}

/// Flows between the CPU, memory and disk blades of small systems that fill the fabric, drawn for each pair of blades
/// from its distributions of gaps and sizes.
///
/// A system has 5 CPU, 5 memory and 3 disk blades (the 5 servers of the study by Gao et al., OSDI 2016). CPUs exchange
/// pages with memory blades, blocks with disk blades, and data with each other: 50, 30 and 20 ordered pairs; the text
/// has 70 pairs and names none. A host stands for `samples` units of its resource. Labels of flows are `memory`,
/// `disk` and `network`, after the entry's label if it has one.
///
/// The study's traces are not public: its applications here are synthetic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disaggregated {
    /// Synthetic application; either this or `trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<Application>,
    /// CSV or Parquet file of flows measured between the blades of one small system; either this or `application`.
    /// Columns: `time_s` (or `time_us`, `time_ns`, `time_ps`), ascending; `src` and `dst`, such as `cpu0`, `memory4`,
    /// `disk2`; `size_bytes`, or the `address` of a page; optionally `kind`: `memory`, `disk` or `network`. Gaps and
    /// sizes of each pair are drawn from the measured ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// Placement of the blades of a system. Default datacenter.
    #[serde(default)]
    pub scale: BladeScale,
    /// Load of a synthetic application: payload on the busiest link of a blade in its busier direction, before
    /// `samples`, as a fraction of the link rate. Default 0.2 (our choice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Units of its resource that a host stands for: draws per pair, 1 to 1000. Default 3 (OSDI 2016: a server becomes
    /// three blades of three units each).
    #[serde(default = "three")]
    #[schemars(transform = least(1).most(1000))]
    pub samples: u32,
    /// CPU blades of a system, 1 to 64. Default 5 (OSDI 2016).
    #[serde(default = "five")]
    #[schemars(transform = least(1).most(64))]
    pub cpus: u32,
    /// Memory blades of a system, 1 to 64. Default 5 (OSDI 2016).
    #[serde(default = "five")]
    #[schemars(transform = least(1).most(64))]
    pub memories: u32,
    /// Disk blades of a system, 0 to 64. Default 3 (OSDI 2016).
    #[serde(default = "three")]
    #[schemars(transform = least(0).most(64))]
    pub disks: u32,
    /// Page size, at least 1 B. Default 4096B (OSDI 2016).
    #[serde(default = "page")]
    #[schemars(transform = least("1B"))]
    pub page: Bytes,
    /// Interval after the entry's start in which flows start. Default: until the entry's `end`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Hosts that can be blades, such as `"0-15"`. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostSet>,
}

const fn three() -> u32 {
    3
}

const fn five() -> u32 {
    5
}

const fn page() -> Bytes {
    Bytes(4096)
}

const LOAD: f64 = 0.2;

enum Source<'a> {
    /// Mean gap in ps.
    Synthetic {
        gap: f64,
        mix: &'a Mix,
        sizes: &'a SizeLaw,
    },
    Measured(&'a measured::Pair),
}

enum Traffic {
    Synthetic {
        mix: Mix,
        /// By [`Kind`].
        sizes: [SizeLaw; 3],
        /// In ps; infinite without flows.
        gaps: [f64; 3],
    },
    Measured(Pairs),
}

impl Traffic {
    fn pairs(&self, blades: &Blades) -> Vec<(Blade, Blade, Kind, Source<'_>)> {
        match self {
            Self::Measured(pairs) => {
                pairs.iter().map(|(&(src, dst, kind), pair)| (src, dst, kind, Source::Measured(pair))).collect()
            }
            Self::Synthetic { mix, sizes, gaps } => {
                let all = blades.all().flat_map(|src| blades.all().map(move |dst| (src, dst)));
                let kinds = all.filter_map(|(src, dst)| Some((src, dst, blades.kind(src, dst)?)));
                let flowing = kinds.filter(|(.., kind)| gaps[*kind as usize].is_finite());
                flowing
                    .map(|(src, dst, kind)| {
                        let (gap, sizes) = (gaps[kind as usize], &sizes[kind as usize]);
                        (src, dst, kind, Source::Synthetic { gap, mix, sizes })
                    })
                    .collect()
            }
        }
    }
}

impl Source<'_> {
    fn expected(&self, length: f64) -> f64 {
        match self {
            Self::Synthetic { gap, .. } => length / gap,
            Self::Measured(pair) => pair.expected(length),
        }
    }

    fn offered(&self) -> f64 {
        const SECOND: f64 = 1e12;
        let mean = match self {
            Self::Synthetic { sizes, .. } => sizes.mean(),
            Self::Measured(pair) => pair.mean_size(),
        };
        self.expected(SECOND) * mean * 8.0
    }

    fn draw(
        &self,
        window: Window,
        rng: &mut Stream,
        mut push: impl FnMut(Time, u64) -> Result<(), EntryError>,
    ) -> Result<(), EntryError> {
        match self {
            Self::Synthetic { gap, mix, sizes } => {
                let mut arrivals = Arrivals::new(window, *gap).with(mix.arrivals);
                while let Some(start) = arrivals.next(rng) {
                    push(start, sizes.sample(unit(rng)))?;
                }
            }
            Self::Measured(pair) => {
                let mut now = window.start.0.saturating_add(pair.first_gap(rng));
                while now < window.end.0 {
                    push(Time(now), pair.size(rng))?;
                    now = now.saturating_add(pair.gap(rng));
                }
            }
        }
        Ok(())
    }
}

impl Pattern for Disaggregated {
    fn has_labels(&self) -> bool {
        true
    }

    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let blades = self.blades();
        let systems = self.systems(entry, &blades)?;
        let window = entry.window(self.duration)?;
        let traffic = self.traffic(entry, &blades, slowest(entry, &systems))?;
        let pairs = traffic.pairs(&blades);
        let of_system: f64 = pairs.iter().map(|(.., source)| source.expected(window.length())).sum();
        let flows = of_system * f64::from(self.samples) * systems.len() as f64;
        entry.expect("duration", window.end - window.start, flows, 0.0)?;
        let labels = labels(entry, out)?;
        for (number, hosts) in (0u64..).zip(&systems) {
            for (src, dst, kind, source) in &pairs {
                for sample in 0..u64::from(self.samples) {
                    let [src, dst] = [src, dst].map(|&blade| blades.place(blade));
                    let pair = (number * 256 + u64::from(src)) * 256 + u64::from(dst);
                    let mut rng = entry.stream("blades", (pair * 3 + *kind as u64) << 16 | sample);
                    let [src, dst] = [src, dst].map(|place| hosts[place as usize]);
                    source.draw(window, &mut rng, |start, size| {
                        let mut flow = entry.flow(src, dst, size, start);
                        flow.label = labels[*kind as usize];
                        out.push(flow).map(|_| ())
                    })?;
                }
            }
        }
        Ok(())
    }

    fn offer(&self, entry: &Entry<'_>) -> Result<Option<Offer>, EntryError> {
        let blades = self.blades();
        let systems = self.systems(entry, &blades)?;
        let traffic = self.traffic(entry, &blades, slowest(entry, &systems))?;
        let of_system = traffic.pairs(&blades).into_iter().map(|(src, dst, _, source)| {
            let [src, dst] = [src, dst].map(|blade| blades.place(blade) as usize);
            (src, dst, source.offered() * f64::from(self.samples))
        });
        let of_system: Vec<(usize, usize, f64)> = of_system.collect();
        let pairs = systems
            .iter()
            .flat_map(|hosts| of_system.iter().map(move |&(src, dst, rate)| (hosts[src], hosts[dst], rate)));
        let parts = Parts::pairs(pairs);
        let dial = self.application.map(|_| Dial::Load(self.load.unwrap_or(LOAD)));
        Ok(Some(Offer { window: entry.window(self.duration)?, dial, parts }))
    }
}

fn slowest(entry: &Entry<'_>, systems: &[Vec<HostId>]) -> f64 {
    systems.iter().flatten().map(|&host| entry.capacity(host)).fold(f64::INFINITY, f64::min)
}

fn labels(entry: &Entry<'_>, out: &mut Collector) -> Result<[u16; 3], EntryError> {
    let own = out.label_name(entry.label).to_owned();
    let mut found = [0; 3];
    for (kind, label) in Kind::ALL.into_iter().zip(&mut found) {
        let name = if entry.labelled { format!("{own}-{}", kind.name()) } else { kind.name().to_owned() };
        let allowed = "one of at most 65536 labels";
        *label = out.label(&name).ok_or_else(|| EntryError::field(entry.field("label"), name, allowed))?;
    }
    Ok(found)
}

impl Disaggregated {
    const fn blades(&self) -> Blades {
        Blades { cpu: self.cpus, memory: self.memories, disk: self.disks }
    }

    /// In order of blades.
    fn systems(&self, entry: &Entry<'_>, blades: &Blades) -> Result<Vec<Vec<HostId>>, EntryError> {
        let (hosts, count) = (entry.hosts(self.hosts.as_ref())?, blades.count());
        let systems = match self.scale {
            BladeScale::Rack => in_racks(entry.members, &hosts, count),
            BladeScale::Datacenter => anywhere(&hosts, count, &mut entry.stream("systems", 0)),
        };
        if !systems.is_empty() {
            return Ok(systems);
        }
        let (field, value, allowed) = match self.scale {
            BladeScale::Rack => {
                ("scale", "rack".into(), format!("datacenter: no rack has {count} hosts for all blades"))
            }
            BladeScale::Datacenter => {
                ("hosts", counted(hosts.len() as u64, "host"), format!("at least {count} hosts, one for each blade"))
            }
        };
        Err(entry.refuse(field, value, allowed))
    }

    /// The slowest host has `rate` bit/s.
    fn traffic(&self, entry: &Entry<'_>, blades: &Blades, rate: f64) -> Result<Traffic, EntryError> {
        let application = match (self.application, &self.trace) {
            (Some(application), None) => application,
            (None, Some(trace)) => {
                if let Some(load) = self.load {
                    return Err(entry.refuse("load", load, "omitted: a trace has its own"));
                }
                let table = table_file::read(entry.field("trace"), entry.base_dir.join(trace))?;
                let pairs = measured::parse(&table.text, &table.file, blades, self.page.0);
                return pairs.map(Traffic::Measured).map_err(|error| table.located(error));
            }
            (both, _) => {
                const ALLOWED: &str = "a file, or application a name: one of the two";
                return Err(match both {
                    Some(_) => entry.refuse("trace", "also given", ALLOWED),
                    None => entry.missing("trace", ALLOWED),
                });
            }
        };
        let load = entry.load(self.load.unwrap_or(LOAD))?;
        let mix = application.mix();
        let sizes = Kind::ALL.map(|kind| mix.sizes(kind, self.page));
        let pairs = [2 * blades.cpu * blades.memory, 2 * blades.cpu * blades.disk, blades.cpu * (blades.cpu - 1)];
        let shares: [f64; 3] = std::array::from_fn(|kind| if pairs[kind] > 0 { mix.shares[kind] } else { 0.0 });
        // Mean bytes per flow of the application, between a pair of each kind, then on the busiest blade.
        let each: [f64; 3] =
            std::array::from_fn(|kind| shares[kind] * sizes[kind].mean() / f64::from(pairs[kind].max(1)));
        let [cpu, memory, disk] = [blades.cpu, blades.memory, blades.disk].map(f64::from);
        let of_cpu = memory * each[0] + disk * each[1] + (cpu - 1.0) * each[2];
        let busiest = of_cpu.max(cpu * each[0]).max(if disk > 0.0 { cpu * each[1] } else { 0.0 });
        // In ps, between the system's flows.
        let gap = busiest * 8.0 / (load * rate) * 1e12;
        let gaps = std::array::from_fn(|kind| match shares[kind] {
            0.0 => f64::INFINITY,
            share => gap * f64::from(pairs[kind]) / share,
        });
        Ok(Traffic::Synthetic { mix, sizes, gaps })
    }
}
