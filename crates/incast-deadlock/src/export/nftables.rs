//! Rules for a Linux box that routes: nftables.

use incast_model::fabric::NodeId;

use super::{CodePoints, ExportError, PortNames};
use crate::rules::{Entry, RuleTable};
use crate::wiring::Wiring;

/// Longest name of an interface: IFNAMSIZ of Linux, less the zero at its end.
const LONGEST_NAME: usize = 15;

/// The rules of one switch as a file for `nft -f`: a chain in the forward path that reads a tag from the DSCP of IPv4 and
/// IPv6 packets and writes the new one.
///
/// The new tag also becomes the packet's `meta priority`, by which `mqprio` and `dcb` choose the egress queue and its PFC
/// priority: a PAUSE of the new priority has to hold the packet back. `accept` ends this chain only; others still see the
/// packet. What has a lossless tag and matches no rule becomes lossy.
///
/// # Errors
/// More tags than priorities, code points that cannot be, names that are too long.
pub fn write_nftables(
    wiring: &Wiring<'_>,
    table: &RuleTable,
    switch: NodeId,
    names: &PortNames,
    code_points: &CodePoints,
) -> Result<String, ExportError> {
    code_points.check("nftables", table.tags())?;
    let ports = wiring.degree(switch) as u32;
    if let Some((port, name)) = (0..ports).map(|port| (port, names.name(port))).find(|(_, name)| !is_name(name)) {
        let allowed = "letters, digits, `_`, `.` and `-`, at most 15 in all";
        return Err(ExportError::PortName { target: "nftables", port, name, allowed });
    }
    let mut text = format!("# Tags of {} lossless priorities at {}.\n", table.tags(), one_line(wiring.name(switch)));
    text += "table inet incast_tags {\n    chain rewrite {\n";
    text += "        type filter hook forward priority mangle; policy accept;\n";
    for entry in table.entries(switch) {
        for family in ["ip", "ip6"] {
            text += &rule(family, entry, names, code_points);
        }
    }
    let lossless: Vec<String> = code_points.tags.iter().take(table.tags().into()).map(u8::to_string).collect();
    if !lossless.is_empty() {
        for family in ["ip", "ip6"] {
            let (lossless, lossy) = (lossless.join(", "), code_points.lossy);
            text +=
                &format!("        {family} dscp {{ {lossless} }} {family} dscp set {lossy} meta priority set 0:0\n");
        }
    }
    Ok(text + "    }\n}\n")
}

fn rule(family: &str, entry: &Entry, names: &PortNames, code_points: &CodePoints) -> String {
    let set = |ports: &[u32]| {
        let names: Vec<String> = ports.iter().map(|&port| format!("\"{}\"", names.name(port))).collect();
        format!("{{ {} }}", names.join(", "))
    };
    let (old, new) = (code_points.of(entry.tag), code_points.of(entry.new_tag));
    let (inputs, outputs, priority) = (set(&entry.inputs), set(&entry.outputs), entry.new_tag);
    format!(
        "        {family} dscp {old} iifname {inputs} oifname {outputs} {family} dscp set {new} meta priority set 0:{priority} \
         accept\n"
    )
}

fn is_name(name: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(good)
}

fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
