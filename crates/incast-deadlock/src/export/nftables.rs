use std::collections::{BTreeMap, BTreeSet};

use incast_model::fabric::NodeId;

use super::{CodePoints, ExportError, PortNames, is_name};
use crate::rules::{Entry, RuleTable};
use crate::tag::Tag;
use crate::wiring::Wiring;

/// Writes a Linux switch's rules for `nft -f`: a forward chain rewrites the tag in the DSCP of IPv4 and IPv6 packets. The file
/// replaces an earlier one.
///
/// Each tag has a map from (ingress, egress) to the chain that writes the new tag: one hash look-up. Maps have no port sets:
/// compression has no effect.
///
/// The new tag also becomes `meta priority`, by which `mqprio` and `dcb` choose the egress queue and its PFC priority: a PAUSE
/// of the new priority must stop the packet. `accept` ends this chain only. Packets with a lossless tag but no rule become
/// lossy.
///
/// # Errors
/// Too many tags, invalid code points, invalid names.
pub fn write_nftables(
    wiring: &Wiring<'_>,
    table: &RuleTable,
    switch: NodeId,
    names: &PortNames,
    code_points: &CodePoints,
) -> Result<String, ExportError> {
    code_points.check("nftables", table.tags())?;
    let ports = wiring.degree(switch) as u32;
    names.check("nftables", ports, is_name, "letters, digits, `_`, `.` and `-`, at most 15 in all")?;
    let maps = maps(table.entries(switch));
    let mut text = format!("# Tags of {} lossless priorities at {}.\n", table.tags(), one_line(wiring.name(switch)));
    text += "table inet incast_tags\ndelete table inet incast_tags\ntable inet incast_tags {\n";
    for &tag in maps.values().flat_map(BTreeMap::values).collect::<BTreeSet<_>>() {
        text += &chain(tag, code_points.of(tag));
    }
    for (&tag, turns) in &maps {
        text += &map(tag, turns, names);
    }
    text += "    chain rewrite {\n        type filter hook forward priority mangle; policy accept;\n";
    for &tag in maps.keys() {
        for family in ["ip", "ip6"] {
            let code_point = code_points.of(tag);
            text += &format!("        {family} dscp {code_point} iifname . oifname vmap @from_{}\n", tag.0);
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

type Turns = BTreeMap<(u32, u32), Tag>;

fn maps(entries: &[Entry]) -> BTreeMap<Tag, Turns> {
    let mut maps: BTreeMap<Tag, Turns> = BTreeMap::new();
    for entry in entries {
        let turns = maps.entry(entry.tag).or_default();
        for &input in &entry.inputs {
            turns.extend(entry.outputs.iter().map(|&output| ((input, output), entry.new_tag)));
        }
    }
    maps
}

fn chain(Tag(tag): Tag, code_point: u8) -> String {
    format!(
        "    chain to_{tag} {{\n        ip dscp set {code_point}\n        ip6 dscp set {code_point}\n        \
         meta priority set 0:{tag} accept\n    }}\n"
    )
}

fn map(Tag(tag): Tag, turns: &Turns, names: &PortNames) -> String {
    let mut text = format!("    map from_{tag} {{\n        type ifname . ifname : verdict\n        elements = {{\n");
    for (&(input, output), Tag(new_tag)) in turns {
        let (input, output) = (names.name(input), names.name(output));
        text += &format!("            \"{input}\" . \"{output}\" : goto to_{new_tag},\n");
    }
    text + "        }\n    }\n"
}

fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
