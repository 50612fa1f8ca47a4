//! Small scenarios, run to the end. The ledger and runs on a cut fabric are the oracle.

mod draw;
mod fabric;
mod options;
mod parties;
mod workload;

use std::fmt::{self, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use incast_lab::Loaded;
use incast_sim::congestion::Control;
use incast_sim::outcome::{Stop, Threads};
use incast_sim::switch::{Headroom, WatchdogAction};
use incast_sim::transport::Transport;
use incast_sim::{Arithmetic, Carrier, Cut, Outcome, Progress, Simulation, ValidSetup};

use self::draw::Draw;
use self::options::OPTIONS;

const MOST_ENTRIES: u64 = 3;
const MOST_OPTIONS: u64 = 6;
const NUMBERS: [u64; 11] = [1, 0, 2, 3, 5, 8, 20, 50, 100, 333, 1000];
const WINDOWS: [&str; 3] = ["off", "fixed", "rate"];
/// A run ends within a second.
const LIMITS: &str = "[measure]\nfingerprint = true\n[simulation]\nhorizon = \"3ms\"\nmax_events = 20000\n";

/// Scenario as TOML, and overrides.
struct Drawn {
    text: String,
    sets: Vec<String>,
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nwith the overrides {:#?}", self.text, self.sets)
    }
}

fn drawn(draw: &mut Draw<'_>) -> Drawn {
    let (mut text, hosts) = fabric::fabric(draw);
    let entries = draw.within(1, MOST_ENTRIES);
    (0..entries).for_each(|number| text += &workload::entry(draw, number, hosts));
    let scheme = scheme(draw, entries);
    let option = |draw: &mut Draw<'_>| draw.one_of(&OPTIONS).replace("{}", &draw.one_of(&NUMBERS).to_string());
    let sets = (0..draw.within(0, MOST_OPTIONS)).map(|_| option(draw)).collect();
    Drawn { text: parties::with_parties(draw, text, &scheme, hosts) + LIMITS, sets }
}

static CONTROLS: LazyLock<Vec<&str>> =
    LazyLock::new(|| Control::catalogue().iter().map(|control| control.name).collect());
/// Fastpass has an arbiter: `parties`.
static TRANSPORTS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    Transport::catalogue().iter().map(|transport| transport.name).filter(|name| *name != "fastpass").collect()
});

fn scheme(draw: &mut Draw<'_>, entries: u64) -> String {
    let mut text = "[scheme.S]\n".to_owned();
    if draw.rarely(3) {
        let _ = writeln!(text, "transport = \"{}\"", draw.one_of(&TRANSPORTS));
    } else {
        let _ = writeln!(text, "control = \"{}\"", draw.one_of(&CONTROLS));
        if draw.rarely(3) {
            let _ = writeln!(text, "window = \"{}\"", draw.one_of(&WINDOWS));
        }
    }
    if draw.rarely(5) {
        let (label, transport) = (draw.within(0, entries - 1), draw.one_of(&TRANSPORTS));
        let _ = writeln!(text, "transport_by_label.w{label} = \"{transport}\"");
    }
    text
}

/// Runs a drawn scenario whole, cut into partitions, and event by event.
pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let cut = draw.one_of(&[Cut::Nodes, Cut::Into(2), Cut::Into(5), Cut::Random(3, 7)]);
    // Threads take longer than these runs.
    let threads = if draw.rarely(4) { draw.within(2, 4) as usize } else { 1 };
    let drawn = drawn(&mut draw);
    let loaded = Loaded::from_text("s", &drawn.text, Path::new("."), &drawn.sets);
    let Ok(prepared) = loaded.and_then(|loaded| loaded.prepare()) else { return };
    let setup = &prepared.schemes[0].setup;
    let Ok(simulation) = Simulation::new(setup.clone()) else { return };
    let whole = simulation.run(&mut go_on);
    sound(setup, &whole, &drawn);
    let again = || Simulation::new(setup.clone()).expect("it was built before");
    let parts = again().cut(cut, threads).run(&mut go_on);
    assert_eq!(text(&whole), text(&parts), "{cut:?} on {threads} threads: {drawn}");
    let one_by_one = again().run_event_by_event(&mut go_on);
    // Both have their own number of events.
    if !matches!((&whole.stop, &one_by_one.stop), (Stop::Budget { .. }, _) | (_, Stop::Budget { .. })) {
        assert_eq!(
            (&whole.stop, whole.end, whole.ledger),
            (&one_by_one.stop, one_by_one.end, one_by_one.ledger),
            "{drawn}"
        );
        assert_eq!(whole.flows, one_by_one.flows, "{drawn}");
    }
}

fn go_on(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// All but the threads.
fn text(outcome: &Outcome) -> String {
    let threads = Threads { count: 1, others_cpu: Duration::ZERO, sequential: 0 };
    format!("{:?}", Outcome { threads, ..outcome.clone() })
}

fn sound(setup: &ValidSetup, outcome: &Outcome, drawn: &Drawn) {
    assert_eq!(outcome.ledger.unbalanced().count(), 0, "{:?}: {drawn}", outcome.ledger);
    let params = &setup.params;
    let exact = params.arithmetic == Arithmetic::Exact && !params.rdma.acks_ignore_pause;
    // Then a switch sends although the next one has no space.
    let forwards = params.switch.watchdog.enabled && params.switch.watchdog.action == WatchdogAction::Forward;
    if params.switch.headroom == Headroom::Computed && exact && !forwards && params.network.failure.is_empty() {
        assert_eq!(outcome.counts.lossless_drops, 0, "{drawn}");
    }
    for (flow, record) in setup.flows.flows.iter().zip(&outcome.flows) {
        assert!(record.acked <= flow.size.0, "{record:?}: {drawn}");
        let ended = record.finish.is_some() || record.cancelled || record.partial;
        assert!(outcome.stop != Stop::Finished || ended, "{record:?}: {drawn}");
        // A flow of UDP with an `end` stops then, whether or not its last packets arrive.
        let carrier = setup.carriers[usize::from(flow.label)];
        let udp = flow.until.is_some()
            && matches!(carrier, Carrier::Transport(index) if matches!(setup.transports[index], Transport::Udp(_)));
        assert!(record.finish.is_none() || udp || record.acked == flow.size.0, "{record:?}: {drawn}");
        assert!(record.finish >= record.start || record.finish.is_none(), "{record:?}: {drawn}");
    }
}
