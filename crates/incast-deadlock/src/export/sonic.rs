use incast_model::fabric::NodeId;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{CodePoints, ExportError, PortNames, is_name};
use crate::rules::{Entry, RuleTable};
use crate::wiring::Wiring;

/// Configuration of one SONiC switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sonic {
    /// ACL_TABLE_TYPE, ACL_TABLE, ACL_RULE and the QoS maps of CONFIG_DB, for `config load`.
    pub config_db: Value,
    /// Limits of the configuration and of orchagent.
    pub cannot: Vec<String>,
}

const NAME: &str = "INCAST_TAGS";

/// Packets without a rule have 1. The range depends on the ASIC; SONiC's examples go up to 9999.
const PRIORITY: u32 = 9999;

/// Returns a switch's rules for SONiC's CONFIG_DB.
///
/// Schema: `doc/acl/ACL-Table-Type-HLD.md` and `doc/acl/egress_outer_dscp_change_table.md` in sonic-net/SONiC, and
/// `orchagent/aclorch.{h,cpp}` of sonic-net/sonic-swss at e6b0c5b (August 2026). At that commit no SONiC switch can run Tagger
/// by configuration alone ([`Sonic::cannot`]).
///
/// # Errors
/// Too many tags, invalid code points, names of other than front-panel ports.
pub fn write_sonic(
    wiring: &Wiring<'_>,
    table: &RuleTable,
    switch: NodeId,
    names: &PortNames,
    code_points: &CodePoints,
) -> Result<Sonic, ExportError> {
    code_points.check("SONiC", table.tags())?;
    let allowed = "Ethernet and a number, such as Ethernet0; at most 15 in all";
    names.check("SONiC", wiring.degree(switch) as u32, is_front_panel, allowed)?;
    let ports: Vec<String> = (0..wiring.degree(switch) as u32).map(|port| names.name(port)).collect();
    let mut config = json!({
        "ACL_TABLE_TYPE": { NAME: {
            "MATCHES": ["IN_PORTS", "OUT_PORTS", "DSCP"],
            "ACTIONS": ["DSCP_ACTION"],
            "BIND_POINTS": ["PORT"],
        } },
        "ACL_TABLE": { NAME: {
            "policy_desc": "Tags of lossless packets",
            "type": NAME,
            "stage": "ingress",
            "ports": ports,
        } },
        "ACL_RULE": rules(table.entries(switch), table.tags(), names, code_points),
    });
    let maps = qos(table.tags(), &ports, code_points);
    config.as_object_mut().expect("it is an object").extend(maps);
    Ok(Sonic { config_db: config, cannot: cannot(table.entries(switch)) })
}

/// SONiC's YANG model (`sonic-port.yang` of sonic-net/sonic-buildimage) allows any name, but portsyncd
/// (`portsyncd/linksync.cpp` of sonic-net/sonic-swss, `INTFS_PREFIX`) only follows Linux interfaces `Ethernet…`.
fn is_front_panel(name: &str) -> bool {
    is_name(name) && name.starts_with("Ethernet")
}

fn rules(entries: &[Entry], tags: u8, names: &PortNames, code_points: &CodePoints) -> Value {
    let list = |ports: &[u32]| ports.iter().map(|&port| names.name(port)).collect::<Vec<_>>().join(",");
    let mut rules = Map::new();
    for (at, entry) in entries.iter().enumerate() {
        let rule = json!({
            "PRIORITY": PRIORITY.to_string(),
            "IN_PORTS": list(&entry.inputs),
            "OUT_PORTS": list(&entry.outputs),
            "DSCP": code_points.of(entry.tag).to_string(),
            "DSCP_ACTION": code_points.of(entry.new_tag).to_string(),
        });
        rules.insert(format!("{NAME}|RULE_{at}"), rule);
    }
    for &lossless in code_points.tags.iter().take(tags.into()) {
        let rule = json!({
            "PRIORITY": "1",
            "DSCP": lossless.to_string(),
            "DSCP_ACTION": code_points.lossy.to_string(),
        });
        rules.insert(format!("{NAME}|LOSSY_{lossless}"), rule);
    }
    Value::Object(rules)
}

/// Tag t is traffic class, priority group, queue and PFC priority t; 0 is lossy.
fn qos(tags: u8, ports: &[String], code_points: &CodePoints) -> Map<String, Value> {
    let class_of = |code_point: u8| {
        let tag = code_points.tags.iter().take(tags.into()).position(|&other| other == code_point);
        tag.map_or(0, |tag| tag + 1).to_string()
    };
    let classes: Map<String, Value> = (0..64u8).map(|dscp| (dscp.to_string(), class_of(dscp).into())).collect();
    let same: Map<String, Value> = (0..8).map(|class| (class.to_string(), class.to_string().into())).collect();
    let lossless: Vec<String> = (1..=tags).map(|tag| tag.to_string()).collect();
    let port_map: Map<String, Value> = ports
        .iter()
        .map(|port| {
            let maps = json!({
                "dscp_to_tc_map": NAME,
                "tc_to_pg_map": NAME,
                "tc_to_queue_map": NAME,
                "pfc_to_queue_map": NAME,
                "pfc_enable": lossless.join(","),
            });
            (port.clone(), maps)
        })
        .collect();
    let mut maps = Map::new();
    maps.insert("DSCP_TO_TC_MAP".into(), json!({ NAME: classes }));
    for table in ["TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"] {
        maps.insert(table.into(), json!({ NAME: same }));
    }
    maps.insert("PORT_QOS_MAP".into(), Value::Object(port_map));
    maps
}

fn cannot(entries: &[Entry]) -> Vec<String> {
    let queue = "The egress queue follows the arriving DSCP: no ACL action of CONFIG_DB sets the traffic class. \
                 Packets whose tag changes wait in the queue of their old tag, where a PAUSE of the new tag does not \
                 stop them: the next switch may drop them.";
    let always = [
        "Orchagent (sonic-swss e6b0c5b) takes DSCP_ACTION in tables of the types UNDERLAY_SET_DSCP and UNDERLAY_SET_DSCPV6 \
         only, which match neither IN_PORTS nor OUT_PORTS; a custom table type can list the action, but its rules are \
         refused.",
        "OUT_PORTS in an ingress table needs an ASIC that knows the egress port before it looks up the table; in an egress \
         table IN_PORTS needs one that still knows the ingress port.",
        "IN_PORTS and OUT_PORTS are physical ports: members of port channels have to be named one by one.",
        "Buffers are left out: BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG and BUFFER_QUEUE, with headroom for each lossless \
         priority, depend on the ASIC, on speeds and on cables.",
        "DSCP_TO_TC_MAP, TC_TO_PRIORITY_GROUP_MAP, TC_TO_QUEUE_MAP and PORT_QOS_MAP take the place of the switch's own: \
         code points that have a class of their own today are lossy in here.",
    ];
    let changing = entries.iter().any(|entry| entry.tag != entry.new_tag);
    changing.then_some(queue).into_iter().chain(always).map(String::from).collect()
}
