use std::path::Path;

use super::*;
use crate::scenario::Loaded;
use crate::show::{Show, show};

const FABRIC: &str = "[fabric.leaf_spine]\nleaves = 2\nspines = 3\nhosts_per_leaf = 4\n";
const FLOWS: &str = "[[workload]]\nlist = [{ src = 0, dst = 1, size = 1 }]\n";

fn shown(text: &str) -> Show {
    let text = format!("{FABRIC}{FLOWS}{text}");
    show(&Loaded::from_text("mine.toml", &text, Path::new("."), &[]).unwrap().prepare().unwrap(), 1e6)
}

fn source(show: &BufferShow, field: &str) -> String {
    show.settings.iter().find(|one| one.field == field).unwrap().source.clone()
}

#[test]
fn thresholds_follow_from_the_shared_buffer() {
    let show = shown("[scheme]\nA = { control = \"dcqcn\" }\nB = { control = \"timely\" }\n");
    let [buffers] = &show.buffers[..] else { panic!("{:?}", show.buffers) };
    assert_eq!((&buffers.schemes[..], &buffers.lossless[..]), (&["A".to_owned(), "B".to_owned()][..], &[3][..]));
    let [leaf, spine] = &buffers.switches[..] else { panic!("{:?}", buffers.switches) };
    assert_eq!((leaf.name.as_str(), leaf.switches, spine.name.as_str(), spine.switches), ("leaf0", 2, "spine0", 3));
    let [ports] = &leaf.ports[..] else { panic!("{leaf:?}") };
    assert_eq!((ports.ports, leaf.headroom, leaf.reserved), (7, 7 * ports.headroom, 7 * 4096));
    assert_eq!(leaf.buffer, leaf.headroom + leaf.reserved + leaf.shared);
    // Alpha 1/8: one queue takes 1/9 of the shared buffer; seven 1/8 each of the free part, shared / (1 + 7/8).
    assert_eq!((ports.alpha, ports.dynamic_th), (Some(0.125), Some(-3.0)));
    assert_eq!((ports.xoff_one, ports.xoff_all), (leaf.shared / 9, leaf.shared / 15));
    assert_eq!(ports.xon_one, ports.xoff_one - 3072);
    let text = show.to_string();
    assert!(text.contains("buffers    PFC thresholds in bytes, per port and lossless priority (3)\n"), "{text}");
    assert!(text.contains("\n  2 as leaf0      7 of 100 Gb/s, 1 us      "), "{text}");
    assert!(text.contains("ECN at 100 Gb/s: Kmin 400,000, Kmax 1,600,000 B, Pmax 0.2\n"), "{text}");
    let table = text.lines().skip_while(|line| !line.starts_with("buffers")).take_while(|line| !line.starts_with('e'));
    table.for_each(|line| assert!(line.chars().count() <= 100, "{line}"));
}

#[test]
fn static_thresholds_have_no_alpha() {
    let show = shown("[switch]\npfc_mode.static.xoff = \"200kB\"\n[scheme]\nA.control = \"dcqcn\"\n");
    let ports = &show.buffers[0].switches[0].ports[0];
    assert_eq!((ports.alpha, ports.xoff_one, ports.xoff_all, ports.xon_one), (None, 200_000, 200_000, 196_928));
}

#[test]
fn schemes_with_other_settings_are_shown_apart_with_sources() {
    let text = "[switch]\nheadroom = \"40kB\"\n[scheme.A]\ncontrol = \"dcqcn\"\nswitch.reserve = \"0B\"\n\
                [scheme.B]\ncontrol = \"dctcp\"\n[scheme.C]\ntransport = \"pfabric\"\n";
    let show = shown(text);
    let [a, b, c] = &show.buffers[..] else { panic!("{:?}", show.buffers) };
    assert_eq!([&a.schemes[..], &b.schemes[..], &c.schemes[..]], [["A"], ["B"], ["C"]]);
    assert_eq!((a.switches[0].ports[0].headroom, a.switches[0].reserved), (40_000, 0));
    assert_eq!(
        (source(a, "switch.headroom"), source(a, "switch.reserve")),
        ("mine.toml:8".into(), "mine.toml:11".into())
    );
    assert_eq!((source(a, "switch.buffer"), source(b, "ecn.kmin")), ("default".into(), "default of dctcp".into()));
    assert_eq!((c.port_buffer, &c.switches[..], &c.lossless[..]), (Some(36_864), &[][..], &[][..]));
    let text = show.to_string();
    assert!(text.contains("switch.headroom = { bytes = \"40kB\" } (mine.toml:8)"), "{text}");
    assert!(text.contains("\nbuffers    36,864 B at each port of scheme C, no PFC"), "{text}");
}

#[test]
fn a_fabric_alone_has_buffers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fabric.toml");
    std::fs::write(&file, format!("{FABRIC}[switch]\nbuffer = \"16MiB\"\n")).unwrap();
    let loaded = Loaded::fabric_from_path(&file, &[]).unwrap();
    let show = show(&loaded.prepare().unwrap(), 1e6);
    assert_eq!((show.schemes.len(), show.labels.len(), show.estimate, show.buffers.len()), (0, 0, None, 1));
    assert_eq!(show.buffers[0].switches[0].buffer, 16 << 20);
    let text = show.to_string();
    assert!(!text.contains("estimate") && !text.contains("scheme"), "{text}");
    let toml = loaded.to_toml();
    assert!(!toml.contains("workload") && !toml.contains("scheme"), "{toml}");
    assert!(toml.contains("headroom = \"computed\"") && toml.contains("kmin = \"400kB\""), "{toml}");
    assert!(loaded.to_value().get("workload").is_none());
}

#[test]
fn numbers_read_as_switches_print_them() {
    assert_eq!(["0", "999", "1,000", "33,554,432"], [0, 999, 1000, 33_554_432].map(grouped));
    assert_eq!(["1/8", "1", "2", "0.3"], [0.125, 1.0, 2.0, 0.3].map(share));
    assert_eq!(["-3", "-1.74"], [-3.0, 0.3f64.log2()].map(exponent));
}
