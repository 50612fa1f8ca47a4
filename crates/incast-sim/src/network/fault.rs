//! Failures and repairs of links, and the reaction of routing (docs/design/network.md): a list of steps, known when a run
//! begins.
//!
//! Packets for a failed link are dropped until routing knows another path. A link comes up unpaused, since no frame could end
//! its pauses.

use std::collections::BTreeMap;

use incast_model::fabric::{Fabric, LinkId, PortId};
use incast_model::rng::{Stream, stream};
use incast_model::routing::{FixedHops, NextHopOrder, Paths, Routes};
use incast_model::units::Time;

use super::changes::{Outage, Resolved, Step, TimedHops};
use super::params::HoldTime;
use super::pause;
use crate::kernel::IdVec;
use crate::outcome::LinkChange;

#[derive(Debug, Clone)]
pub(crate) struct Faults {
    outages: Vec<Outage>,
    /// By outage: in force.
    active: Vec<bool>,
    /// Sorted by time.
    pub(crate) steps: Vec<(u64, Step)>,
    next: usize,
    /// By link: number of outages.
    down: Vec<u32>,
    /// By link: fraction lost silently.
    lost: Vec<f64>,
    /// By link: routing knows that it is down.
    known: Vec<bool>,
    /// By port with a dead link: actual or prevented end of its last transmission, in ps.
    pub(crate) free_at: IdVec<PortId, u64>,
    /// By port; empty without silent failures.
    streams: Vec<Stream>,
    fixed: Vec<TimedHops>,
    pub(crate) rule: (Paths, NextHopOrder),
    /// In bytes, at the last check for progress.
    acked_before: u64,
}

impl Faults {
    /// `after`: delay of routing (`None`: never learns) once a link's state has lasted.
    pub(crate) fn new(
        resolved: Resolved,
        (after, hold): (Option<Time>, HoldTime),
        rule: (Paths, NextHopOrder),
        seed: u64,
        size: (usize, usize),
    ) -> Self {
        let (links, ports) = size;
        let silent = resolved.outages.iter().any(|outage| outage.silent.is_some());
        let ports_with_loss = if silent { ports as u64 } else { 0 };
        Self {
            active: vec![false; resolved.outages.len()],
            steps: steps(&resolved, (after, hold), links),
            outages: resolved.outages,
            next: 0,
            down: vec![0; links],
            lost: vec![0.0; links],
            known: vec![false; links],
            free_at: vec![0; ports].into(),
            streams: (0..ports_with_loss).map(|port| stream(seed, "loss", port)).collect(),
            fixed: resolved.fixed,
            rule,
            acked_before: 0,
        }
    }

    pub(crate) fn pending(&self) -> bool {
        self.next < self.steps.len()
    }

    pub(crate) fn next_step(&self) -> Option<u64> {
        self.steps.get(self.next).map(|(time, _)| *time)
    }

    pub(crate) fn take_step(&mut self) -> Step {
        self.next += 1;
        self.steps[self.next - 1].1.clone()
    }

    pub(crate) fn learn(&mut self, links: &[(LinkId, bool)]) {
        links.iter().for_each(|&(link, down)| self.known[link.index()] = down);
    }

    pub(crate) const fn taken(&self) -> u32 {
        self.next as u32
    }

    /// True if more bytes are acknowledged than at the last call.
    pub(crate) const fn has_progressed(&mut self, acked: u64) -> bool {
        std::mem::replace(&mut self.acked_before, acked) != acked
    }

    pub(crate) fn stream(&self, port: PortId) -> Stream {
        self.streams[port.index()].clone()
    }

    pub(crate) fn change(&mut self, begins: &[usize], ends: &[usize]) -> [Vec<LinkId>; 2] {
        let before = self.down.clone();
        for (&outage, holds) in ends.iter().map(|one| (one, false)).chain(begins.iter().map(|one| (one, true))) {
            self.active[outage] = holds;
            for &link in self.outages[outage].links.iter().filter(|_| self.outages[outage].silent.is_none()) {
                let count = &mut self.down[link.index()];
                *count = if holds { *count + 1 } else { *count - 1 };
            }
        }
        let changed = |now: bool| {
            let links = before.iter().zip(&self.down).enumerate();
            let changed = links.filter(|(_, (was, is))| (**was > 0) != (**is > 0) && (**is > 0) == now);
            changed.map(|(link, _)| LinkId(link as u32)).collect()
        };
        [changed(true), changed(false)]
    }

    /// Largest fraction of silent failures in force.
    fn loss(&self, link: LinkId) -> f64 {
        let in_force = self.outages.iter().zip(&self.active).filter(|(_, active)| **active);
        let of_link = in_force.filter(|(outage, _)| outage.links.contains(&link));
        of_link.filter_map(|(outage, _)| outage.silent).fold(0.0, f64::max)
    }

    /// Changed links with new loss fractions.
    pub(crate) fn changed_losses(&mut self, begins: &[usize], ends: &[usize]) -> Vec<(LinkId, f64)> {
        let silent = begins.iter().chain(ends).filter(|&&outage| self.outages[outage].silent.is_some());
        let mut links: Vec<LinkId> = silent.flat_map(|&outage| self.outages[outage].links.clone()).collect();
        links.sort_unstable();
        links.dedup();
        let mut changed = Vec::new();
        for link in links {
            let lost = self.loss(link);
            if std::mem::replace(&mut self.lost[link.index()], lost) != lost {
                changed.push((link, lost));
            }
        }
        changed
    }

    pub(crate) fn blocks(&self, link: LinkId) -> Option<LinkChange> {
        if self.down[link.index()] > 0 {
            Some(LinkChange::Down)
        } else {
            (self.lost[link.index()] >= 1.0).then_some(LinkChange::Silent)
        }
    }

    pub(crate) fn routes(&self, fabric: &Fabric, time: Time) -> Routes {
        self.routes_around(fabric, &self.known, time)
    }

    fn routes_around(&self, fabric: &Fabric, down: &[bool], time: Time) -> Routes {
        let (paths, order) = self.rule;
        Routes::along(fabric, paths, order, &|link| !down[link.index()], &self.fixed_at(time))
    }

    fn fixed_at(&self, time: Time) -> Vec<FixedHops> {
        self.fixed.iter().filter(|one| one.holds_at(time)).map(|one| one.hops.clone()).collect()
    }

    pub(crate) fn starts_rerouted(&self) -> bool {
        self.steps.iter().any(|(time, step)| *time == 0 && matches!(step, Step::Learn(_)))
    }

    /// Links that routing knows to be down at the start.
    pub(crate) fn known_at_start(&self) -> Vec<LinkId> {
        let learns = self.steps.iter().filter(|(time, _)| *time == 0).filter_map(|(_, step)| match step {
            Step::Learn(links) => Some(links),
            _ => None,
        });
        learns.flatten().filter(|(_, down)| *down).map(|&(link, _)| link).collect()
    }

    /// Routes and start of every routing state.
    pub(crate) fn states<'a>(&'a self, fabric: &'a Fabric) -> impl Iterator<Item = (Time, Routes)> + 'a {
        let mut known = vec![false; self.down.len()];
        let learns = self.steps.iter().filter_map(|(time, step)| match step {
            Step::Learn(links) => Some((*time, links.as_slice())),
            Step::Given => Some((*time, [].as_slice())),
            Step::Change { .. } | Step::Hold(_) => None,
        });
        learns.map(move |(time, links)| {
            links.iter().for_each(|&(link, down)| known[link.index()] = down);
            (Time(time), self.routes_around(fabric, &known, Time(time)))
        })
    }
}

/// Order at one time: outages, routing, pauses.
fn steps(resolved: &Resolved, (after, hold): (Option<Time>, HoldTime), links: usize) -> Vec<(u64, Step)> {
    let Resolved { outages, fixed, holds } = resolved;
    let mut times: Vec<Time> = outages.iter().flat_map(|one| [Some(one.at), one.until]).flatten().collect();
    times.sort_unstable();
    times.dedup();
    let mut found = Vec::new();
    // Times of failures and repairs, by link.
    let mut changes: Vec<Vec<(Time, bool)>> = vec![Vec::new(); links];
    for time in times {
        let which = |holds: &dyn Fn(&Outage) -> bool| (0..outages.len()).filter(|&one| holds(&outages[one])).collect();
        found.push((
            time.0,
            Step::Change { begins: which(&|one| one.at == time), ends: which(&|one| one.until == Some(time)) },
        ));
        let in_force = |one: &&Outage| one.silent.is_none() && one.at <= time && one.until.is_none_or(|end| end > time);
        let mut is = vec![false; links];
        for link in outages.iter().filter(in_force).flat_map(|one| &one.links) {
            is[link.index()] = true;
        }
        for (changes, is) in changes.iter_mut().zip(is) {
            if changes.last().is_some_and(|last| last.1) != is {
                changes.push((time, is));
            }
        }
    }
    if let Some(after) = after {
        found.extend(learned(&changes, after, hold));
    }
    let given = fixed.iter().flat_map(|one| [Some(one.from), one.until]).flatten().filter(|time| *time > Time::ZERO);
    let mut given: Vec<u64> = given.map(|time| time.0).collect();
    given.sort_unstable();
    given.dedup();
    found.extend(given.into_iter().map(|time| (time, Step::Given)));
    found.extend(pause::steps(holds));
    found.sort_by_key(|(time, step)| (*time, !matches!(step, Step::Change { .. })));
    found
}

/// Changes that last for the hold time, when routing learns of them.
fn learned(changes: &[Vec<(Time, bool)>], after: Time, hold: HoldTime) -> impl Iterator<Item = (u64, Step)> {
    let mut found: BTreeMap<u64, Vec<(LinkId, bool)>> = BTreeMap::new();
    for (link, changes) in (0u32..).map(LinkId).zip(changes) {
        let mut known = false;
        for (number, &(time, down)) in changes.iter().enumerate() {
            // Routing knows links that are down from the start.
            let (lasts, delay) = match (time, down) {
                (Time::ZERO, _) => (Time::ZERO, Time::ZERO),
                (_, true) => (hold.down, after),
                (_, false) => (hold.up, after),
            };
            let reported = time.0.saturating_add(lasts.0);
            let cancelled = changes.get(number + 1).is_some_and(|next| next.0.0 < reported);
            if !cancelled && down != known {
                known = down;
                found.entry(reported.saturating_add(delay.0)).or_default().push((link, down));
            }
        }
    }
    found.into_iter().map(|(time, links)| (time, Step::Learn(links)))
}

#[cfg(test)]
mod tests {
    use incast_model::fabric::{NodeId, PortId};

    use super::*;

    fn outage(links: &[u32], at: u64, until: Option<u64>) -> Outage {
        let links = links.iter().map(|&link| LinkId(link)).collect();
        Outage { links, at: Time(at), until: until.map(Time), silent: None }
    }

    fn learn(links: &[(u32, bool)]) -> Step {
        Step::Learn(links.iter().map(|&(link, down)| (LinkId(link), down)).collect())
    }

    fn change(begins: &[usize], ends: &[usize]) -> Step {
        Step::Change { begins: begins.to_vec(), ends: ends.to_vec() }
    }

    #[test]
    fn routing_learns_what_changed_and_when() {
        let outages = [outage(&[0, 1], 0, Some(50)), outage(&[1], 50, Some(70)), outage(&[2], 55, None)];
        let resolved = Resolved { outages: outages.to_vec(), ..Resolved::default() };
        let found = steps(&resolved, (Some(Time(10)), HoldTime::default()), 3);
        // Link 1 stays down at 50.
        let expected = vec![
            (0, change(&[0], &[])),
            (0, learn(&[(0, true), (1, true)])),
            (50, change(&[1], &[0])),
            (55, change(&[2], &[])),
            (60, learn(&[(0, false)])),
            (65, learn(&[(2, true)])),
            (70, change(&[], &[1])),
            (80, learn(&[(1, false)])),
        ];
        assert_eq!(found, expected);
        let never = steps(&resolved, (None, HoldTime::default()), 3);
        assert_eq!(never.len(), 4);
        assert!(never.iter().all(|(_, step)| matches!(step, Step::Change { .. })));
    }

    #[test]
    fn changes_that_do_not_last_are_not_reported() {
        // Down from 100 to 130, 200 to 230 and 300 to 390.
        let outages = [outage(&[0], 100, Some(130)), outage(&[0], 200, Some(230)), outage(&[0], 300, Some(390))];
        let resolved = Resolved { outages: outages.to_vec(), ..Resolved::default() };
        let learns = |down, up| {
            let hold = HoldTime { down: Time(down), up: Time(up) };
            let steps = steps(&resolved, (Some(Time(10)), hold), 1).into_iter();
            let changes = steps.filter_map(|(time, step)| match step {
                Step::Learn(links) => Some((time, links[0].1)),
                _ => None,
            });
            changes.collect::<Vec<_>>()
        };
        let each = [(110, true), (140, false), (210, true), (240, false), (310, true), (400, false)];
        assert_eq!(learns(0, 0), each);
        // A repair within 50 cancels the withdrawal.
        assert_eq!(learns(50, 0), [(360, true), (400, false)]);
        // Up for 70 only: routes come back after the last failure.
        assert_eq!(learns(0, 80), [(110, true), (480, false)]);
        assert_eq!(learns(50, 80), [(360, true), (480, false)]);
        assert_eq!(learns(91, 0), []);
    }

    #[test]
    fn given_routes_change_after_links_of_the_same_time() {
        let hops = FixedHops { node: NodeId(0), dst: incast_model::fabric::HostId(0), ports: vec![PortId(1)] };
        let timed =
            |from, until: Option<u64>| TimedHops { hops: hops.clone(), from: Time(from), until: until.map(Time) };
        let fixed = vec![timed(0, Some(50)), timed(50, Some(70)), timed(90, None)];
        let resolved = Resolved { fixed, outages: vec![outage(&[0], 70, None)], ..Resolved::default() };
        let found = steps(&resolved, (None, HoldTime::default()), 1);
        assert_eq!(found, [(50, Step::Given), (70, change(&[0], &[])), (70, Step::Given), (90, Step::Given)]);
        let at = |time| resolved.fixed_at(Time(time)).len();
        assert_eq!([at(0), at(49), at(50), at(70), at(89), at(90)], [1, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn a_link_is_down_while_any_outage_holds_it() {
        let outages = vec![outage(&[0, 1], 1, None), outage(&[1, 2], 2, None)];
        let resolved = Resolved { outages, ..Resolved::default() };
        let mut faults =
            Faults::new(resolved, (None, HoldTime::default()), (Paths::Shortest, NextHopOrder::Port), 1, (3, 6));
        let links = |numbers: &[u32]| numbers.iter().map(|&link| LinkId(link)).collect::<Vec<_>>();
        assert_eq!(faults.change(&[0], &[]), [links(&[0, 1]), links(&[])]);
        assert_eq!(faults.change(&[1], &[]), [links(&[2]), links(&[])]);
        assert_eq!(faults.change(&[], &[0]), [links(&[]), links(&[0])]);
        assert_eq!(faults.blocks(LinkId(1)), Some(LinkChange::Down));
        assert_eq!(faults.change(&[0], &[1]), [links(&[0]), links(&[2])]);
    }

    #[test]
    fn silent_failures_are_not_learnt_of() {
        let silent = Outage { silent: Some(0.5), ..outage(&[0], 5, Some(9)) };
        let worse = Outage { silent: Some(1.0), ..outage(&[0], 5, None) };
        assert_eq!(
            steps(
                &Resolved { outages: vec![silent.clone()], ..Resolved::default() },
                (Some(Time(1)), HoldTime::default()),
                1
            ),
            [(5, change(&[0], &[])), (9, change(&[], &[0]))]
        );
        let resolved = Resolved { outages: vec![silent, worse], ..Resolved::default() };
        let mut faults =
            Faults::new(resolved, (None, HoldTime::default()), (Paths::Shortest, NextHopOrder::Port), 1, (1, 2));
        assert_eq!(faults.change(&[0], &[]), [vec![], vec![]]);
        assert_eq!((faults.loss(LinkId(0)), faults.blocks(LinkId(0))), (0.5, None));
        faults.change(&[1], &[]);
        assert_eq!(faults.loss(LinkId(0)), 1.0);
    }
}
