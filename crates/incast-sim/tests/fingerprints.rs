//! Fingerprints of a small run under every control, profile and arithmetic: the same on every machine and in every build.
//!
//! `make test` runs this program twice, once as other tests are built and once as incast is shipped, against one table. To
//! accept a new table, run with `INSTA_UPDATE=always` and commit it.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use incast_model::fabric::Fabric;
use incast_model::fabric::generators::LeafSpine;
use incast_model::flow::FlowSet;
use incast_model::units::{Bytes, Time};
use incast_model::workload::{Incast, LoadOf, Poisson, WorkloadSpec, generate};
use incast_sim::congestion::Control;
use incast_sim::measure::{Fingerprint, MeasureParams};
use incast_sim::switch::SwitchParams;
use incast_sim::{Arithmetic, ControlSetup, Outcome, Params, Setup, Simulation};

/// Two leaves and two spines, 8 hosts: random flows that draw from every generator, and an incast that causes pauses.
fn case(seed: u64) -> (Arc<Fabric>, Arc<FlowSet>) {
    let fabric = LeafSpine::new(2, 2, 4).build().expect("a valid fabric");
    let background = Poisson {
        load: 0.5,
        load_of: LoadOf::Payload,
        overhead: None,
        sizes: "websearch".parse().expect("a named distribution"),
        duration: Time::us(200),
        hosts: None,
    };
    let burst = Incast {
        fan_in: 7,
        size: "1MB".parse().expect("a size"),
        receiver: Some(0),
        at: Some(Time::us(20)),
        every: None,
        load: None,
        duration: None,
        hosts: None,
    };
    let workload = [
        WorkloadSpec { poisson: Some(background), ..WorkloadSpec::default() },
        WorkloadSpec { incast: Some(burst), ..WorkloadSpec::default() },
    ];
    let flows = generate(&workload, &fabric, Path::new("."), seed, None).expect("a valid workload");
    (Arc::new(fabric), Arc::new(flows))
}

fn run(control: &Control, seed: u64, set: impl FnOnce(&mut Params)) -> Outcome {
    let (fabric, flows) = case(seed);
    let mut params = Params {
        seed,
        switch: SwitchParams { buffer: Bytes(2 << 20), ..SwitchParams::default() },
        measure: MeasureParams { fingerprint: true, ..MeasureParams::default() },
        horizon: Some(Time::ms(2)),
        ..Params::default()
    };
    set(&mut params);
    let setup = Setup {
        fabric,
        controls: vec![ControlSetup { control: control.clone(), window: control.default_window() }],
        control_of_tag: vec![0; flows.tags.len()],
        flows,
        params,
    };
    Simulation::new(setup).expect("a valid setup").run(&mut |_| ControlFlow::Continue(()))
}

fn line(table: &mut String, name: &str, profile: &str, arithmetic: Arithmetic) {
    let control = Control::named(name, profile).expect("a listed profile");
    let outcome = run(&control, 1, |params| params.arithmetic = arithmetic);
    let Fingerprint { trajectory, traffic } = outcome.fingerprint.expect("as asked for");
    let (counts, end) = (outcome.counts, outcome.end.0);
    let arithmetic = match arithmetic {
        Arithmetic::Exact => "exact",
        Arithmetic::Ns3 => "ns3",
    };
    writeln!(
        table,
        "{name:<10} {profile:<12} {arithmetic:<5} {:>9} {:>8} {:>7} {:>6} {end:>11}  {trajectory:016x} {traffic:016x}",
        counts.events,
        counts.packet_hops(),
        counts.marks,
        counts.pauses,
    )
    .expect("a String takes all");
}

#[test]
fn every_control() {
    let mut table = String::from(
        "control    profile      time     events     hops   marks pauses      end/ps  trajectory       traffic\n",
    );
    for control in Control::catalogue() {
        for (profile, _) in control.profiles {
            line(&mut table, control.name, profile, Arithmetic::Exact);
            line(&mut table, control.name, profile, Arithmetic::Ns3);
        }
    }
    insta::assert_snapshot!(table);
}

/// What is measured changes nothing, what is simulated changes both.
#[test]
fn only_what_happens_counts() {
    let control = Control::named("dcqcn", "vendor").expect("a listed profile");
    let base = run(&control, 1, |_| {}).fingerprint;
    let measured = run(&control, 1, |params| {
        params.measure.sample_every = Some(Time::ns(700));
        params.measure.queue_histogram = true;
        params.measure.pauses = false;
        params.measure.max_drops = 0;
    });
    assert!(!measured.queues.is_empty() && !measured.histograms.is_empty());
    assert_eq!(measured.fingerprint, base);
    let (base, other) = (base.expect("as asked for"), run(&control, 2, |_| {}).fingerprint.expect("as asked for"));
    assert!(other.trajectory != base.trajectory && other.traffic != base.traffic);
    assert_eq!(run(&control, 1, |params| params.measure.fingerprint = false).fingerprint, None);
}
