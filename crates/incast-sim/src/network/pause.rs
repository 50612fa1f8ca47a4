//! PFC storms: pauses sent regardless of buffers.
//!
//! A port that *holds* a priority has sent an XOFF, and sends no XON whatever leaves.

use std::collections::BTreeMap;

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
            random.check(&format!("{field}.random"), until.0 - pause.from.0)?;
            random.draw(pause.from, until, &mut stream(seed, "pause", at.index() as u64))
        }
    };
    let hold = |(from, until)| Hold { ports: ports.clone(), priority: pause.priority, from, until };
    Ok(times.into_iter().map(hold).collect())
}

/// Most random pauses of an entry (our choice): their times are drawn before the run and kept.
const MOST: u64 = 1_000_000;

impl RandomPauses {
    fn check(&self, field: &str, duration: u64) -> Result<(), FieldError> {
        for (name, [shortest, longest]) in [("pause", self.pause), ("gap", self.gap)] {
            let allowed = "1us or more";
            FieldError::unless(shortest >= Time::us(1), &format!("{field}.{name}[0]"), shortest, allowed)?;
            let allowed = format!("{shortest} or more: the shortest {name}");
            FieldError::unless(longest >= shortest, &format!("{field}.{name}[1]"), longest, &allowed)?;
        }
        let most = duration / self.pause[0].0.saturating_add(self.gap[0].0);
        if most > MOST {
            let message = format!("up to {most} pauses between `from` and `until`");
            return Err(FieldError::new(field, message).allowed(format!("at most {MOST} pauses")));
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
    let mut changes: BTreeMap<Time, BTreeMap<(PortId, u8), i64>> = BTreeMap::new();
    for one in holds {
        for (time, by) in [(Some(one.from), 1), (one.until, -1)] {
            let Some(time) = time else { continue };
            let at = changes.entry(time).or_default();
            one.ports.iter().for_each(|&port| *at.entry((port, one.priority)).or_default() += by);
        }
    }
    let mut in_force: BTreeMap<(PortId, u8), i64> = BTreeMap::new();
    let mut found = Vec::new();
    for (time, at) in changes {
        let mut changed = Vec::new();
        for (key, by) in at {
            let holds = in_force.entry(key).or_default();
            let before = *holds > 0;
            *holds += by;
            if before != (*holds > 0) {
                changed.push((key.0, key.1, !before));
            }
        }
        // Pauses begin before others end.
        changed.sort_by_key(|&(.., begins)| !begins);
        if !changed.is_empty() {
            found.push((time.0, Step::Hold(changed)));
        }
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
