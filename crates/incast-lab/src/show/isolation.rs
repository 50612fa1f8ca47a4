use incast_sim::Params;
use incast_sim::host::ClassBy;
use incast_sim::switch::{FlowDetection, IsolationAtHosts, MarkedFlows};

pub(super) fn summary(params: &Params) -> Vec<String> {
    [classes(params), isolation(params)].into_iter().flatten().collect()
}

fn classes(params: &Params) -> Option<String> {
    let classes = &params.host.classes;
    let by = match classes.by {
        ClassBy::Given => return None,
        ClassBy::Size => format!("flows up to {:#}", classes.threshold),
        ClassBy::Sent => format!("the first {:#} of each flow", classes.threshold),
        ClassBy::Hash => "random halves: one half".into(),
    };
    Some(format!("classes: {by} with priority {}, the rest {}", classes.mice, classes.elephants))
}

fn isolation(params: &Params) -> Option<String> {
    let isolation = &params.switch.isolation;
    if !isolation.enabled {
        return None;
    }
    let found = match isolation.detection {
        FlowDetection::Marks { kmin, kmax, pmax } => {
            format!("picked as ECN picks packets (Kmin {kmin:#}, Kmax {kmax:#}, Pmax {pmax})")
        }
        FlowDetection::Counters { above, flows } => format!("{flows} largest in a queue above {above:#}"),
    };
    let table = isolation.table.map_or_else(String::new, |most| format!(", at most {most} per port"));
    let hosts = match isolation.hosts {
        IsolationAtHosts::Ignore => "",
        IsolationAtHosts::Isolate => ", hosts isolate too",
    };
    let mark = match isolation.mark {
        MarkedFlows::All => "",
        MarkedFlows::Isolated => ", ECN marks isolated flows only",
    };
    Some(format!(
        "isolation: flows {found}, to priority {}{table}; messages above {:#}, every {:#}{hosts}{mark}",
        isolation.queue, isolation.message_above, isolation.message_every
    ))
}
