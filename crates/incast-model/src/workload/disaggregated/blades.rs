use std::fmt;

use rand::Rng;

use super::super::members::Members;
use super::applications::Kind;
use crate::fabric::HostId;
use crate::rng::Stream;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Blade {
    Cpu(u32),
    Memory(u32),
    Disk(u32),
}

impl fmt::Display for Blade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(number) => write!(f, "cpu{number}"),
            Self::Memory(number) => write!(f, "memory{number}"),
            Self::Disk(number) => write!(f, "disk{number}"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blades {
    pub(super) cpu: u32,
    pub(super) memory: u32,
    pub(super) disk: u32,
}

impl Blades {
    pub(super) const fn count(&self) -> u32 {
        self.cpu + self.memory + self.disk
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Blade> + use<> {
        let Self { cpu, memory, disk } = *self;
        (0..cpu).map(Blade::Cpu).chain((0..memory).map(Blade::Memory)).chain((0..disk).map(Blade::Disk))
    }

    pub(super) const fn place(&self, blade: Blade) -> u32 {
        match blade {
            Blade::Cpu(number) => number,
            Blade::Memory(number) => self.cpu + number,
            Blade::Disk(number) => self.cpu + self.memory + number,
        }
    }

    pub(super) fn named(&self, name: &str) -> Option<Blade> {
        self.all().find(|blade| blade.to_string() == name)
    }

    pub(super) fn rule(&self) -> String {
        let range = |kind: &str, count: u32| match count {
            0 => None,
            1 => Some(format!("{kind}0")),
            _ => Some(format!("{kind}0 to {kind}{}", count - 1)),
        };
        let kinds = [range("cpu", self.cpu), range("memory", self.memory), range("disk", self.disk)];
        format!("the name of a blade: {}", kinds.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    /// Memory and disks exchange data with CPUs only.
    pub(super) fn kind(&self, src: Blade, dst: Blade) -> Option<Kind> {
        match (src, dst) {
            (Blade::Cpu(a), Blade::Cpu(b)) => (a != b).then_some(Kind::Network),
            (Blade::Cpu(_), Blade::Memory(_)) | (Blade::Memory(_), Blade::Cpu(_)) => Some(Kind::Memory),
            (Blade::Cpu(_), Blade::Disk(_)) | (Blade::Disk(_), Blade::Cpu(_)) => Some(Kind::Disk),
            _ => None,
        }
    }
}

/// Without left-over hosts.
pub(super) fn in_racks(members: Members<'_>, hosts: &[HostId], count: u32) -> Vec<Vec<HostId>> {
    let racks = members.racks();
    let mut groups: Vec<(u32, Vec<HostId>)> = Vec::new();
    for &host in hosts {
        let rack = racks.of(members.node(host));
        match groups.iter_mut().find(|(of, _)| *of == rack) {
            Some((_, group)) => group.push(host),
            None => groups.push((rack, vec![host])),
        }
    }
    let whole = groups.into_iter().filter(|(_, group)| group.len() >= count as usize);
    whole
        .map(|(_, mut group)| {
            group.truncate(count as usize);
            group
        })
        .collect()
}

pub(super) fn anywhere(hosts: &[HostId], count: u32, rng: &mut Stream) -> Vec<Vec<HostId>> {
    let mut drawn = hosts.to_vec();
    for at in (1..drawn.len()).rev() {
        let other = (((rng.next_u64() >> 32) * (at as u64 + 1)) >> 32) as usize;
        drawn.swap(at, other);
    }
    drawn.chunks_exact(count as usize).map(<[HostId]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLADES: Blades = Blades { cpu: 5, memory: 5, disk: 3 };

    #[test]
    fn pairs_are_those_that_exchange_something() {
        let count = |wanted| {
            let pairs = BLADES.all().flat_map(|src| BLADES.all().map(move |dst| (src, dst)));
            pairs.filter(|&(src, dst)| BLADES.kind(src, dst) == Some(wanted)).count()
        };
        assert_eq!([Kind::Memory, Kind::Disk, Kind::Network].map(count), [50, 30, 20]);
        assert!(BLADES.all().zip(0..).all(|(blade, place)| BLADES.place(blade) == place));
        assert_eq!(BLADES.named("disk2"), Some(Blade::Disk(2)));
        assert_eq!((BLADES.named("disk3"), BLADES.named("cpu")), (None, None));
        assert_eq!(BLADES.rule(), "the name of a blade: cpu0 to cpu4, memory0 to memory4, disk0 to disk2");
    }
}
