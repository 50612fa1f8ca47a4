use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::fabric::{Fabric, HostId, NodeId};
use crate::flow::{Flow, FlowSet};
use crate::foreign::{Notice, Ns3Error, Token, Tokens, digits, read_text};
use crate::units::{Bytes, Time, scale};

/// Source port of a pair's first flow; later ports count up (`third.cc`, ScheduleFlowInputs, commit 9f4be2a).
const FIRST_SPORT: u32 = 10_000;

/// Rounding of starts in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StartRounding {
    /// None; finer than a picosecond is an error.
    #[default]
    Exact,
    /// ns-3's floor(x · 10⁹) nanoseconds, x the nearest double, to match its results. About half of the starts are 1 ns early
    /// (2.0002 s is 2,000,199,999 ns).
    Ns3,
}

/// First start: the authors' generator adds 2 s to all.
pub fn earliest_start(flows: &FlowSet) -> Option<Time> {
    flows.flows.iter().map(|flow| flow.start).min()
}

/// Reads a file; see [`parse_flows`].
pub fn read_flows(path: &Path, fabric: &Fabric, rounding: StartRounding) -> Result<FlowSet, Ns3Error> {
    parse_flows(&read_text(path)?, &path.display().to_string(), fabric, rounding)
}

/// Parses a count, then `src dst priority dport size start` (in seconds) per flow, with `fabric`'s node ids; `file` is for
/// messages.
///
/// Labels follow the authors' destination ports: `background` for 100, `incast` for 200, `dport N` for others, in order of
/// appearance.
pub fn parse_flows(text: &str, file: &str, fabric: &Fabric, rounding: StartRounding) -> Result<FlowSet, Ns3Error> {
    let mut tokens = Tokens::new(text, file);
    let count: u32 = tokens.number("the number of flows", (0, u32::MAX), "the header, the number of flows")?;
    let counted = format!("{count} flows, as in the header");
    let mut reader =
        Reader { fabric, rounding, set: FlowSet::default(), sports: HashMap::new(), labels: HashMap::new() };
    let mut previous = (Time::ZERO, String::new());
    for _ in 0..count {
        let (flow, start) = reader.row(&mut tokens, &counted)?;
        if flow.start < previous.0 {
            let allowed = format!("not before the flow above it (`{}`): flows are sorted by start", previous.1);
            return Err(tokens.wrong(start, "the start of a flow", allowed));
        }
        previous.0 = flow.start;
        start.text.clone_into(&mut previous.1);
        reader.set.flows.push(flow);
    }
    Ok(reader.set)
}

/// Notices content after the last flow of a readable file.
pub fn unread_flows(path: &Path) -> Option<Notice> {
    unread(&read_text(path).ok()?, &path.display().to_string())
}

fn unread(text: &str, file: &str) -> Option<Notice> {
    const COLUMNS: usize = 6;
    let mut tokens = Tokens::new(text, file);
    let count: usize = tokens.next()?.text.parse().ok()?;
    for _ in 0..count.checked_mul(COLUMNS)? {
        tokens.next()?;
    }
    tokens.unread(format_args!("{count} flows"))
}

struct Reader<'a> {
    fabric: &'a Fabric,
    rounding: StartRounding,
    set: FlowSet,
    sports: HashMap<(HostId, HostId), u32>,
    labels: HashMap<u16, u16>,
}

impl Reader<'_> {
    fn row<'t>(&mut self, tokens: &mut Tokens<'t>, counted: &str) -> Result<(Flow, Token<'t>), Ns3Error> {
        let (src, first) = self.host(tokens, "the source of a flow", counted)?;
        let (dst, token) = self.host(tokens, "the destination of a flow", counted)?;
        if src == dst {
            return Err(tokens.wrong(token, "the destination of a flow", "a host other than its source"));
        }
        let priority = tokens.number("the priority of a flow", (1, 7), counted)?;
        let dport = tokens.number("the destination port of a flow", (0, u16::MAX), counted)?;
        let size: u32 = tokens.number("the size of a flow in bytes", (1, u32::MAX), counted)?;
        let token = tokens.want("the start of the flow", counted)?;
        let start = start(token.text, self.rounding).map_err(|why| {
            tokens.wrong(token, "the start of a flow", format!("seconds such as 2.000000962 ({why})"))
        })?;
        let sport = self.sports.entry((src, dst)).or_insert(FIRST_SPORT);
        let Ok(this) = u16::try_from(*sport) else {
            let allowed =
                format!("at most {} flows of one pair: source ports start at {FIRST_SPORT}", 65_536 - FIRST_SPORT);
            return Err(tokens.wrong(first, "the source of a flow", allowed));
        };
        *sport += 1;
        let size = Bytes(size.into());
        Ok((
            Flow {
                src,
                dst,
                size,
                start,
                priority,
                label: self.label(dport),
                sport: this,
                dport,
                path: None,
                until: None,
            },
            token,
        ))
    }

    fn host<'t>(&self, tokens: &mut Tokens<'t>, field: &str, counted: &str) -> Result<(HostId, Token<'t>), Ns3Error> {
        let token = tokens.want(field, counted)?;
        let nodes = self.fabric.nodes().len();
        let id: Option<u32> = if digits(token.text) { token.text.parse().ok() } else { None };
        match id.filter(|&id| (id as usize) < nodes) {
            None => Err(tokens.wrong(token, field, format!("the node id of a host, 0 to {}", nodes - 1))),
            Some(id) => match self.fabric.host_of(NodeId(id)) {
                Some(host) => Ok((host, token)),
                None => Err(tokens.wrong(token, field, "the node id of a host; this is a switch")),
            },
        }
    }

    fn label(&mut self, dport: u16) -> u16 {
        *self.labels.entry(dport).or_insert_with(|| {
            self.set.labels.push(match dport {
                100 => "background".into(),
                200 => "incast".into(),
                other => format!("dport {other}"),
            });
            (self.set.labels.len() - 1) as u16
        })
    }
}

fn start(text: &str, rounding: StartRounding) -> Result<Time, String> {
    let exact = scale(text, 1_000_000_000_000);
    match rounding {
        StartRounding::Exact => exact.map(Time),
        StartRounding::Ns3 => {
            if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
                return Err("it is not a plain decimal number".into());
            }
            let seconds: f64 = text.parse().map_err(|_| "it is not a number".to_string())?;
            floor_ns(seconds).and_then(|ns| ns.checked_mul(1000)).map(Time).ok_or_else(|| "too large".into())
        }
    }
}

/// floor(x · 10⁹) by an exact product, for x of 0 or more.
fn floor_ns(x: f64) -> Option<u64> {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32;
    if exponent == 0 {
        // Zero or subnormal.
        return Some(0);
    }
    let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
    let product = u128::from(mantissa) * 1_000_000_000;
    let shift = exponent - 1075;
    let scaled = match u32::try_from(-shift) {
        Ok(right) => product.checked_shr(right).unwrap_or(0),
        // 2^53 seconds and more exceed the clock.
        Err(_) => return None,
    };
    u64::try_from(scaled).ok()
}

/// Writes flows without source ports, labels and explicit paths; starts keep their picoseconds.
pub fn write_flows(fabric: &Fabric, flows: &FlowSet) -> String {
    let mut text = format!("{}\n", flows.flows.len());
    for flow in &flows.flows {
        let [src, dst] = [flow.src, flow.dst].map(|host| fabric.hosts()[host.index()].0);
        let (seconds, fraction) = (flow.start.0 / 1_000_000_000_000, flow.start.0 % 1_000_000_000_000);
        let fraction = match fraction % 1000 {
            0 => format!("{:09}", fraction / 1000),
            _ => format!("{fraction:012}"),
        };
        let _ = writeln!(text, "{src} {dst} {} {} {} {seconds}.{fraction}", flow.priority, flow.dport, flow.size.0);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabric::generators::Star;

    const SMALL: &str =
        "3\n0 1 3 100 1000000 2.000000000\n0 1 3 200 1 2.000200000\n2 1 3 100 4294967295 2.000200000\n\n";

    fn parse(text: &str, rounding: StartRounding) -> Result<FlowSet, Ns3Error> {
        parse_flows(text, "f.txt", &Star::new(3).build().unwrap(), rounding)
    }

    #[test]
    fn rows_become_flows() {
        let set = parse(SMALL, StartRounding::Exact).unwrap();
        assert_eq!(set.labels, ["background", "incast"]);
        let facts: Vec<_> =
            set.flows.iter().map(|f| (f.src.0, f.dst.0, f.priority, f.sport, f.dport, f.size.0, f.label)).collect();
        assert_eq!(
            facts,
            [
                (0, 1, 3, 10_000, 100, 1_000_000, 0),
                (0, 1, 3, 10_001, 200, 1, 1),
                (2, 1, 3, 10_000, 100, 4_294_967_295, 0)
            ]
        );
        assert_eq!(earliest_start(&set), Some(Time::ms(2000)));
        assert_eq!(earliest_start(&FlowSet::default()), None);
    }

    #[test]
    fn starts_are_rounded_as_asked() {
        // Column 6 of ns-3's fct.txt for its 320-server web-search case.
        let reference = |text| start(text, StartRounding::Ns3).map(|start| start.0 / 1000);
        assert_eq!(reference("2.000200000"), Ok(2_000_199_999));
        assert_eq!(reference("2.000000962"), Ok(2_000_000_962));
        assert_eq!(reference("2.000002612"), Ok(2_000_002_611));
        assert_eq!(reference("2.000003886"), Ok(2_000_003_886));
        assert_eq!(reference("0"), Ok(0));
        assert_eq!(start("2.000200000", StartRounding::Exact), Ok(Time(2_000_200_000_000)));
        assert!(start("2.0000000000001", StartRounding::Exact).is_err());
        for rounding in [StartRounding::Exact, StartRounding::Ns3] {
            for text in ["", ".", "-1", "inf", "nan", "1e3", "1.2.3", "99999999999999999999"] {
                assert!(start(text, rounding).is_err(), "{text}");
            }
        }
    }

    #[test]
    fn every_discrepancy_is_located() {
        let with = |from: &str, to: &str| match parse(&SMALL.replacen(from, to, 1), StartRounding::Exact) {
            Ok(_) => panic!("accepted: {to}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(
            with("3\n", "4\n"),
            "f.txt:5: the file ends before the source of a flow; allowed: 4 flows, as in the header"
        );
        assert_eq!(
            with("0 1 3", "0 0 3"),
            "f.txt:2: the destination of a flow is `0`; allowed: a host other than its source"
        );
        assert!(with("2 1 3", "3 1 3").ends_with("the node id of a host; this is a switch"));
        assert!(with("2 1 3", "4 1 3").ends_with("the node id of a host, 0 to 3"));
        assert!(with("0 1 3", "0 1 8").ends_with("the priority of a flow is `8`; allowed: an integer from 1 to 7"));
        assert!(with("0 1 3", "0 1 0").ends_with("the priority of a flow is `0`; allowed: an integer from 1 to 7"));
        assert!(with("1000000 ", "0 ").contains("size of a flow in bytes is `0`"));
        assert!(with("4294967295", "4294967296").ends_with("an integer from 1 to 4294967295"));
        assert_eq!(
            with("2.000000000", "2.1"),
            "f.txt:3: the start of a flow is `2.000200000`; \
             allowed: not before the flow above it (`2.1`): flows are sorted by start"
        );
    }

    #[test]
    fn rows_after_the_last_flow_are_not_read() {
        let text = SMALL.replacen('3', "2", 1) + "Please order the flows!\n";
        assert_eq!(parse(&text, StartRounding::Exact).unwrap().flows.len(), 2);
        let notice = unread(&text, "f.txt").map(|notice| notice.to_string());
        assert_eq!(notice.as_deref(), Some("f.txt:4: warning: not read from here on: the header has 2 flows"));
        assert_eq!((unread(SMALL, "f.txt"), unread("9\n0 1", "f.txt"), unread("", "f.txt")), (None, None, None));
    }

    #[test]
    fn ports_of_a_pair_run_out() {
        let mut text = String::from("55537\n");
        text.push_str(&"0 1 3 100 1 2\n".repeat(55_537));
        let message = parse(&text, StartRounding::Exact).unwrap_err().to_string();
        assert!(
            message.starts_with("f.txt:55538: ") && message.contains("at most 55536 flows of one pair"),
            "{message}"
        );
    }

    proptest! {
        #[test]
        fn written_ones_are_read_back(
            rows in proptest::collection::vec(
                (0u32..3, 1u32..3, 1u8..8, 0u16..300, 1u64..=u64::from(u32::MAX), 0u64..1 << 42), 0..20
            )
        ) {
            let fabric = Star::new(3).build().unwrap();
            let mut set = FlowSet::default();
            for (src, hop, priority, dport, size, start) in rows {
                let (src, dst) = (HostId(src), HostId((src + hop) % 3));
                set.flows.push(Flow {
                    src, dst, size: Bytes(size), start: Time(start), priority, label: 0, sport: 0, dport, path: None,
                    until: None,
                });
            }
            set.flows.sort_by_key(|flow| flow.start);
            let mut back = parse_flows(&write_flows(&fabric, &set), "f.txt", &fabric, StartRounding::Exact).unwrap();
            for flow in &mut back.flows {
                (flow.label, flow.sport) = (0, 0);
            }
            prop_assert_eq!(back.flows, set.flows);
        }

        #[test]
        fn the_reference_is_at_most_a_nanosecond_early(ns in 0u64..10_000_000_000) {
            let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            let read = start(&text, StartRounding::Ns3).unwrap().0 / 1000;
            prop_assert!(read == ns || read + 1 == ns);
        }

        #[test]
        fn no_text_panics(text in "[0-9 .\n]{0,60}|(?s).{0,40}") {
            let _ = parse(&text, StartRounding::Exact);
            let _ = parse(&text, StartRounding::Ns3);
        }
    }
}
