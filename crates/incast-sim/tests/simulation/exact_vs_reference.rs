//! Exact arithmetic against the HPCC authors' ns-3 (docs/design/agreement.md).

use std::fmt::Write;
use std::ops::Range;
use std::thread;

use crate::support::Scheme;
use crate::support::large::{Incast, Tree};
use crate::support::small::cases;
use crate::support::statistics::{difference, percentile, size_bins};
use crate::support::study::{Fcts, Findings, Study};
use incast_model::units::{Bytes, Rate};

const DEFAULT_BUFFER: Bytes = Bytes(32 << 20);

fn ps(ns: &[u64]) -> Fcts {
    ns.iter().map(|&ns| 1000 * ns).collect()
}

enum Figures {
    Flows,
    Named(&'static [(&'static str, f64)]),
}

const RANGE: Figures = Figures::Named(&[("least", 0.0), ("median", 0.5), ("most", 0.9999)]);
const PERCENTILES: Figures = Figures::Named(&[("p50", 0.5), ("p95", 0.95), ("p99", 0.99)]);

impl Figures {
    fn of(&self, fcts: &[u64]) -> Vec<(String, u64)> {
        match self {
            Self::Flows => fcts.iter().enumerate().map(|(i, &fct)| (format!("flow {i}"), fct)).collect(),
            Self::Named(list) => {
                list.iter().map(|&(name, fraction)| (name.to_string(), percentile(fcts, fraction))).collect()
            }
        }
    }
}

fn lines(
    text: &mut String,
    name: &str,
    scheme: Scheme,
    figures: &Figures,
    reference: &[u64],
    found: &Findings,
    members: &dyn Fn(&[u64]) -> Fcts,
) {
    let values = |fcts: &[u64]| figures.of(&members(fcts));
    let exact = values(&found.exact);
    for (i, (figure, reference)) in values(reference).into_iter().enumerate() {
        let change = |fcts: &Fcts| difference(values(fcts)[i].1 as f64, reference as f64);
        let one = |fcts: &Option<Fcts>| fcts.as_ref().map_or("-".into(), |fcts| format!("{:+.2}", change(fcts)));
        let range = |runs: &[Fcts]| {
            let changes = || runs.iter().map(change);
            if runs.is_empty() {
                return "-".into();
            }
            let (low, high) = (changes().fold(f64::MAX, f64::min), changes().fold(f64::MIN, f64::max));
            format!("{low:+.1} to {high:+.1}")
        };
        let (reference_ns, exact_ns) = (reference / 1000, exact[i].1 as f64 / 1000.0);
        let scheme = scheme.name();
        let diff = format!("{:+.2}", change(&found.exact));
        let (wires, ties) = (one(&found.wires), one(&found.ties));
        let (seeds, moved) = (range(&found.seeds), range(&found.moved));
        let runs = format!("{diff:>7} {wires:>7} {seeds:>15} {moved:>15} {ties:>7}");
        let line = format!("{name:<25} {scheme:<9} {figure:<6} {reference_ns:>9} {exact_ns:>11.1} {runs}");
        writeln!(text, "{}", line.trim_end()).expect("a String takes all");
    }
}

fn small() -> String {
    let mut text = String::new();
    for case in &cases() {
        let figures = if case.flows.len() > 4 { RANGE } else { Figures::Flows };
        for given in case.reference.iter().chain(case.family) {
            let fabric = |rate: &dyn Fn(u64) -> Rate| (case.fabric)(rate(100));
            let (flows, scheme) = (&case.flows, given.scheme);
            let study = Study { fabric: &fabric, flows, scheme, buffer: DEFAULT_BUFFER, seeds: 16, moves: 16 };
            lines(&mut text, case.name, given.scheme, &figures, &ps(given.fct), &study.find(), &<[u64]>::to_vec);
        }
    }
    text
}

fn incast(case: &Incast) -> String {
    let mut text = String::new();
    let fabric = |rate: &dyn Fn(u64) -> Rate| case.fabric(rate(100));
    for (scheme, reference) in case.fct.iter().filter(|(_, fct)| fct.iter().all(|&fct| fct > 0)) {
        let (flows, scheme) = (&case.flows, *scheme);
        let found = Study { fabric: &fabric, flows, scheme, buffer: case.buffer, seeds: 0, moves: 0 }.find();
        for (what, label) in [("rest", 0), ("incast", 1)] {
            let members = |fcts: &[u64]| {
                flows.iter().zip(fcts).filter(|(flow, _)| flow.label == label).map(|(_, &fct)| fct).collect::<Fcts>()
            };
            let name = format!("leaf-spine {}, {what}", case.name);
            lines(&mut text, &name, scheme, &PERCENTILES, &ps(reference), &found, &members);
        }
    }
    text
}

fn tree(tree: &Tree) -> Vec<Findings> {
    let fabric = |rate: &dyn Fn(u64) -> Rate| Tree::fabric(rate(100), rate(400));
    thread::scope(|scope| {
        let start = |scheme| {
            let study =
                Study { fabric: &fabric, flows: &tree.flows, scheme, buffer: DEFAULT_BUFFER, seeds: 0, moves: 0 };
            scope.spawn(move || study.find())
        };
        let running = Tree::SCHEMES.map(start);
        running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn flow_by_flow(text: &mut String, tree: &Tree, found: &[Findings]) {
    const SHOWN: [usize; 9] = [0, 1, 5, 25, 50, 75, 95, 99, 100];
    writeln!(
        text,
        "\n{:<10} {:<23} {}",
        "scheme",
        "against the reference",
        SHOWN.map(|p| format!("{p:>6}%")).join(" ")
    )
    .expect("a String takes all");
    for ((scheme, reference), found) in Tree::SCHEMES.iter().zip(&tree.fct).zip(found) {
        let runs = [("exact", Some(&found.exact)), ("exact, its wires", found.wires.as_ref())];
        for (name, fcts) in runs {
            let Some(fcts) = fcts else { continue };
            let mut changes: Vec<f64> = fcts
                .iter()
                .zip(ps(reference))
                .map(|(&fct, reference)| difference(fct as f64, reference as f64))
                .collect();
            changes.sort_by(f64::total_cmp);
            let shown = SHOWN.map(|p| format!("{:>+7.2}", changes[(changes.len() * p / 100).min(changes.len() - 1)]));
            writeln!(text, "{:<10} {name:<23} {}", scheme.name(), shown.join(" ")).expect("a String takes all");
        }
    }
}

fn bins(text: &mut String, tree: &Tree, found: &[Findings], schemes: Range<usize>) {
    let sizes: Vec<u64> = tree.flows.iter().map(|flow| flow.size.0).collect();
    let heads = schemes.clone().map(|i| format!("{:>8} p50 {:>7} {:>7}", Tree::SCHEMES[i].name(), "p95", "p99"));
    writeln!(text, "\n{:>10} {}", "up to", heads.collect::<Vec<_>>().join("   ")).expect("a String takes all");
    for bin in size_bins(&sizes, 20) {
        let columns = schemes.clone().map(|i| {
            let of =
                |fcts: &[u64], fraction| percentile(&bin.iter().map(|&i| fcts[i]).collect::<Vec<_>>(), fraction) as f64;
            let change = |fraction| difference(of(&found[i].exact, fraction), of(&ps(&tree.fct[i]), fraction));
            [0.5, 0.95, 0.99].map(|fraction| format!("{:>+7.2}", change(fraction))).join(" ")
        });
        let largest = bin.iter().map(|&i| sizes[i]).max().expect("flows in every bin");
        let columns = columns.map(|column| format!("{column:>28}")).collect::<Vec<_>>();
        writeln!(text, "{largest:>8} B {}", columns.join("  ").trim_end()).expect("a String takes all");
    }
}

fn tables() -> String {
    let mut text = format!(
        "{:<25} {:<9} {:<6} {:>9} {:>11} {:>7} {:>7} {:>15} {:>15} {:>7}\n",
        "case", "scheme", "figure", "ref/ns", "exact/ns", "diff/%", "wires/%", "seeds/%", "moved/%", "ties/%"
    );
    let case = Tree::read();
    let (small, found, incasts) = thread::scope(|scope| {
        let small = scope.spawn(small);
        let incasts = [Incast::long(), Incast::short()].map(|case| scope.spawn(move || incast(&case)));
        let found = tree(&case);
        (small.join().expect("no panic"), found, incasts.map(|thread| thread.join().expect("no panic")))
    });
    text.push_str(&small);
    for ((scheme, reference), found) in Tree::SCHEMES.into_iter().zip(&case.fct).zip(&found) {
        lines(&mut text, "tree, web search 30 %", scheme, &PERCENTILES, &ps(reference), found, &<[u64]>::to_vec);
    }
    text.extend(incasts);
    flow_by_flow(&mut text, &case, &found);
    bins(&mut text, &case, &found, 0..3);
    bins(&mut text, &case, &found, 3..6);
    text
}

#[test]
fn differences_are_known() {
    insta::assert_snapshot!("agreement", tables());
}
