use std::path::Path;

use incast_model::fabric::{AdmissionMode, Fabric, Vms};
use incast_model::tenant::{Admission, Tenancy, place};

use super::Scenario;
use super::prepare::entry_error;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::tree::path;

impl Scenario {
    /// Places tenants on VMs; `None` without `[[tenant]]`. Relative files start at `base_dir`.
    pub fn tenancy(&self, fabric: &Fabric, base_dir: &Path) -> Result<Option<Tenancy>, Diagnostics> {
        if self.tenant.is_empty() {
            return Ok(None);
        }
        let Some(vms) = &self.vms else {
            let allowed = "a section [vms], such as [vms] with slots = 4";
            return Err(Diagnostic::new("tenant[0]", "there are no VMs for a tenant").allowed(allowed).into());
        };
        let tenancy = place(&self.tenant, fabric, vms, base_dir, self.seed).map_err(entry_error)?;
        if vms.admission == AdmissionMode::Enforce && tenancy.guarantees() {
            self.admit(fabric, vms, &tenancy)?;
        }
        Ok(Some(tenancy))
    }

    /// Guarantees that links cannot carry or that cannot be checked are refused.
    fn admit(&self, fabric: &Fabric, vms: &Vms, tenancy: &Tenancy) -> Result<(), Diagnostic> {
        let admission = Admission::new(fabric, tenancy, vms.headroom).map_err(|why| {
            let message = format!("cannot tell if this fabric carries the guarantees: {why}");
            Diagnostic::new("vms.admission", message).allowed("report, no guarantees, or another fabric")
        })?;
        admission.check(tenancy).map_err(|rejected| {
            let group = |name: &str| tenancy.tenants().iter().find(|one| one.name == name).map(|one| &one.group);
            let most = rejected.tenants.first().and_then(|(name, _)| group(name));
            let entry = self.tenant.iter().position(|spec| Some(&spec.name) == most);
            let at = entry.map_or("tenant".into(), |entry| path::join(&path::index("tenant", entry), "guarantee"));
            let allowed = "smaller guarantees, fewer tenants, another placement, or vms.admission = \"report\"";
            Diagnostic::new(at, rejected.to_string()).allowed(allowed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Loaded, Prepared};
    use crate::show::{Show, show};

    /// Two tenants compete for a rack's uplink (Popa et al. (ElasticSwitch), SIGCOMM 2013, figure 5): X receives from one VM, Y
    /// from 20.
    const MANY_VS_ONE: &str = r#"
[fabric.leaf_spine]
leaves = 4
spines = 1
hosts_per_leaf = 8
host_rate = "1Gbps"
uplink_rate = "1Gbps"
[vms]
slots = 4
[[tenant]]
name = "x"
vms = 2
guarantee = "450Mbps"
placement.slots = ["h0.0", "h8.0"]
[[tenant]]
name = "y"
vms = 21
guarantee = { send = "22.5Mbps", receive = "450Mbps" }
placement.slots = ["h1.0", "h9.0", "h10.0", "h11.0", "h12.0", "h13.0", "h14.0", "h15.0", "h16.0", "h17.0", "h18.0",
    "h19.0", "h20.0", "h21.0", "h22.0", "h23.0", "h24.0", "h25.0", "h26.0", "h27.0", "h28.0"]
[[workload]]
label = "to-x"
tenant = "x"
list = [{ src = 1, dst = 0, size = "backlogged" }]
[[workload]]
label = "to-y"
tenant = "y"
incast = { fan_in = 20, receiver = 0, size = "backlogged" }
[simulation]
horizon = "30s"
[scheme.TCP]
transport = "tcp"
"#;

    /// MapReduce jobs of several tenants (the same, figure 8).
    const MAP_REDUCE: &str = r#"
[fabric.leaf_spine]
leaves = 11
spines = 1
hosts_per_leaf = 4
host_rate = "1Gbps"
uplink_rate = "1Gbps"
[vms]
slots = 4
[[tenant]]
name = "job"
vms = { from = 2, to = 30 }
guarantee = "56.25Mbps"
fill = 1.0
mappers = 0.5
placement = "random"
[[workload]]
tenant = "job"
shuffle = { size = "backlogged" }
[simulation]
horizon = "10s"
[scheme.TCP]
transport = "tcp"
"#;

    fn prepared(text: &str) -> Result<Prepared, Diagnostics> {
        Loaded::from_text("s.toml", text, Path::new("."), &[])?.prepare()
    }

    fn shown(text: &str) -> Show {
        show(&prepared(text).unwrap_or_else(|found| panic!("{found}")), 1e6)
    }

    fn refused(text: &str) -> String {
        let found = prepared(text).expect_err("accepted");
        assert_eq!(found.iter().count(), 1, "{found}");
        found.iter().next().unwrap().summary()
    }

    #[test]
    fn many_senders_against_one() {
        let ready = prepared(MANY_VS_ONE).unwrap();
        let tenancy = ready.tenancy.as_ref().unwrap();
        assert_eq!((ready.fabric.hosts().len(), tenancy.tenants().len(), ready.flows.flows.len()), (128, 2, 21));
        let of = |host| tenancy.tenant_of(host).map(|tenant| tenant.name.as_str());
        for flow in &ready.flows.flows {
            assert_eq!((of(flow.src), flow.until), (of(flow.dst), ready.scenario.simulation.horizon));
        }
        let show = show(&ready, 1e6);
        assert_eq!(show.warnings, []);
        let text = show.to_string();
        assert!(
            text.starts_with("fabric     32 servers, 5 switches, 128 links of 10 Gb/s and 0 ps, 36 links of 1 Gb/s"),
            "{text}"
        );
        let said = "\nVMs        128 slots, 4 per server, links of 10 Gb/s; 23 used by tenants\
                    \ntenants    x: 1 tenant with 2 VMs, guarantee 450 Mb/s; placement slots\
                    \ntenants    y: 1 tenant with 21 VMs, guarantee 22.5 Mb/s sent, 450 Mb/s received; placement slots\
                    \nadmission  the links carry all guarantees\
                    \n           tightest: to leaf0 900 Mb/s of 900 Mb/s, ";
        assert!(text.contains(said), "{text}");
        assert!(text.contains("\nflows      to-y: 20 flows, 0.000 MB, 20 backlogged, all start at 0 ps"), "{text}");
        // The rack's uplink carries 1 Gb/s for 30 s, in segments of 1460 B.
        assert!(
            show.estimate.unwrap().packets.abs_diff(3_750_000_000 / 1460) < 100,
            "{}",
            show.estimate.unwrap().packets
        );
    }

    #[test]
    fn guarantees_that_links_cannot_carry_are_refused_or_reported() {
        let both = MANY_VS_ONE.replace(r#"{ send = "22.5Mbps", receive = "450Mbps" }"#, "\"450Mbps\"");
        let why = refused(&both);
        assert!(
            why.starts_with(
                "s.toml:18:13: tenant[1].guarantee: from leaf1 guarantees of 3.6 Gb/s exceed the 900 Mb/s that the links carry \
                 without headroom, by 2.7 Gb/s: y has 3.15 Gb/s, x has 450 Mb/s (allowed: smaller guarantees, fewer"
            ),
            "{why}"
        );
        let report = both.replace("slots = 4\n", "slots = 4\nadmission = \"report\"\n");
        let text = shown(&report).to_string();
        assert!(
            text.contains("\nadmission  the links do not carry all guarantees: from leaf1 guarantees of 3.6 Gb/s"),
            "{text}"
        );
        assert!(text.contains("\n           tightest: from leaf1 3.6 Gb/s of 900 Mb/s"), "{text}");
        let none = MANY_VS_ONE.replace("slots = 4\n", "slots = 4\nheadroom = 0.2\n");
        assert!(refused(&none).contains("to leaf0 guarantees of 900 Mb/s exceed the 800 Mb/s"));
    }

    #[test]
    fn map_reduce_jobs_of_tenants() {
        let ready = prepared(MAP_REDUCE).unwrap();
        let tenants = ready.tenancy.as_ref().unwrap().tenants();
        let taken: usize = tenants.iter().map(|tenant| tenant.vms.len()).sum();
        assert!((175..=176).contains(&taken) && tenants.len() > 5, "{taken} of {}", tenants.len());
        let pairs = |vms: usize| vms.div_ceil(2) * (vms / 2);
        let flows: usize = tenants.iter().map(|tenant| pairs(tenant.vms.len())).sum();
        assert_eq!((ready.flows.flows.len(), ready.flows.labels.len()), (flows, 1));
        let text = show(&ready, 1e6).to_string();
        assert!(
            text.contains("VMs, 17") && text.contains("0.5 mappers, guarantee 56.25 Mb/s; placement random"),
            "{text}"
        );
        let other = prepared(&MAP_REDUCE.replace("\"random\"", "\"unbalanced\"")).unwrap();
        assert_eq!(other.flows.flows.len(), flows, "the same jobs elsewhere");
        let light = prepared(&MAP_REDUCE.replace("fill = 1.0", "fill = 0.1")).unwrap();
        let taken: usize = light.tenancy.unwrap().tenants().iter().map(|tenant| tenant.vms.len()).sum();
        assert!((16..=17).contains(&taken), "{taken}");
    }

    #[test]
    fn mistakes_have_their_place() {
        let with = |from: &str, to: &str| {
            assert!(MAP_REDUCE.contains(from), "{from}");
            refused(&MAP_REDUCE.replacen(from, to, 1))
        };
        assert_eq!(
            with("[vms]\nslots = 4\n", ""),
            "s.toml:8:1: tenant[0]: there are no VMs for a tenant (allowed: a section [vms], such as [vms] with slots = 4)"
        );
        assert_eq!(with("slots = 4", "slots = 65"), "s.toml:9:9: vms.slots: `65` is out of range (allowed: 1 to 64)");
        assert!(with("fill = 1.0", "count = 200").contains("s.toml:12:7: tenant[0].vms: `"));
        assert!(
            with("from = 2,", "from = 1,").starts_with("s.toml:12:16: tenant[0].vms.from: `1` is not possible here")
        );
        assert!(
            with("56.25Mbps", "901Mbps").starts_with("s.toml:13:13: tenant[0].guarantee: `901Mbps` is not possible")
        );
        assert!(
            with("tenant = \"job\"", "tenant = \"jb\"").ends_with("the name of a [[tenant]]); did you mean `job`?")
        );
        assert!(with("horizon = \"10s\"", "").contains("workload[0].shuffle.size: `backlogged` is not possible here"));
        assert!(
            with("placement = \"random\"", "placement.file = \"none.csv\"").contains("another placement with `fill`")
        );
        let jellyfish = "[fabric.jellyfish]\nswitches = 8\nports = 8\nnetwork_ports = 4\n";
        let start = MAP_REDUCE.find("[vms]").unwrap();
        let flat = format!("{jellyfish}{}", &MAP_REDUCE[start..]);
        let why = refused(&flat);
        assert!(
            why.starts_with("s.toml:5:2: vms.admission: cannot tell if this fabric carries the guarantees: "),
            "{why}"
        );
        let report = flat.replace("slots = 4\n", "slots = 4\nadmission = \"report\"\n");
        assert!(shown(&report).to_string().contains("\nadmission  unknown if the links carry the guarantees: "));
    }

    #[test]
    fn a_scenario_with_tenants_reads_back() {
        for text in [MANY_VS_ONE, MAP_REDUCE] {
            let loaded = Loaded::from_text("s.toml", text, Path::new("."), &[]).unwrap();
            let again = Loaded::from_text("again", &loaded.scenario().to_toml(), Path::new("."), &[]).unwrap();
            assert_eq!(again.scenario().to_toml(), loaded.scenario().to_toml());
            assert_eq!(again.scenario().tenant, loaded.scenario().tenant);
        }
    }

    #[test]
    fn a_file_of_slots_counts_for_the_key() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("p.csv"), "tenant,vm,slot\njob,0,h0.0\njob,1,h1.7\n").unwrap();
        let text =
            MAP_REDUCE.replace("placement = \"random\"", "placement.file = \"p.csv\"").replace("fill = 1.0\n", "");
        let loaded = Loaded::from_text("s.toml", &text, folder.path(), &[]).unwrap();
        assert_eq!(loaded.files(), [folder.path().join("p.csv")]);
        let why = loaded.prepare().unwrap_err().to_string();
        assert!(why.contains("p.csv:3:7") && why.contains("| job,1,h1.7\n  |       ^^^^"), "{why}");
    }

    #[test]
    fn seawall_has_none_of_what_elasticswitch_adds() {
        let with = |hypervisor: &str| {
            let text = format!(
                "[fabric.star]\nhosts = 2\n[vms]\nslots = 1\n[[tenant]]\nname = \"x\"\nvms = 2\n[[workload]]\ntenant = \"x\"\n\
                 list = [{{ src = 0, dst = 1, size = 1 }}]\n[scheme.A]\ntransport = \"tcp\"\n{hypervisor}\n"
            );
            let loaded =
                Loaded::from_text("s.toml", &text, Path::new("."), &[]).unwrap_or_else(|found| panic!("{found}"));
            let rate = loaded.scenario().scheme[0].hypervisor.as_ref().and_then(|one| one.rate().cloned()).unwrap();
            (rate.period, rate.hold_increase, rate.rate_caution)
        };
        let ms = incast_model::units::Time::ms;
        assert_eq!(with("hypervisor = \"seawall\""), (ms(15), false, false));
        assert_eq!(with("hypervisor.seawall.rate.period = \"5ms\""), (ms(5), false, false));
        assert_eq!(with("hypervisor.seawall.rate.rate_caution = true"), (ms(15), false, true));
        assert_eq!(with("hypervisor.elasticswitch.rate.period = \"5ms\""), (ms(5), true, true));
    }
}
