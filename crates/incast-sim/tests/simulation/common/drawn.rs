//! A small run that draws from every generator.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use incast_model::fabric::Fabric;
use incast_model::fabric::generators::LeafSpine;
use incast_model::flow::FlowSet;
use incast_model::units::{Bytes, Time};
use incast_model::workload::{ArrivalLaw, Incast, LoadAt, LoadOf, Poisson, WorkloadSpec, generate};
use incast_sim::congestion::Control;
use incast_sim::measure::MeasureParams;
use incast_sim::switch::SwitchParams;
use incast_sim::{Carrier, ControlSetup, Outcome, Params, Setup, Simulation};

/// The incast causes pauses.
fn case(seed: u64) -> (Arc<Fabric>, Arc<FlowSet>) {
    let fabric = LeafSpine::new(2, 2, 4).build().expect("a valid fabric");
    let background = Poisson {
        load: 0.5,
        load_of: LoadOf::Payload,
        overhead: None,
        sizes: "websearch".parse().expect("a named distribution"),
        duration: Some(Time::us(200)),
        arrivals: ArrivalLaw::default(),
        load_at: LoadAt::default(),
        locality: None,
        hosts: None,
        region: None,
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

pub(crate) fn drawn(control: &Control, seed: u64, set: impl FnOnce(&mut Params)) -> Outcome {
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
        transports: Vec::new(),
        carriers: vec![Carrier::Rdma(0); flows.labels.len()],
        tenancy: None,
        tags: None,
        flows,
        params,
    };
    setup.checked().and_then(Simulation::new).expect("a valid setup").run(&mut |_| ControlFlow::Continue(()))
}
