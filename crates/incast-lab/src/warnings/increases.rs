//! Control defaults that suit slower NICs.

use incast_model::units::Rate;
use incast_sim::Carrier;
use incast_sim::congestion::Control;
use serde_json::Value;

use crate::scenario::{Prepared, PreparedScheme, value};
use crate::tree::path;
use crate::warning::setting;

/// If NICs are at least twice as fast as default increases suit: path of the control, and message with values in proportion.
pub(super) fn unscaled(prepared: &Prepared, scheme: &PreparedScheme) -> Vec<(String, String)> {
    // A `profile` reproduces another simulator.
    let repeats = prepared.given.written(&["profile"]).is_some();
    let Some(read) = prepared.scenario.scheme.get(&scheme.name).filter(|_| !repeats) else { return Vec::new() };
    let own = read.control.iter().map(|control| (vec!["control"], control));
    let by_label = read.control_by_label.iter().map(|(label, control)| (vec!["control_by_label", label], control));
    let warning = |(keys, control): (Vec<&str>, &Control)| {
        let keys = [keys, vec![control.name()]].concat();
        let written = prepared.given.written(&[&["scheme", scheme.name.as_str()], &keys[..]].concat());
        let message = message(control, written, slowest_nic(prepared, scheme, control)?)?;
        Some((keys.iter().fold(String::new(), |path, key| path::join(&path, key)), message))
    };
    own.chain(by_label).filter_map(warning).collect()
}

/// One value holds for all of a control's senders.
fn slowest_nic(prepared: &Prepared, scheme: &PreparedScheme, control: &Control) -> Option<Rate> {
    let setup = &scheme.setup;
    let uses =
        |carrier: &Carrier| matches!(carrier, Carrier::Rdma(index) if setup.controls[*index].control == *control);
    let wanted: Vec<bool> = setup.carriers.iter().map(uses).collect();
    let mut senders: Vec<_> =
        setup.flows.flows.iter().filter(|flow| wanted[usize::from(flow.label)]).map(|flow| flow.src).collect();
    senders.sort_unstable();
    senders.dedup();
    let nics = senders.into_iter().flat_map(|host| prepared.fabric.network_ports(host));
    nics.map(|port| prepared.fabric.rate(port)).min()
}

/// Increases that equal the default profile and are not `written`, scaled to the NIC rate.
fn message(control: &Control, written: Option<&Value>, nic: Rate) -> Option<String> {
    let meant = Control::INCREASES_FOR;
    if nic.0 < 2 * meant.0 || written.is_some_and(|written| written.get("profile").is_some()) {
        return None;
    }
    let name = control.name();
    let usual = value(Control::named(name, Control::profiles(name)?.first()?.0)?);
    let now = value(control);
    let given = |field: &str| written.is_some_and(|written| written.get(field).is_some());
    let mut found = Vec::new();
    for &field in control.increases() {
        let [now, usual] = [&now, &usual].map(|all| all[name][field].as_str());
        if now == usual && !given(field) {
            let rate: Rate = now?.parse().ok()?;
            let scaled = u128::from(rate.0) * u128::from(nic.0) / u128::from(meant.0);
            found.push((field, rate, Rate(scaled as u64)));
        }
    }
    let join = |each: &dyn Fn(&(&str, Rate, Rate)) -> String| found.iter().map(each).collect::<Vec<_>>().join(", ");
    (!found.is_empty()).then(|| {
        format!(
            "{}: {} for NICs of {meant:#}; for NICs of {nic:#} write {}",
            join(&|(field, rate, _)| format!("{field} is {rate:#}")),
            if found.len() == 1 { "a default" } else { "defaults" },
            join(&|(field, _, scaled)| setting(field, scaled)),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::scenario::Loaded;

    fn found(gbps: u32, rest: &str) -> Vec<String> {
        let fabric = format!("[fabric.star]\nhosts = 4\nrate = \"{gbps}Gbps\"\n");
        let workload = "[[workload]]\nlabel = \"x\"\npermutation.size = \"9kB\"\n";
        let text = format!("{rest}\n{fabric}{workload}");
        let loaded = Loaded::from_text("s", &text, Path::new("."), &[]).unwrap();
        let prepared = loaded.prepare().unwrap();
        let lines = prepared.warnings().iter().map(|warning| warning.summary(prepared.schemes.len()));
        lines.filter(|line| line.contains("NICs of")).collect()
    }

    #[test]
    fn increases_that_nobody_set_are_given_in_proportion() {
        let scheme = |control: &str| format!("scheme.A.control = \"{control}\"");
        assert_eq!(
            found(400, &scheme("dcqcn")),
            [
                "control.dcqcn: ai is 20 Mb/s, hai is 200 Mb/s: defaults for NICs of 100 Gb/s; for NICs of 400 Gb/s write \
              `ai = \"80Mbps\"`, `hai = \"800Mbps\"` (scheme A)"
            ]
        );
        assert_eq!(
            found(800, &scheme("hpcc")),
            [
                "control.hpcc: ai is 50 Mb/s: a default for NICs of 100 Gb/s; for NICs of 800 Gb/s write `ai = \"400Mbps\"` \
              (scheme A)"
            ]
        );
        for (control, ai) in [("hpcc_pint", "200Mbps"), ("timely", "400Mbps"), ("timely_patched", "400Mbps")] {
            assert!(found(400, &scheme(control))[0].contains(&format!("ai = \"{ai}\"")), "{control}");
        }
        // Packets per round trip suit every rate.
        for control in ["dctcp", "swift", "unlimited"] {
            assert_eq!(found(400, &scheme(control)), [""; 0]);
        }
        assert_eq!(found(100, &scheme("dcqcn")), [""; 0]);
        assert_eq!(found(40, &scheme("dcqcn")), [""; 0]);
        let text = found(400, "scheme.A = { control = \"swift\", control_by_label.x = \"hpcc\" }");
        assert!(text[0].starts_with("control_by_label.x.hpcc: ai is 50 Mb/s"), "{text:?}");
        assert_eq!(found(400, "scheme.A = { control = \"hpcc\", control_by_label.x = \"swift\" }"), [""; 0]);
    }

    #[test]
    fn values_that_are_set_and_profiles_are_kept() {
        assert_eq!(found(400, "scheme.A.control.hpcc.ai = \"50Mbps\""), [""; 0]);
        let text = found(400, "scheme.A.control.dcqcn.ai = \"20Mbps\"");
        assert!(text[0].contains("hai = \"800Mbps\"") && !text[0].contains("`ai = \"80Mbps\"`"), "{text:?}");
        assert_eq!(found(400, "scheme.A.control.dcqcn.profile = \"vendor\""), [""; 0]);
        assert_eq!(found(400, "profile = \"ns3\"\nscheme.A.control = \"hpcc\""), [""; 0]);
    }
}
