use incast_model::fabric::NodeId;
use serde_json::{Value, json};

use super::ExportError;
use crate::rules::{Entry, RuleTable};
use crate::wiring::Wiring;

/// P4Info ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct P4Ids {
    /// Table; P4Runtime has 2 in the highest byte.
    pub table: u32,
    /// Action; 1 in the highest byte.
    pub action: u32,
}

impl Default for P4Ids {
    /// Ids in [`p4_program`].
    fn default() -> Self {
        Self { table: 0x0200_0001, action: 0x0100_0001 }
    }
}

const TAG: u32 = 1;
const INPUT: u32 = 2;
const OUTPUT: u32 = 3;
const NEW_TAG: u32 = 1;

/// Returns a switch's entries as a P4Runtime `WriteRequest` in Protocol Buffers' JSON, without device and election ids
/// (P4Runtime Specification 1.4, section 9.1).
///
/// In [`p4_program`] each port is a key bit, so a TCAM matches a port set: value 0 under a mask of all other ports. The
/// specification omits fields with mask 0, as for a set of all ports.
///
/// # Errors
/// A node that is no switch.
pub fn write_p4runtime(
    wiring: &Wiring<'_>,
    table: &RuleTable,
    switch: NodeId,
    ids: P4Ids,
) -> Result<Value, ExportError> {
    if wiring.is_host(switch) {
        return Err(ExportError::NoSwitch { node: wiring.name(switch).into() });
    }
    let ports = wiring.degree(switch);
    let updates: Vec<Value> = table.entries(switch).iter().map(|entry| update(entry, ports, ids)).collect();
    Ok(json!({ "updates": updates }))
}

fn update(entry: &Entry, ports: usize, ids: P4Ids) -> Value {
    let mut fields = vec![json!({ "fieldId": TAG, "exact": { "value": base64(&[entry.tag.0]) } })];
    for (field, set) in [(INPUT, &entry.inputs), (OUTPUT, &entry.outputs)] {
        let mask = others(set, ports);
        if mask != [0] {
            fields.push(json!({ "fieldId": field, "ternary": { "value": base64(&[0]), "mask": base64(&mask) } }));
        }
    }
    json!({
        "type": "INSERT",
        "entity": { "tableEntry": {
            "tableId": ids.table,
            "match": fields,
            "action": { "action": {
                "actionId": ids.action,
                "params": [{ "paramId": NEW_TAG, "value": base64(&[entry.new_tag.0]) }],
            } },
            // Entries never disagree; ternary fields require a priority above 0.
            "priority": 1,
        } },
    })
}

/// A bit per port outside the set, highest byte first, without leading zeros (P4Runtime's canonical form).
fn others(set: &[u32], ports: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; ports.div_ceil(8).max(1)];
    let last = bytes.len() - 1;
    for port in (0..ports).filter(|&port| set.binary_search(&(port as u32)).is_err()) {
        bytes[last - port / 8] |= 1 << (port % 8);
    }
    let zeros = bytes.iter().take(last).take_while(|&&byte| byte == 0).count();
    bytes.split_off(zeros)
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().chain([&0; 3]).take(3).fold(0u32, |word, &byte| word << 8 | u32::from(byte));
        for at in 0..4 {
            let letter = char::from(LETTERS[(word >> (18 - 6 * at) & 63) as usize]);
            text.push(if at <= chunk.len() { letter } else { '=' });
        }
    }
    text
}

/// Returns the table as a P4_16 control. Apply it before queueing, with a known egress port: `new_tag` chooses the queue.
pub fn p4_program(ports: u32, tags: u8) -> String {
    format!(
        "// The egress queue is that of the new tag; the ingress buffer was charged for the old one.
control Tags(inout bit<8> tag, in bit<{ports}> ingress_port, in bit<{ports}> egress_port) {{
    @id({action:#010x}) action set_tag(bit<8> new_tag) {{ tag = new_tag; }}
    @id(0x01000002) action set_lossy() {{ tag = 0; }}
    @id({table:#010x}) table tags {{
        key = {{
            tag : exact @id({TAG});
            // One bit for each port: 1 << port.
            ingress_port : ternary @id({INPUT});
            egress_port : ternary @id({OUTPUT});
        }}
        actions = {{ set_tag; set_lossy; }}
        const default_action = set_lossy();
        size = 4096;
    }}
    // Tags 1 to {tags} are lossless; 0 is lossy and stays so.
    apply {{ if (tag != 0) {{ tags.apply(); }} }}
}}
",
        action = P4Ids::default().action,
        table = P4Ids::default().table,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_rfc_4648() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn masks_are_canonical() {
        assert_eq!(others(&[0, 1, 2], 3), [0]);
        assert_eq!(others(&[1], 3), [0b101]);
        assert_eq!(others(&[0, 1, 2, 3, 4, 5, 6, 7], 9), [1, 0]);
        assert_eq!(others(&[8], 9), [0xff]);
    }
}
