//! PFC storms: pauses sent regardless of buffers.
//!
//! A port that *holds* a priority has sent an XOFF, and sends no XON whatever leaves.

use std::collections::BTreeSet;

use incast_model::fabric::{Fabric, NodeKind, PortId};
use incast_model::field::FieldError;
use incast_model::rng::{Stream, stream, uniform};
use incast_model::units::Time;

use super::changes::{Hold, Step};
use super::params::{PauseParams, RandomPauses};
use super::places::{joining, neighbours, node};

pub(super) fn resolve(pause: &PauseParams, field: &str, fabric: &Fabric, seed: u64) -> Result<Vec<Hold>, FieldError> {
    let at = node(fabric, &format!("{field}.at"), &pause.at)?;
    let field_peer = format!("{field}.peer");
    let peers = || format!("neighbours of {}: {}", pause.at, neighbours(fabric, at));
    let ports: Vec<PortId> = match &pause.peer {
        Some(name) => {
            let ports = joining(fabric, at, node(fabric, &field_peer, name)?);
            if ports.is_empty() {
                return Err(FieldError::new(field_peer, format!("`{name}` is no neighbour")).allowed(peers()));
            }
            ports
        }
        None if fabric.node(at).kind == NodeKind::Switch => {
            let message = format!("{} is a switch: name the neighbour that it pauses", pause.at);
            return Err(FieldError::new(field_peer, message).allowed(peers()));
        }
        None => fabric.ports_of(at).collect(),
    };
    if let Some(until) = pause.until {
        FieldError::unless(
            until > pause.from,
            &format!("{field}.until"),
            until,
            &format!("after `from`, {}", pause.from),
        )?;
    }
    let times = match (&pause.random, pause.until) {
        (None, until) => vec![(pause.from, until)],
        (Some(_), None) => {
            let message = "random pauses need an end";
            return Err(FieldError::new(format!("{field}.until"), message).allowed("a time after `from`"));
        }
        (Some(random), Some(until)) => {
            random.check(&format!("{field}.random"))?;
            random.draw(pause.from, until, &mut stream(seed, "pause", at.index() as u64))
        }
    };
    let hold = |(from, until)| Hold { ports: ports.clone(), priority: pause.priority, from, until };
    Ok(times.into_iter().map(hold).collect())
}

impl RandomPauses {
    fn check(&self, field: &str) -> Result<(), FieldError> {
        for (name, [shortest, longest]) in [("pause", self.pause), ("gap", self.gap)] {
            let allowed = "1us or more";
            FieldError::unless(shortest >= Time::us(1), &format!("{field}.{name}[0]"), shortest, allowed)?;
            let allowed = format!("{shortest} or more: the shortest {name}");
            FieldError::unless(longest >= shortest, &format!("{field}.{name}[1]"), longest, &allowed)?;
        }
        Ok(())
    }

    /// Starts and ends; the last pause ends at `until` at the latest.
    fn draw(&self, from: Time, until: Time, rng: &mut Stream) -> Vec<(Time, Option<Time>)> {
        let mut length = |[shortest, longest]: [Time; 2]| uniform(rng, shortest.0, longest.0);
        let (mut found, mut end) = (Vec::new(), from.0);
        loop {
            let start = end.saturating_add(length(self.gap));
            if start >= until.0 {
                return found;
            }
            end = start.saturating_add(length(self.pause)).min(until.0);
            found.push((Time(start), Some(Time(end))));
        }
    }
}

/// Merges holds of one port and priority that overlap or touch.
pub(super) fn steps(holds: &[Hold]) -> Vec<(u64, Step)> {
    let times: BTreeSet<Time> = holds.iter().flat_map(|one| [Some(one.from), one.until]).flatten().collect();
    let mut was = BTreeSet::new();
    let mut found = Vec::new();
    for time in times {
        let in_force = holds.iter().filter(|one| one.from <= time && one.until.is_none_or(|end| end > time));
        let is: BTreeSet<(PortId, u8)> =
            in_force.flat_map(|one| one.ports.iter().map(|&port| (port, one.priority))).collect();
        let begin = is.difference(&was).map(|&(port, priority)| (port, priority, true));
        let end = was.difference(&is).map(|&(port, priority)| (port, priority, false));
        let changed: Vec<(PortId, u8, bool)> = begin.chain(end).collect();
        if !changed.is_empty() {
            found.push((time.0, Step::Hold(changed)));
        }
        was = is;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(port: u32, from: u64, until: Option<u64>) -> Hold {
        Hold { ports: vec![PortId(port)], priority: 3, from: Time(from), until: until.map(Time) }
    }

    #[test]
    fn pauses_that_overlap_are_one() {
        let holds = [hold(1, 0, Some(50)), hold(1, 20, Some(60)), hold(1, 60, Some(70)), hold(2, 50, None)];
        let step = |time, port, begins| (time, Step::Hold(vec![(PortId(port), 3, begins)]));
        assert_eq!(steps(&holds), [step(0, 1, true), step(50, 2, true), step(70, 1, false)]);
    }

    #[test]
    fn random_pauses_alternate_with_gaps_and_end_in_time() {
        let [short, long] = [Time::us(50), Time::us(200)];
        let random = RandomPauses { pause: [short, long], gap: [short, Time::us(100)] };
        let (from, until) = (Time::ms(1), Time::ms(20));
        let drawn = |seed| random.draw(from, until, &mut stream(seed, "pause", 0));
        let pauses = drawn(1);
        // Means of 125 us and 75 us: about 95 in 19 ms.
        assert!((80..110).contains(&pauses.len()), "{}", pauses.len());
        let mut before = from;
        for (at, &(start, end)) in pauses.iter().enumerate() {
            let end = end.unwrap();
            assert!((short..=Time::us(100)).contains(&Time(start.0 - before.0)), "gap {at}");
            let whole = (short..=long).contains(&Time(end.0 - start.0));
            assert!(whole || (at + 1 == pauses.len() && end == until), "pause {at}");
            before = end;
        }
        assert_eq!(pauses, drawn(1));
        assert_ne!(pauses, drawn(2));
    }
}
