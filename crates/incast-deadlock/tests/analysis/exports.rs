//! Exports, read back by readers that share only the target's semantics.

use std::collections::HashMap;

use incast_deadlock::elp::{Elp, ShortestPaths};
use incast_deadlock::export::{
    CodePoints, ExportError, P4Ids, PortNames, p4_program, read_csv, read_json, write_csv, write_json, write_nftables,
    write_p4runtime, write_sonic,
};
use incast_deadlock::rules::{Compression, Counting, RuleTable, Rules};
use incast_deadlock::tagging::{ClosScheme, Greedy, Order, Placement};
use incast_deadlock::{Tag, Wiring};
use incast_model::fabric::generators::{Jellyfish, LeafSpine, Star};
use incast_model::fabric::{Fabric, NodeId};
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{fabric, fabrics, testbed};

const ALL: [Compression; 4] =
    [Compression::None, Compression::InputSets, Compression::OutputSets, Compression::Rectangles];

fn greedy(fabric: &Fabric) -> Option<Rules> {
    let wiring = Wiring::new(fabric);
    let hops = Elp::Shortest(ShortestPaths::default()).hops(&wiring).unwrap();
    let placement = Greedy { order: Order::Random(7), ..Greedy::default() }.place(&hops).ok()?;
    Some(placement.rules())
}

fn examples() -> Vec<(Fabric, Rules)> {
    let testbed = testbed();
    let clos = ClosScheme::new(1).rules(&Wiring::new(&testbed)).unwrap();
    let jellyfish = Jellyfish::new(12, 8, 5).build().unwrap();
    let tags = greedy(&jellyfish).unwrap();
    let star = Star::new(70).build().unwrap();
    let star_rules = greedy(&star).unwrap();
    vec![(testbed, clos), (jellyfish, tags), (star, star_rules)]
}

fn same(wiring: &Wiring<'_>, switch: NodeId, rules: &Rules, read: &dyn Fn(u8, u32, u32) -> Option<u8>) {
    let ports: Vec<_> = wiring.fabric().ports_of(switch).collect();
    for tag in 1..=rules.tags() + 1 {
        for (i, &input) in ports.iter().enumerate() {
            for (o, &output) in ports.iter().enumerate() {
                let expected = rules.new_tag(Tag(tag), input, output).map(|new| new.0);
                assert_eq!(read(tag, i as u32, o as u32), expected, "tag {tag} from {i} to {o}");
            }
        }
    }
}

fn for_each_switch(check: impl Fn(&Wiring<'_>, &Rules, &RuleTable, NodeId)) {
    let small = |(fabric, _): &(Fabric, Rules)| fabric.hosts().len() < 70;
    for (fabric, rules) in examples().into_iter().filter(small) {
        let wiring = Wiring::new(&fabric);
        for compression in ALL {
            let table = rules.compress(compression);
            fabric.switches().for_each(|switch| check(&wiring, &rules, &table, switch));
        }
    }
}

#[test]
fn json_and_csv_are_read_back() {
    for (fabric, rules) in examples() {
        let wiring = Wiring::new(&fabric);
        for compression in ALL {
            let table = rules.compress(compression);
            let json = read_json(&wiring, &write_json(&wiring, &table)).unwrap();
            let csv = read_csv(&wiring, &write_csv(&wiring, &table)).unwrap();
            assert_eq!((json.expand(&wiring).unwrap(), csv.expand(&wiring).unwrap()), (rules.clone(), rules.clone()));
            assert!(json == table && csv == table);
        }
    }
}

proptest! {
    #[test]
    fn compression_keeps_the_function(fabric in fabrics()) {
        let wiring = Wiring::new(&fabric);
        if let Some(rules) = greedy(&fabric) {
            let [none, inputs, outputs, rectangles] = ALL.map(|compression| rules.compress(compression));
            for table in [&none, &inputs, &outputs, &rectangles] {
                prop_assert_eq!(table.expand(&wiring).unwrap(), rules.clone());
            }
            prop_assert_eq!(none.len(), rules.len());
            prop_assert!(rectangles.len() <= inputs.len().min(outputs.len()));
        }
    }
}

/// Conventions that count host ports as one match a TCAM that treats hosts alike.
#[test]
fn counts_are_those_of_entries() {
    let fabric = Jellyfish::new(30, 16, 8).build().unwrap();
    let rules = greedy(&fabric).unwrap();
    for (counting, compression) in
        [(Counting::InputSets, Compression::InputSets), (Counting::OutputSets, Compression::OutputSets)]
    {
        let (count, table) = (rules.transitions().count(counting), rules.compress(compression));
        assert_eq!((count.total, count.most), (table.len(), table.most()));
    }
    assert!(rules.transitions().count(Counting::Each).total < rules.len());
}

#[test]
fn rectangles_of_the_clos_scheme() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    for bounces in 0..3 {
        let table = ClosScheme::new(bounces).rules(&wiring).unwrap().compress(Compression::Rectangles);
        let entries = |name: &str| table.entries(crate::common::node(&fabric, name)).len();
        let k = usize::from(bounces);
        // In switches with ports up, keeping a tag takes two rectangles (all but up to up), raising it one.
        assert_eq!((entries("T1"), entries("L1"), entries("S1")), (2 * (k + 1) + k, 2 * (k + 1) + k, k + 1));
    }
}

fn tag_of(dscp: u64) -> Option<u8> {
    (dscp > 0).then_some(dscp as u8 / 8)
}

#[test]
fn sonic_is_read_back() {
    let names = PortNames::sonic();
    for_each_switch(|wiring, rules, table, switch| {
        let sonic = write_sonic(wiring, table, switch, &names, &CodePoints::class_selectors(7)).unwrap();
        let text = |rule: &Value, field: &str| rule.get(field).map(|value| value.as_str().unwrap().to_owned());
        let number = |rule: &Value, field: &str| text(rule, field).unwrap().parse::<u64>().unwrap();
        let rules_read: Vec<&Value> = sonic.config_db["ACL_RULE"].as_object().unwrap().values().collect();
        // The highest-priority match acts; a missing field matches all.
        let matches = |rule: &Value, field: &str, port: u32| {
            text(rule, field).is_none_or(|list| list.split(',').any(|name| name == format!("Ethernet{}", 4 * port)))
        };
        let lists: Vec<_> =
            rules_read.iter().map(|rule| (number(rule, "PRIORITY"), number(rule, "DSCP"), *rule)).collect();
        same(wiring, switch, rules, &|tag, input, output| {
            let found = lists.iter().filter(|(_, dscp, rule)| {
                *dscp == 8 * u64::from(tag) && matches(rule, "IN_PORTS", input) && matches(rule, "OUT_PORTS", output)
            });
            let best = found.max_by_key(|(priority, _, _)| *priority);
            best.and_then(|(_, _, rule)| tag_of(number(rule, "DSCP_ACTION")))
        });
        let config = &sonic.config_db;
        let class = |dscp: u32| config["DSCP_TO_TC_MAP"]["INCAST_TAGS"][dscp.to_string()].as_str().unwrap().to_owned();
        assert_eq!((class(0), class(8), class(9)), ("0".into(), "1".into(), "0".into()));
        let changes = table.entries(switch).iter().any(|entry| entry.tag != entry.new_tag);
        assert_eq!(sonic.cannot[0].contains("egress queue"), changes);
    });
}

fn unbase64(text: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String = text.chars().filter_map(|c| letters.find(c)).map(|at| format!("{at:06b}")).collect();
    let bytes = bits.as_bytes().chunks_exact(8);
    bytes.map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap()).collect()
}

#[test]
fn p4_entries_are_read_back() {
    for_each_switch(|wiring, rules, table, switch| {
        let request = write_p4runtime(wiring, table, switch, P4Ids::default()).unwrap();
        fn matches(field: Option<&Value>, port: u32) -> bool {
            let Some(field) = field else { return true };
            let [value, mask] = ["value", "mask"].map(|part| unbase64(field["ternary"][part].as_str().unwrap()));
            assert!(value == [0] && mask[0] != 0, "not canonical: {value:?} {mask:?}");
            let byte = mask.len().checked_sub(1 + port as usize / 8).map_or(0, |at| mask[at]);
            byte >> (port % 8) & 1 == 0
        }
        let entries: Vec<_> = request["updates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|update| {
                let entry = &update["entity"]["tableEntry"];
                assert!(update["type"] == "INSERT" && entry["tableId"] == 0x0200_0001 && entry["priority"] == 1);
                let field = |id: u64| entry["match"].as_array().unwrap().iter().find(|field| field["fieldId"] == id);
                let tag = unbase64(field(1).unwrap()["exact"]["value"].as_str().unwrap())[0];
                let new = unbase64(entry["action"]["action"]["params"][0]["value"].as_str().unwrap())[0];
                (tag, field(2), field(3), new)
            })
            .collect();
        same(wiring, switch, rules, &|tag, input, output| {
            let hit = |entry: &&(u8, Option<&Value>, Option<&Value>, u8)| {
                entry.0 == tag && matches(entry.1, input) && matches(entry.2, output)
            };
            entries.iter().find(hit).map(|entry| entry.3)
        });
    });
    let program = p4_program(64, 3);
    assert!(program.contains("bit<64> ingress_port") && program.contains("@id(0x02000001) table tags"));
}

/// Lines per chain, and per map as (ingress, egress, chain).
#[derive(Default)]
struct Nftables {
    chains: HashMap<String, Vec<String>>,
    maps: HashMap<String, HashMap<(String, String), String>>,
}

impl Nftables {
    fn read(text: &str) -> Self {
        let mut read = Self::default();
        let mut within = String::new();
        for line in text.lines().map(str::trim) {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["chain" | "map", name, "{"] => within = name.into(),
                [input, ".", output, ":", "goto", chain] => {
                    let name = |quoted: &str| quoted.trim_matches('"').to_owned();
                    let map = read.maps.entry(within.clone()).or_default();
                    let known = map.insert((name(input), name(output)), chain.trim_end_matches(',').into());
                    assert_eq!(known, None, "an element twice");
                }
                ["ip" | "ip6" | "meta", ..] => read.chains.entry(within.clone()).or_default().push(line.into()),
                _ => {}
            }
        }
        read
    }

    fn forwarded(&self, family: &str, dscp: u64, input: &str, output: &str) -> (u64, String) {
        let mut packet = (dscp, String::new());
        for line in &self.chains["rewrite"] {
            let (of, rest) = line.split_once(" dscp ").unwrap();
            let words: Vec<&str> = rest.split_whitespace().collect();
            let at = words.iter().position(|word| word.starts_with(char::is_alphabetic)).unwrap();
            let number = |word: &&str| word.trim_end_matches(',').parse().ok();
            if of != family || !words[..at].iter().filter_map(number).any(|number: u64| number == packet.0) {
                continue;
            }
            match words[at..] {
                ["iifname", ".", "oifname", "vmap", map] => {
                    let map = &self.maps[map.trim_start_matches('@')];
                    if let Some(chain) = map.get(&(input.to_owned(), output.to_owned())) {
                        let [ip, ip6, rest] = &self.chains[chain][..] else { panic!("{chain}") };
                        let set = if family == "ip" { ip } else { ip6 };
                        let new = set.strip_prefix(&format!("{family} dscp set ")).unwrap().parse().unwrap();
                        let priority = rest.strip_prefix("meta priority set ").unwrap();
                        return (new, priority.strip_suffix(" accept").unwrap().into());
                    }
                }
                [of, "dscp", "set", new, "meta", "priority", "set", priority] if of == family => {
                    packet = (new.parse().unwrap(), priority.into());
                }
                _ => panic!("{line}"),
            }
        }
        packet
    }
}

#[test]
fn nftables_is_read_back() {
    for_each_switch(|wiring, rules, table, switch| {
        let names = PortNames { prefix: "eth".into(), first: 3, step: 2 };
        let text = write_nftables(wiring, table, switch, &names, &CodePoints::class_selectors(7)).unwrap();
        let file = Nftables::read(&text);
        for family in ["ip", "ip6"] {
            same(wiring, switch, rules, &|tag, input, output| {
                let name = |port: u32| format!("eth{}", 3 + 2 * port);
                // Packets keep an unknown tag.
                if tag > rules.tags() {
                    return None;
                }
                let (dscp, priority) = file.forwarded(family, 8 * u64::from(tag), &name(input), &name(output));
                assert_eq!(priority, format!("0:{}", tag_of(dscp).unwrap_or(0)));
                tag_of(dscp)
            });
        }
    });
}

#[test]
fn what_a_target_cannot_express_is_said() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let switch = crate::common::node(&fabric, "L1");
    let table = ClosScheme::new(7).rules(&wiring).unwrap().compress(Compression::Rectangles);
    let said = |error: ExportError| error.to_string();
    let eight = write_sonic(&wiring, &table, switch, &PortNames::sonic(), &CodePoints::class_selectors(8)).unwrap_err();
    assert_eq!(
        said(eight),
        "SONiC: 8 lossless tags; at most 7 are possible, as PFC has 8 priorities and one has to be lossy"
    );
    let two = ClosScheme::new(1).rules(&wiring).unwrap().compress(Compression::Rectangles);
    let nft = |names: &PortNames, tags: Vec<u8>, lossy| {
        said(write_nftables(&wiring, &two, switch, names, &CodePoints { tags, lossy }).unwrap_err())
    };
    assert_eq!(nft(&PortNames::linux(), vec![8], 0), "1 code points for 2 tags; each tag needs one");
    assert_eq!(nft(&PortNames::linux(), vec![8, 64], 0), "code point 64; allowed: 0 to 63");
    assert_eq!(
        nft(&PortNames::linux(), vec![8, 16], 8),
        "code point 8; allowed: 0 to 63, each once, and another than lossy packets have"
    );
    assert_eq!(nft(&PortNames::linux(), vec![8, 8], 0), "code point 8; allowed: each code point once");
    assert_eq!(
        nft(&PortNames::linux(), vec![8, 0], 0),
        "code point 0; allowed: 1 to 63, each once: lossy packets have 0"
    );
    let long = PortNames { prefix: "a-very-long-name".into(), first: 0, step: 1 };
    assert_eq!(
        nft(&long, vec![8, 16], 0),
        "nftables: port 0 would be named `a-very-long-name0`; allowed: letters, digits, `_`, `.` and `-`, at most 15 in all"
    );
    let sonic = |prefix: &str| {
        let names = PortNames { prefix: prefix.into(), first: 0, step: 4 };
        write_sonic(&wiring, &two, switch, &names, &CodePoints::class_selectors(2)).map(|_| ()).map_err(said)
    };
    assert_eq!(sonic("Ethernet"), Ok(()));
    let other =
        "SONiC: port 0 would be named `foo0`; allowed: Ethernet and a number, such as Ethernet0; at most 15 in all";
    assert_eq!(sonic("foo"), Err(other.to_owned()));
    assert!(sonic("Ethernet1234567").is_err());
    let host = write_p4runtime(&wiring, &two, crate::common::node(&fabric, "H1"), P4Ids::default()).unwrap_err();
    assert_eq!(said(host), "H1 is no switch of these rules");
}

#[test]
fn files_that_are_no_rules_are_refused_with_the_place() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let csv = |line: &str| {
        read_csv(&wiring, &format!("switch,tag,in_ports,out_ports,new_tag\n{line}\n")).unwrap_err().to_string()
    };
    assert_eq!(csv("L9,1,0,1,1"), "line 2: there is no switch `L9`; did you mean `L1`?");
    assert_eq!(csv("L1,1,0-4,1,1"), "line 2, in: L1 has no port 4; allowed: 0 to 3");
    assert_eq!(csv("L1,1,0,,1"), "line 2, out: no port; at least one is needed");
    assert_eq!(csv("L1,0,0,1,1"), "line 2, tag: tag 0; allowed: 1 to 255 (packets without an entry are lossy)");
    assert_eq!(csv("L1,x,0,1,1"), "line 2: `x` is no tag; allowed: 1 to 255");
    assert_eq!(csv("L1,1,3-1,1,1"), "line 2: `3-1` is no port; allowed: numbers and ranges, such as `0-3 7`");
    assert_eq!(csv("L1,1,0,1"), "line 2: 4 fields; allowed: 5, as in `switch,tag,in_ports,out_ports,new_tag`");
    assert_eq!(csv("\"L1,1,0,1,1"), "line 2: a quoted name without an end");
    assert_eq!(
        csv("L1,1,0-3,0 1,1\nL1,1,3,1 2,2"),
        "L1: two entries for packets from port 3 to port 1: there is a rule to tag 1 already"
    );
    assert_eq!(
        read_csv(&wiring, "tag,switch\n").unwrap_err().to_string(),
        "line 1: `tag,switch`; allowed: `switch,tag,in_ports,out_ports,new_tag`"
    );
    let json = |text: &str| read_json(&wiring, text).unwrap_err().to_string();
    assert_eq!(json("{"), "line 1 column 1: EOF while parsing an object");
    assert_eq!(json("[]"), "line 1 column 1: not a JSON object");
    let file = |switches: &str| {
        format!(
            r#"{{"format":"incast-tag-rules","version":1,"hosts_send_with":1,"no_match":"lossy","switches":{switches}}}"#
        )
    };
    let sent = |with: &str| file("[]").replace("\"hosts_send_with\":1", &format!("\"hosts_send_with\":{with}"));
    let allowed = "allowed: tags from 1 on, one for each class of traffic, such as [1] or [1, 2]; at most 7";
    for wrong in ["2", "0", "[]", "[2]", "[1,3]", "[1,2,3,4,5,6,7,8]", "\"1\"", "-1"] {
        let found = json(&sent(wrong));
        assert!(found.contains(&format!("hosts_send_with: {wrong}; {allowed}")), "{found}");
    }
    assert!(json(&file("[]").replace("lossy", "drop")).contains("unknown variant `drop`, expected `lossy`"));
    for (right, classes) in [("1", 1), ("[1]", 1), ("[1,2]", 2)] {
        assert_eq!(read_json(&wiring, &sent(right)).unwrap().classes(), classes);
    }
    let two = ClosScheme { classes: 2, ..ClosScheme::new(1) };
    let table = two.rules(&wiring).unwrap().compress(Compression::Rectangles).with_classes(2);
    let text = write_json(&wiring, &table);
    assert!(text.contains("\"hosts_send_with\":[1,2],\"no_match\":\"lossy\""), "{text}");
    assert_eq!(read_json(&wiring, &text).unwrap(), table);
    assert_eq!(
        json(&file("[]").replace("\"version\":1", "\"version\":2")),
        "format: `incast-tag-rules` version 2; allowed: `incast-tag-rules` version 1"
    );
    assert_eq!(
        json(&file(r#"[{"switch":"S1","rules":[{"tag":1,"in":[0],"out":[7],"new_tag":1}]}]"#)),
        "switches[0].rules[0].out: S1 has no port 7; allowed: 0 to 3"
    );
    assert!(json(&file(r#"[{"switch":"S1","rules":[{"tag":1,"in":[0],"outs":[7],"new_tag":1}]}]"#)).contains("`outs`"));
}

#[test]
fn names_with_commas_and_quotes_survive_csv() {
    let fabric = fabric(&["H1", "H2"], &["a,\"b\"", "c\nd"], &[("H1", "a,\"b\""), ("a,\"b\"", "c\nd"), ("c\nd", "H2")]);
    let wiring = Wiring::new(&fabric);
    let hops = Elp::Shortest(ShortestPaths::default()).hops(&wiring).unwrap();
    let table = Placement::per_hop(&hops).unwrap().rules().compress(Compression::None);
    assert_eq!(read_csv(&wiring, &write_csv(&wiring, &table)).unwrap(), table);
    // CR LF.
    let crlf = "switch,tag,in_ports,out_ports,new_tag\r\n\"a,\"\"b\"\"\",1,0,1,2\r\n";
    assert_eq!(read_csv(&wiring, crlf).unwrap().len(), 1);
}

#[test]
fn names_of_ports() {
    assert_eq!((PortNames::sonic().name(3), PortNames::linux().name(0)), ("Ethernet12".into(), "swp1".into()));
    assert_eq!(CodePoints::class_selectors(9).tags, [8, 16, 24, 32, 40, 48, 56]);
    let fabric = LeafSpine::new(2, 1, 1).build().unwrap();
    let wiring = Wiring::new(&fabric);
    let table = ClosScheme::new(0).rules(&wiring).unwrap().compress(Compression::InputSets);
    let spine = crate::common::node(&fabric, "spine0");
    let text = write_nftables(&wiring, &table, spine, &PortNames::linux(), &CodePoints::class_selectors(1)).unwrap();
    assert_eq!(
        text,
        "# Tags of 1 lossless priorities at spine0.\n\
         table inet incast_tags\n\
         delete table inet incast_tags\n\
         table inet incast_tags {\n    \
         chain to_1 {\n        ip dscp set 8\n        ip6 dscp set 8\n        \
         meta priority set 0:1 accept\n    }\n    \
         map from_1 {\n        type ifname . ifname : verdict\n        elements = {\n            \
         \"swp1\" . \"swp1\" : goto to_1,\n            \"swp1\" . \"swp2\" : goto to_1,\n            \
         \"swp2\" . \"swp1\" : goto to_1,\n            \"swp2\" . \"swp2\" : goto to_1,\n        \
         }\n    }\n    chain rewrite {\n        \
         type filter hook forward priority mangle; policy accept;\n        \
         ip dscp 8 iifname . oifname vmap @from_1\n        \
         ip6 dscp 8 iifname . oifname vmap @from_1\n        \
         ip dscp { 8 } ip dscp set 0 meta priority set 0:0\n        \
         ip6 dscp { 8 } ip6 dscp set 0 meta priority set 0:0\n    }\n}\n"
    );
}
