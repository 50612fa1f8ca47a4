use std::path::Path;

use crate::fabric::NodeId;
use crate::foreign::{Ns3Error, Token, Tokens, read_text};
use crate::units::{Bytes, Time};

/// Finished flow, as ns-3 reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FctRecord {
    /// Sender.
    pub src: NodeId,
    /// Receiver.
    pub dst: NodeId,
    /// Source port.
    pub sport: u16,
    /// Destination port.
    pub dport: u16,
    /// Payload.
    pub size: Bytes,
    /// Creation time.
    pub start: Time,
    /// Time until the sender had the last byte's ACK.
    pub fct: Time,
    /// ns-3's ideal FCT: base RTT plus the bytes, with 48 B of header per packet (no INT), at the slowest link. Not a lower
    /// bound: a lone packet takes 0.984 of it.
    pub standalone: Time,
}

/// Reads a file; see [`parse_fct`].
pub fn read_fct(path: &Path) -> Result<Vec<FctRecord>, Ns3Error> {
    parse_fct(&read_text(path)?, &path.display().to_string())
}

/// Parses one `sip dip sport dport size start_ns fct_ns standalone_ns` per flow, in order of completion; `file` is for
/// messages.
pub fn parse_fct(text: &str, file: &str) -> Result<Vec<FctRecord>, Ns3Error> {
    let mut tokens = Tokens::new(text, file);
    let mut records = Vec::new();
    let columns = "8 columns: sip dip sport dport size start_ns fct_ns standalone_ns";
    while let Some(first) = tokens.next() {
        let src = address(&tokens, first, "the source address")?;
        let token = tokens.want("the destination address", columns)?;
        let dst = address(&tokens, token, "the destination address")?;
        let ns = (0, u64::MAX / 1000);
        let record = FctRecord {
            src,
            dst,
            sport: tokens.number("the source port", (0, u16::MAX), columns)?,
            dport: tokens.number("the destination port", (0, u16::MAX), columns)?,
            size: Bytes(tokens.number("the size in bytes", (1, u64::MAX), columns)?),
            start: Time::ns(tokens.number("the start in ns", ns, columns)?),
            fct: Time::ns(tokens.number("the FCT in ns", ns, columns)?),
            standalone: Time::ns(tokens.number("the standalone FCT in ns", ns, columns)?),
        };
        records.push(record);
    }
    Ok(records)
}

/// Node xxxx of address 0bxxxx01, 8 hexadecimal digits.
fn address(tokens: &Tokens<'_>, token: Token<'_>, field: &str) -> Result<NodeId, Ns3Error> {
    match u32::from_str_radix(token.text, 16) {
        Ok(ip) if token.text.len() == 8 && ip & 0xff00_00ff == 0x0b00_0001 => Ok(NodeId(ip >> 8 & 0xffff)),
        _ => Err(tokens.wrong(token, field, "8 hexadecimal digits 0bxxxx01, xxxx being the node id")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_addresses_as_nodes() {
        let records = parse_fct("0b013701 0b000601 10000 100 24375 2000000962 6226 6206\n", "fct.txt").unwrap();
        assert_eq!(
            records,
            [FctRecord {
                src: NodeId(0x137),
                dst: NodeId(6),
                sport: 10_000,
                dport: 100,
                size: Bytes(24_375),
                start: Time::ns(2_000_000_962),
                fct: Time::ns(6226),
                standalone: Time::ns(6206),
            }]
        );
    }

    #[test]
    fn refuses_what_is_not_a_record() {
        let message = |text| parse_fct(text, "fct.txt").unwrap_err().to_string();
        assert!(message("12 6 10000 100 1 1 1 1").starts_with("fct.txt:1: the source address is `12`"));
        assert!(message("0b013702 0b000601 1 1 1 1 1 1").contains("`0b013702`"));
        assert!(message("0b013701 0b000601 1 1 1 1 1\n").contains("ends before the standalone FCT in ns"));
    }
}
