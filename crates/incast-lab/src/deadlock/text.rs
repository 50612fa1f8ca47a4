use std::fmt;

use incast_deadlock::dependency::FailureReport;

use super::check::{Checked, CheckedGraph, Found, Lossy};

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for graph in &self.graphs {
            f.write_str(between)?;
            let mut heads = self.of(&graph.schemes);
            heads.push(priorities(graph));
            if !graph.down.is_empty() {
                let down: Vec<String> = graph.down.iter().map(|[a, b]| format!("{a}-{b}")).collect();
                heads.push(format!("{} down", listed(&down)));
            }
            write!(f, "{}: ", heads.join(", "))?;
            match &graph.found {
                Found::Whole(report) => write!(f, "{report}")?,
                Found::Failed(report) => failed(report, f)?,
            }
            between = "\n";
        }
        for lossy in &self.lossy {
            f.write_str(between)?;
            let heads = self.of(&lossy.schemes);
            let Lossy { priorities, without_pfc, .. } = lossy;
            let mut what = match without_pfc {
                Some(why) => format!("{why}, and full buffers drop packets: no deadlock is possible"),
                None => format!("{} lossy, its packets never block others: no deadlock is possible", named(priorities)),
            };
            if priorities.len() > 1 {
                what = what.replace(" its packets", " their packets");
            }
            writeln!(f, "{}", heads.into_iter().chain([what]).collect::<Vec<_>>().join(": "))?;
            between = "";
        }
        if self.assumed {
            writeln!(f, "{between}there is no workload: one lossless priority is assumed")?;
        }
        Ok(())
    }
}

impl Checked {
    /// None if all are meant.
    fn of(&self, schemes: &[String]) -> Vec<String> {
        if schemes.len() == self.schemes { Vec::new() } else { vec![listed(schemes)] }
    }
}

fn priorities(graph: &CheckedGraph) -> String {
    let plural = graph.priorities.len() > 1;
    match (graph.tagged, plural) {
        (true, true) => format!("{} by tags", named(&graph.priorities)),
        (true, false) => format!("{} by a tag", named(&graph.priorities)),
        (false, true) => format!("each of {}", named(&graph.priorities)),
        (false, false) => named(&graph.priorities),
    }
}

fn named(priorities: &[u8]) -> String {
    let all: Vec<String> = priorities.iter().map(u8::to_string).collect();
    format!("{} {}", if all.len() == 1 { "priority" } else { "priorities" }, listed(&all))
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn failed(report: &FailureReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let FailureReport { cyclic_before, sets, cyclic, named } = report;
    if *cyclic_before {
        writeln!(f, "some dependencies are cyclic without any failure: deadlocks are possible")?;
    }
    let of = if *sets == 1 { "1 set" } else { &format!("{sets} sets") };
    if *cyclic == 0 {
        let free = if *cyclic_before { "" } else { ": no deadlock is possible" };
        return writeln!(f, "{of} of failed links, none of them with cyclic dependencies{free}");
    }
    let has = if *cyclic == 1 { "has" } else { "have" };
    writeln!(f, "{cyclic} of {of} of failed links {has} cyclic dependencies: deadlocks are possible")?;
    for one in named {
        let links: Vec<String> = one.links.iter().map(|[a, b]| format!("{a}-{b}")).collect();
        writeln!(f, "\nwith {} down\n{}", links.join(" and "), one.cycle.to_string().trim_end())?;
    }
    match cyclic - named.len() {
        0 => Ok(()),
        1 => writeln!(f, "\nand 1 more set: --cycles sets how many are listed"),
        more => writeln!(f, "\nand {more} more sets: --cycles sets how many are listed"),
    }
}
