//! Schemes that one thread simulates, and why.

use incast_sim::simulation::NODES_PER_THREAD;
use incast_sim::{Setup, Uncut};

/// `None` if several threads can share a simulation.
pub(super) fn one_thread(setup: &Setup) -> Option<String> {
    let (nodes, least) = (setup.fabric.nodes().len(), 2 * NODES_PER_THREAD);
    let few = || (nodes < least).then(|| format!("the fabric has {nodes} nodes, and more threads pay from {least} on"));
    Uncut::of(setup).map(|reason| reason.to_string()).or_else(few)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::scenario::Loaded;
    use crate::show::{TYPICAL_RATE, show};

    /// The reason in the summary of a ring of 54 hosts, of which `edit` replaces a piece.
    fn reason(edit: (&str, &str)) -> Option<String> {
        let ring = "[fabric.fat_tree]\nk = 6\n[[workload]]\n[workload.ring_all_reduce]\nsize = \"1MB\"\niterations = 2\n\
                    [scheme.A]\ncontrol = \"dcqcn\"\n";
        let scenario = ring.replace(edit.0, edit.1);
        let prepared = Loaded::from_text("s", &scenario, Path::new("."), &[]).unwrap().prepare().unwrap();
        show(&prepared, TYPICAL_RATE).schemes[0].one_thread.clone()
    }

    #[test]
    fn a_run_on_one_thread_says_why_and_what_to_change() {
        assert_eq!(reason(("", "")), None);
        assert_eq!(
            reason(("k = 6", "k = 4")).as_deref(),
            Some("the fabric has 36 nodes, and more threads pay from 64 on")
        );
        for (edit, said) in [
            (("[scheme.A]", "[simulation]\narithmetic = \"ns3\"\n[scheme.A]"), "`simulation.arithmetic = \"exact\"`"),
            (("[[workload]]", "[[workload]]\nend = \"1ms\""), "write `iterations`"),
            (("control = \"dcqcn\"", "transport = \"ideal\""), "ideal scheduler"),
        ] {
            let found = reason(edit).unwrap_or_default();
            assert!(found.contains(said), "{found}");
        }
    }
}
