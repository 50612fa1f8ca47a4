use std::collections::BTreeSet;
use std::sync::Arc;

use incast_deadlock::rules::Rules;
use incast_deadlock::{Tag, Wiring};
use incast_model::flow::FlowSet;
use incast_sim::Params;
use incast_sim::network::NetworkParams;
use incast_sim::switch::{QueueParams, SwitchParams};

use super::Ready;
use crate::diagnostic::Diagnostics;
use crate::scenario::given_paths::GivenPaths;
use crate::scenario::{Scheme, located, of_classes, tagging};
use crate::tree::path;

#[derive(Debug, PartialEq)]
pub(super) struct Traffic {
    pub(super) network: NetworkParams,
    /// Flows' priorities that PFC never pauses.
    pub(super) lossy: Vec<u8>,
    pub(super) without_pfc: Option<&'static str>,
    /// Without tags, by equal explicit paths.
    pub(super) held: Vec<(Vec<u8>, GivenPaths)>,
    pub(super) tagged: Option<Tagged>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Tagged {
    pub(super) rules: Rules,
    /// From tag 1 on.
    pub(super) priorities: Vec<u8>,
    pub(super) sent: Vec<Tag>,
    pub(super) paths: GivenPaths,
}

/// Equal traffic once.
pub(super) fn of_schemes(
    ready: &Ready<'_>,
    wiring: &Wiring<'_>,
    flows: &Arc<FlowSet>,
) -> Result<Vec<(Vec<String>, Traffic)>, Diagnostics> {
    let mut all: Vec<(Vec<String>, Traffic)> = Vec::new();
    for (name, scheme) in &ready.loaded.scenario().scheme {
        let traffic = of_scheme(ready, wiring, flows, (name, scheme)).map_err(|found| ready.loaded.locate(found))?;
        match all.iter_mut().find(|(_, known)| *known == traffic) {
            Some((names, _)) => names.push(name.clone()),
            None => all.push((vec![name.clone()], traffic)),
        }
    }
    Ok(all)
}

fn of_scheme(
    ready: &Ready<'_>,
    wiring: &Wiring<'_>,
    flows: &Arc<FlowSet>,
    (name, scheme): (&str, &Scheme),
) -> Result<Traffic, Diagnostics> {
    let scenario = ready.loaded.scenario();
    let params = scenario.params(scheme, &path::join("scheme", name))?;
    let flows = of_classes(flows, &params);
    let rules = scenario.tagger(name, wiring, &params, ready.loaded.base_dir())?.map(|(rules, _)| rules);
    let table = rules.as_ref().map(|rules| tagging::table(&ready.fabric, rules));
    params.check_deadlock(table.as_ref(), &flows).map_err(|error| located(scenario, name, error))?;
    let paused = |priority: u8| params.switch.paused_priorities() >> priority & 1 != 0;
    let sent: BTreeSet<u8> = flows.flows.iter().map(|flow| flow.priority).collect();
    let held: BTreeSet<u8> = in_use(&sent, scheme, &params).into_iter().filter(|&priority| paused(priority)).collect();
    let tags = rules.as_ref().map_or(0, |rules| usize::from(rules.tags()));
    let priorities: Vec<u8> = params.switch.lossless.iter().copied().take(tags).collect();
    let tagged = rules.map(|rules| {
        let of_hosts = |(tag, priority): (u8, &u8)| held.contains(priority).then_some(Tag(tag));
        Tagged {
            sent: (1..).zip(&priorities).filter_map(of_hosts).collect(),
            paths: paths_of(&flows, &params, &priorities),
            rules,
            priorities: priorities.clone(),
        }
    });
    let mut groups: Vec<(Vec<u8>, GivenPaths)> = Vec::new();
    for &priority in held.iter().filter(|priority| !priorities.contains(priority)) {
        let paths = paths_of(&flows, &params, &[priority]);
        match groups.iter_mut().find(|(_, known)| *known == paths) {
            Some((group, _)) => group.push(priority),
            None => groups.push((vec![priority], paths)),
        }
    }
    Ok(Traffic {
        lossy: sent.into_iter().filter(|&priority| !paused(priority)).collect(),
        without_pfc: without_pfc(&params.switch),
        held: groups,
        tagged: tagged.filter(|tagged| !tagged.sent.is_empty()),
        network: params.network,
    })
}

/// Flows', ACKs', CNPs' priorities, and all lossless ones if a transport may choose itself.
fn in_use(sent: &BTreeSet<u8>, scheme: &Scheme, params: &Params) -> BTreeSet<u8> {
    let mut used = sent.clone();
    used.extend(params.rdma.ack_priority);
    used.insert(params.rdma.cnp_priority);
    let mut transports = scheme.transport.iter().chain(scheme.transport_by_label.values());
    if transports.any(|one| !one.keeps_priority()) {
        used.extend(&params.switch.lossless);
    }
    used
}

/// ACKs and CNPs take the data's path backwards.
fn paths_of(flows: &FlowSet, params: &Params, priorities: &[u8]) -> GivenPaths {
    let mut paths = GivenPaths::new();
    for (index, flow) in flows.flows.iter().enumerate() {
        let Some(path) = flow.path else { continue };
        let answers = [params.rdma.ack_priority.unwrap_or(flow.priority), params.rdma.cnp_priority];
        if priorities.contains(&flow.priority) {
            paths.entry((path, false)).or_insert(index);
        }
        if answers.iter().any(|answer| priorities.contains(answer)) {
            paths.entry((path, true)).or_insert(index);
        }
    }
    paths
}

fn without_pfc(switch: &SwitchParams) -> Option<&'static str> {
    match switch {
        SwitchParams { pfc: false, .. } => Some("PFC is off (switch.pfc)"),
        SwitchParams { queues, .. } if *queues != QueueParams::Shared => {
            Some("there is no PFC with a buffer per port (switch.queues)")
        }
        SwitchParams { lossless, .. } if lossless.is_empty() => Some("no priority is lossless (switch.lossless)"),
        _ => None,
    }
}
