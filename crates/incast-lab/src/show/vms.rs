use std::fmt;

use incast_model::echo::counted;
use incast_model::tenant::{Admission, Placement, TenantSpec};
use incast_model::units::Rate;
use serde::Serialize;

use crate::scenario::Prepared;

/// VMs of a fabric and their tenants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VmsShow {
    /// Number of servers.
    pub servers: usize,
    /// VM slots per server.
    pub slots: u32,
    /// Rate of a VM's virtual link.
    pub rate: Rate,
    /// VM slots used by tenants.
    pub taken: usize,
    /// Tenants by entry.
    pub tenants: Vec<TenantShow>,
    /// Admission of guarantees; `None` without guarantees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionShow>,
}

/// Tenants of one entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TenantShow {
    /// Name of the entry.
    pub name: String,
    /// Number of tenants.
    pub tenants: usize,
    /// VMs: all, of the smallest tenant, of the largest.
    pub vms: [usize; 3],
    /// Guarantee per VM: `450 Mb/s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<String>,
    /// Fraction of VMs that are mappers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mappers: Option<f64>,
    /// Placement of VMs, in a word.
    pub placement: &'static str,
}

/// Admission of all guarantees by the links.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AdmissionShow {
    /// True if links carry all guarantees; `None`: unknown.
    pub admitted: Option<bool>,
    /// Reason if not admitted or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Cuts with the largest reserved share.
    pub tightest: Vec<CutShow>,
}

/// Guarantees on links across a cut, one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CutShow {
    /// Inside of the cut: a VM, a server, or a switch with everything below.
    pub name: String,
    /// `from` or `to` the inside.
    pub direction: &'static str,
    /// Reserved rate.
    pub reserved: Rate,
    /// Reservable rate: capacity less headroom.
    pub room: Rate,
}

/// Most cuts shown.
const CUTS: usize = 3;

impl VmsShow {
    pub(super) fn new(prepared: &Prepared) -> Option<Self> {
        let vms = prepared.scenario.vms.as_ref()?;
        let tenants = prepared.tenancy.as_ref().map_or(&[][..], |tenancy| tenancy.tenants());
        let entry = |spec: &TenantSpec| {
            let counts: Vec<usize> =
                tenants.iter().filter(|one| one.group == spec.name).map(|one| one.vms.len()).collect();
            let (fewest, most) = (counts.iter().min().copied()?, counts.iter().max().copied()?);
            Some(TenantShow {
                name: spec.name.clone(),
                tenants: counts.len(),
                vms: [counts.iter().sum(), fewest, most],
                guarantee: (!spec.guarantee.is_none()).then(|| format!("{:#}", spec.guarantee)),
                mappers: spec.mappers,
                placement: placement(&spec.placement),
            })
        };
        Some(Self {
            servers: prepared.fabric.servers().len(),
            slots: vms.slots,
            rate: vms.rate,
            taken: tenants.iter().map(|tenant| tenant.vms.len()).sum(),
            tenants: prepared.scenario.tenant.iter().filter_map(entry).collect(),
            admission: AdmissionShow::new(prepared, vms.headroom),
        })
    }
}

const fn placement(placement: &Placement) -> &'static str {
    match placement {
        Placement::Random => "random",
        Placement::Unbalanced => "unbalanced",
        Placement::Packed => "packed",
        Placement::Slots(_) => "slots",
        Placement::File(_) => "file",
    }
}

impl AdmissionShow {
    fn new(prepared: &Prepared, headroom: f64) -> Option<Self> {
        let tenancy = prepared.tenancy.as_ref().filter(|tenancy| tenancy.guarantees())?;
        let admission = match Admission::new(&prepared.fabric, tenancy, headroom) {
            Ok(admission) => admission,
            Err(why) => return Some(Self { admitted: None, problem: Some(why.to_string()), tightest: Vec::new() }),
        };
        let problem = admission.check(tenancy).err().map(|rejected| rejected.to_string());
        let tightest = admission.tightest().into_iter().take(CUTS).map(|(cut, up, _)| CutShow {
            name: cut.name.clone(),
            direction: if up { "from" } else { "to" },
            reserved: cut.reserved(up).total,
            room: admission.room(cut.capacity),
        });
        Some(Self { admitted: Some(problem.is_none()), problem, tightest: tightest.collect() })
    }
}

impl fmt::Display for VmsShow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.servers * self.slots as usize;
        write!(
            f,
            "\nVMs        {all} slots, {} per server, links of {:#}; {} used by tenants",
            self.slots, self.rate, self.taken
        )?;
        for entry in &self.tenants {
            let TenantShow { name, tenants, vms: [all, fewest, most], placement, .. } = entry;
            write!(f, "\ntenants    {name}: {} with ", counted(*tenants as u64, "tenant"))?;
            match fewest == most {
                true => write!(f, "{fewest} VMs")?,
                false => write!(f, "{fewest} to {most} VMs, {all} in all")?,
            }
            if let Some(share) = entry.mappers {
                write!(f, ", {share} mappers")?;
            }
            match &entry.guarantee {
                Some(guarantee) => write!(f, ", guarantee {guarantee}")?,
                None => write!(f, ", no guarantee")?,
            }
            write!(f, "; placement {placement}")?;
        }
        self.admission.as_ref().map_or(Ok(()), |admission| write!(f, "{admission}"))
    }
}

impl fmt::Display for AdmissionShow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = self.problem.as_deref().unwrap_or_default();
        match self.admitted {
            Some(true) => write!(f, "\nadmission  the links carry all guarantees")?,
            Some(false) => write!(f, "\nadmission  the links do not carry all guarantees: {problem}")?,
            None => write!(f, "\nadmission  unknown if the links carry the guarantees: {problem}")?,
        }
        let cut = |cut: &CutShow| format!("{} {} {:#} of {:#}", cut.direction, cut.name, cut.reserved, cut.room);
        let cuts: Vec<String> = self.tightest.iter().map(cut).collect();
        if cuts.is_empty() { Ok(()) } else { write!(f, "\n           tightest: {}", cuts.join(", ")) }
    }
}
