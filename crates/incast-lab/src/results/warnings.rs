//! Warnings of a run: those of its scenario, and those that only the run shows.

use incast_sim::Outcome;

use super::simulate::SchemeRun;
use crate::scenario::{Prepared, PreparedScheme};
use crate::warnings::{Warning, joined};

/// Rule for a warning that only the run of a scheme shows.
type Rule = fn(&PreparedScheme, &Outcome) -> Option<Warning>;

/// All rules. To add one, write a function in this file and name it here.
const RULES: &[Rule] = &[];

/// Warnings of a run, those of the scenario first; equal warnings of several schemes are one.
pub(super) fn of_run(prepared: &Prepared, runs: &[SchemeRun]) -> Vec<Warning> {
    by_rules(RULES, prepared, runs)
}

fn by_rules(rules: &[Rule], prepared: &Prepared, runs: &[SchemeRun]) -> Vec<Warning> {
    let of_scheme = |scheme: &PreparedScheme| runs.iter().find(|run| run.name == scheme.name);
    let ran = prepared.schemes.iter().filter_map(|scheme| Some((scheme, &of_scheme(scheme)?.outcome)));
    let shown = ran.flat_map(|(scheme, outcome)| {
        rules.iter().filter_map(move |rule| Some((scheme.name.as_str(), rule(scheme, outcome)?)))
    });
    let shown = joined(shown).into_iter().map(|one| Warning { line: prepared.given.place(&one.field), ..one });
    prepared.warnings().iter().cloned().chain(shown).collect()
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use super::*;
    use crate::results::{Results, RunOptions, run};
    use crate::scenario::Loaded;

    const SPRAYED: &str = r#"
[fabric.leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 2
[network]
load_balancing = "spray"
[[workload]]
list = [{ src = 0, dst = 2, size = "2kB" }]
[scheme.A]
control = "hpcc"
[scheme.B]
control = "dcqcn"
"#;

    #[test]
    fn warnings_are_in_the_manifest_before_and_after_the_run() {
        let prepared = Loaded::from_text("s.toml", SPRAYED, Path::new("."), &[]).unwrap().prepare().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let report = run(&prepared, &out, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        let written = Results::open(&out).unwrap().manifest().warnings.clone();
        assert_eq!(written, report.manifest.warnings);
        assert_eq!(written, prepared.warnings());
        let of_int = written.iter().find(|one| one.text.contains("INT records")).unwrap();
        assert_eq!((&of_int.schemes[..], of_int.field.as_str()), (&["A".to_owned()][..], "network.load_balancing"));
        assert_eq!(of_int.line.as_deref(), Some("s.toml:7"));

        let packets: Rule = |_, outcome| {
            let packets = outcome.flows[0].packets;
            Some(Warning::new("workload", format!("{packets} packets were sent")))
        };
        let all = by_rules(&[packets], &prepared, &report.runs);
        assert_eq!(all[..written.len()], written);
        let [found] = &all[written.len()..] else { panic!("{all:?}") };
        assert_eq!(found.summary(2), "workload (s.toml:8): 2 packets were sent (all 2 schemes)");
    }
}
