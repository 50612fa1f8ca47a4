//! Tagger's published table on Jellyfish, by the conventions of `docs/design/deadlock.md`, against our implementation in
//! another language on other random graphs: same classes, and within a few percent.

use incast_deadlock::Wiring;
use incast_deadlock::elp::Elp;
use incast_deadlock::rules::{Count, Rules};
use incast_deadlock::table::{CONVENTIONS, Convention, PUBLISHED};
use incast_deadlock::verify::verify;
use incast_model::fabric::Fabric;
use incast_model::fabric::generators::Jellyfish;

struct Row {
    diameter: usize,
    classes: u8,
    count: Count,
    rules: Rules,
}

fn graph(switches: u32, ports: u32, seed: u64) -> Fabric {
    Jellyfish { seed, ..Jellyfish::new(switches, ports, ports / 2) }.build().unwrap()
}

fn row(fabric: &Fabric, convention: Convention, seed: u64) -> Row {
    let wiring = Wiring::new(fabric);
    let hops = convention.paths(seed).hops(&wiring).unwrap();
    let placement = convention.greedy(seed).place(&hops).unwrap();
    let rules = placement.rules();
    let count = convention.count(&placement.transitions(), &rules);
    Row { diameter: hops.layers().len() + 2, classes: rules.tags(), count, rules }
}

fn verified(fabric: &Fabric, elp: &Elp<'_>, rules: &Rules) {
    let wiring = Wiring::new(fabric);
    let verified = verify(&wiring, rules, elp).unwrap();
    assert!(verified.holds(), "{verified:?}");
    assert!(verified.walked.trees >= fabric.switches().count());
}

/// Other implementation: 85 to 90 rules, at most 10 to 11, 2 classes on five graphs. Some of a hundred need a third.
#[test]
fn f_on_a_hundred_graphs_of_10_switches() {
    let f = Convention::by_name("F").unwrap();
    let mut classes = [0; 4];
    for seed in 1..=100 {
        let fabric = graph(10, 12, seed);
        let row = row(&fabric, f, seed);
        classes[usize::from(row.classes)] += 1;
        assert!(row.diameter == 5 && (82..=91).contains(&row.count.total) && (9..=13).contains(&row.count.most));
        verified(&fabric, &f.paths(seed), &row.rules);
    }
    assert_eq!(classes, [0, 0, 82, 18]);
}

/// Other implementation: 3,413 to 3,439 rules, at most 39 to 42, 3 classes (F, five graphs); 3,338 and 37 (Fm, one).
#[test]
fn f_and_fm_on_graphs_of_100_switches() {
    for seed in 1..=5 {
        let fabric = graph(100, 32, seed);
        let [f, fm] = ["F", "Fm"].map(|name| row(&fabric, Convention::by_name(name).unwrap(), seed));
        assert_eq!((f.classes, fm.classes, f.diameter), (3, 3, 6));
        assert!((3_399..=3_453).contains(&f.count.total) && (38..=43).contains(&f.count.most), "{:?}", f.count);
        assert!((3_320..=3_380).contains(&fm.count.total) && (35..=38).contains(&fm.count.most), "{:?}", fm.count);
        verified(&fabric, &Convention::by_name("F").unwrap().paths(seed), &f.rules);
    }
}

/// Other implementation: 34,579 rules, at most 78 (F); 33,960 and 73 (Fm).
#[test]
fn f_and_fm_on_a_graph_of_500_switches() {
    let fabric = graph(500, 64, 1);
    let [f, fm] = ["F", "Fm"].map(|name| row(&fabric, Convention::by_name(name).unwrap(), 1));
    assert_eq!((f.classes, f.diameter, f.count.total, f.count.most), (3, 6, 34_607, 79));
    assert_eq!((fm.classes, fm.count.total, fm.count.most), (3, 33_977, 73));
    verified(&fabric, &Convention::by_name("F").unwrap().paths(1), &f.rules);
}

/// Other implementation: A 3646/46, A' 3419/43, B 4692/51, C 2610/34, D 2588/32, E 3799/45, G 3089/41.
#[test]
fn every_convention_on_a_graph_of_100_switches() {
    let fabric = graph(100, 32, 1);
    let mut table = String::new();
    for convention in CONVENTIONS {
        let row = row(&fabric, convention, 1);
        verified(&fabric, &convention.paths(1), &row.rules);
        table += &format!("{} {} {}/{}\n", convention.name, row.classes, row.count.total, row.count.most);
    }
    assert_eq!(
        table,
        "F 3 3433/39\nFm 3 3356/36\nA 2 3648/46\nA' 2 3431/44\nB 3 4742/52\nC 2 2628/34\nD 2 2583/32\nE 2 3768/44\nG 2 3024/40\n"
    );
}

#[test]
fn totals_and_maxima_of_the_first_two_rows_are_not_of_one_graph() {
    let contradict = |row: &&incast_deadlock::table::Published| row.total > row.most * row.switches;
    assert_eq!(PUBLISHED.iter().filter(contradict).map(|row| row.switches).collect::<Vec<_>>(), [10, 100]);
}
