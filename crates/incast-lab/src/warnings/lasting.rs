//! Runs that do not end in practice.

use incast_model::units::{Time, floor3};
use incast_sim::MAX_TIME;

use crate::scenario::{Prepared, samples};
use crate::show::TYPICAL_RATE;
use crate::warning::{Warning, setting};

/// A day of a core, in packets that cross two links each (our choice).
const MOST_PACKETS: f64 = 86_400.0 * TYPICAL_RATE / 2.0;

/// A second in steps of 1 us (our choice).
const MOST_SAMPLES: u64 = 1_000_000;

const PS_PER_S: f64 = 1e12;

pub(super) fn found(prepared: &Prepared) -> Vec<Warning> {
    packets(prepared).into_iter().chain(many_samples(prepared)).collect()
}

/// The hosts' links limit the packets until the horizon.
fn packets(prepared: &Prepared) -> Option<Warning> {
    let horizon = prepared.scenario.simulation.horizon.unwrap_or(Time::MAX);
    let (scenario, fabric) = (&prepared.scenario, &prepared.fabric);
    let ports = fabric.hosts().iter().flat_map(|&host| fabric.ports_of(host));
    let most_per_s = ports.map(|port| fabric.rate(port).0 as f64).sum::<f64>() / 8.0;
    let sized = prepared.flows.flows.iter().filter(|flow| flow.until.is_none());
    let bytes = sized.map(|flow| flow.size.0 as f64).sum::<f64>().min(most_per_s * horizon.seconds());
    let payload = scenario.packets.payload.0 as f64;
    if bytes / payload <= MOST_PACKETS || scenario.simulation.max_events.is_some() {
        return None;
    }
    let days = bytes / payload / MOST_PACKETS;
    let enough = Time(floor3((MOST_PACKETS * payload / most_per_s * PS_PER_S) as u64)).min(MAX_TIME);
    let text = format!(
        "its flows have {:.1e} packets: about {days:.0} days of a core for each scheme; write {}",
        bytes / payload,
        setting("simulation.horizon", enough)
    );
    Some(Warning::new("workload", text))
}

fn many_samples(prepared: &Prepared) -> Option<Warning> {
    let (count, span) = prepared.scenario.least_samples(&prepared.fabric, &prepared.flows)?;
    let text = format!(
        "at least {count} samples: time, memory and results grow with them; write {}",
        samples::fewer(span, MOST_SAMPLES)
    );
    (count > MOST_SAMPLES).then(|| Warning::new("measure.sample_every", text))
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;

    fn of(field: &str, size: &str, more: &str) -> Option<String> {
        let text = format!(
            "[fabric.star]\nhosts = 4\n[[workload]]\nlist = [{{ src = 0, dst = 1, size = \"{size}\" }}]\n[scheme.A]\n\
             control = \"hpcc\"\n{more}"
        );
        found(&text).into_iter().find(|one| one.starts_with(field))
    }

    #[test]
    fn flows_that_take_days() {
        // 10^15 B in packets of 1000 B; 8 M packet-hops/s pass 3.456e11 packets over two links in a day.
        let said = "workload: its flows have 1.0e12 packets: about 3 days of a core for each scheme; write \
                    `simulation.horizon = \"4000s\"`";
        assert_eq!(of("workload", "1000000GB", "").as_deref(), Some(said));
        assert_eq!(of("workload", "1000000GB", "[simulation]\nhorizon = \"4000s\"\n"), None);
        assert_eq!(of("workload", "1000000GB", "[simulation]\nmax_events = 1000\n"), None);
        assert_eq!(of("workload", "300000GB", ""), None);
    }

    #[test]
    fn samples_without_end() {
        // 1.25 MB at 100 Gb/s take 100 us.
        let sample = |every: &str, more: &str| {
            of("measure.sample_every", "1250kB", &format!("[measure]\nsample_every = \"{every}\"\n{more}"))
        };
        let said = "measure.sample_every: at least 100000000 samples: time, memory and results grow with them; write \
                    `measure.sample_every = \"100ps\"`";
        assert_eq!(sample("1ps", "").as_deref(), Some(said));
        assert_eq!(sample("100ps", ""), None);
        assert_eq!(sample("1ps", "sample_until = \"1us\"\n"), None);
        assert_eq!(sample("1ps", "sample_from = \"99us\"\n"), None);
        assert_eq!(sample("1ps", "[simulation]\nhorizon = \"1us\"\n"), None);
    }
}
