//! Changes of a whole scenario: VMs of tenants behind hypervisors, and the arbiter of Fastpass.

use super::draw::Draw;

const HYPERVISORS: [&str; 7] = [
    "hypervisor.elasticswitch = { partition_period = \"50us\", new_pair_delay = \"3us\", rate.period = \"20us\" }",
    "hypervisor.elasticswitch = { idle_timeout = \"30us\", rate = { period = \"7us\", detection = \"ecn\" } }",
    "hypervisor.elasticswitch = { weight = \"literal\", shaper = { packets = 3, delay = \"40us\" } }",
    "hypervisor = \"reservation\"",
    "hypervisor.seawall = { idle_timeout = \"50us\", rate.period = \"10us\" }",
    "hypervisor.edge_only = { period = \"9us\", feedback_every = \"1kB\", idle_timeout = \"60us\" }",
    "",
];
const TRANSPORTS: [&str; 4] =
    ["\"tcp\"", "\"udp\"", "{ tcp = { profile = \"linux\" } }", "{ tcp.control = \"cubic\" }"];
const GUARANTEES: [&str; 3] = ["200Mbps", "1Mbps", "700Mbps"];
const PLACEMENTS: [&str; 3] = ["random", "packed", "unbalanced"];
/// A switch of each fabric that can have an arbiter.
const SWITCHES: [(&str, &str); 6] = [
    ("star", "s0"),
    ("dumbbell", "left"),
    ("leaf_spine", "leaf0"),
    ("jellyfish", "s0"),
    ("rail_optimized", "rail0"),
    ("custom", "s0"),
];

/// The scenario as it is, or for tenants, or for Fastpass.
pub(super) fn with_parties(draw: &mut Draw<'_>, parts: String, scheme: &str, hosts: u64) -> String {
    match draw.within(0, 5) {
        1 => of_tenants(draw, &parts, hosts),
        2 => of_fastpass(draw, &parts).unwrap_or(parts + scheme),
        _ => parts + scheme,
    }
}

/// Each entry has the VMs of a tenant as its hosts.
fn of_tenants(draw: &mut Draw<'_>, parts: &str, hosts: u64) -> String {
    let (slots, placement, vms) = (draw.within(1, 3), draw.one_of(&PLACEMENTS), hosts.min(6));
    let tenant = |draw: &mut Draw<'_>, name: &str| {
        let (rate, vms) = (draw.one_of(&GUARANTEES), draw.within(2, vms));
        format!("[[tenant]]\nname = \"{name}\"\nvms = {vms}\nguarantee = \"{rate}\"\nplacement = \"{placement}\"\n")
    };
    let tenants = tenant(draw, "a") + &tenant(draw, "b");
    let owner = draw.one_of(&["a", "b"]);
    let (transport, hypervisor) = (draw.one_of(&TRANSPORTS), draw.one_of(&HYPERVISORS));
    parts.replace("[[workload]]\n", &format!("[[workload]]\ntenant = \"{owner}\"\n"))
        + &format!("[vms]\nslots = {slots}\nrate = \"500Gbps\"\nadmission = \"report\"\n{tenants}")
        + &format!("[scheme.S]\ntransport = {transport}\n{hypervisor}\n")
}

fn of_fastpass(draw: &mut Draw<'_>, parts: &str) -> Option<String> {
    let fabric = |name: &str| parts.starts_with(&format!("[fabric.{name}]"));
    let (_, at) = SWITCHES.into_iter().find(|(name, _)| fabric(name))?;
    let align = draw.one_of(&["epoch", "asap"]);
    Some(format!(
        "{parts}[[service]]\nname = \"arbiter\"\nat = \"{at}\"\n\
         [scheme.S]\ntransport.fastpass = {{ arbiter = \"arbiter\", align = \"{align}\" }}\n"
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use incast_lab::Loaded;

    use super::{Draw, HYPERVISORS, SWITCHES, TRANSPORTS, of_fastpass, of_tenants};

    const STAR: &str = "[fabric.star]\nhosts = 4\n[[workload]]\npermutation.size = \"1kB\"\n";

    fn runs(text: &str) {
        Loaded::from_text("s", text, Path::new("."), &[]).and_then(|loaded| loaded.prepare()).unwrap_or_else(|found| {
            panic!("{found}\n{text}");
        });
    }

    #[test]
    fn every_hypervisor_and_transport_can_be_drawn() {
        let text = of_tenants(&mut Draw::new(&[]), STAR, 4);
        for hypervisor in HYPERVISORS {
            runs(&text.replace(HYPERVISORS[0], hypervisor));
        }
        for transport in TRANSPORTS {
            runs(&text.replace(TRANSPORTS[0], transport));
        }
    }

    #[test]
    fn the_arbiter_is_at_a_switch_of_the_fabric() {
        runs(&of_fastpass(&mut Draw::new(&[]), STAR).unwrap());
        assert!(
            SWITCHES.iter().all(|(name, _)| of_fastpass(&mut Draw::new(&[]), &format!("[fabric.{name}]")).is_some())
        );
    }
}
