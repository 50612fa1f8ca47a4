//! Weighted max-min fairness with demands and partial shares of constraints: no rate can rise without lowering one that is no
//! higher (Bertsekas and Gallager, "Data Networks", 2nd edition, section 6.5.2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Participant with a demand.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Largest useful rate, 0 or more; may be infinite.
    pub most: f64,
    /// Weight, more than 0.
    pub weight: f64,
    /// Constraints, each with its share of the rate, more than 0.
    pub under: Vec<(usize, f64)>,
}

impl Demand {
    /// Unbounded demand of weight 1 with its whole rate under each constraint.
    pub fn greedy(under: impl IntoIterator<Item = usize>) -> Self {
        Self { most: f64::INFINITY, weight: 1.0, under: under.into_iter().map(|one| (one, 1.0)).collect() }
    }
}

/// Weighted max-min fair rates, in the unit of the capacities (0 or more, or infinite). Unbounded demands without a finite
/// constraint get infinity.
///
/// Progressive filling: rates rise in proportion to their weights until their demand is met or a constraint is used up. n
/// constraints and demands in e pairs take about (n + e) log n steps.
pub fn max_min(capacities: &[f64], demands: &[Demand]) -> Vec<f64> {
    let mut filling = Filling::new(capacities, demands);
    let mut next = BinaryHeap::new();
    for (index, demand) in demands.iter().enumerate().filter(|(_, demand)| demand.most.is_finite()) {
        next.push(Reverse((Level::of(demand.most / demand.weight), Who::Demand(index))));
    }
    for index in 0..capacities.len() {
        next.extend(filling.level(index).map(|level| Reverse((level, Who::Constraint(index)))));
    }
    while let Some(Reverse((level, who))) = next.pop() {
        match who {
            Who::Demand(index) if filling.rates[index].is_none() => filling.stop(index, demands[index].most),
            Who::Demand(_) => {}
            Who::Constraint(index) => match filling.level(index) {
                // Stopped demands have freed capacity since.
                Some(now) if now > level => next.push(Reverse((now, who))),
                Some(_) => filling.use_up(index, level.value()),
                None => {}
            },
        }
    }
    filling.rates.into_iter().map(|rate| rate.unwrap_or(f64::INFINITY)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Demand(usize),
    Constraint(usize),
}

/// Rate for weight 1; bits of non-negative floats are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Level(u64);

impl Level {
    fn of(value: f64) -> Self {
        Self(value.max(0.0).to_bits())
    }

    const fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

struct Filling<'a> {
    demands: &'a [Demand],
    /// By constraint: capacity left by stopped demands.
    left: Vec<f64>,
    /// By constraint: sum of rising weights times their shares.
    rising: Vec<f64>,
    under: Vec<Vec<usize>>,
    count: Vec<usize>,
    rates: Vec<Option<f64>>,
}

impl<'a> Filling<'a> {
    fn new(capacities: &[f64], demands: &'a [Demand]) -> Self {
        let n = capacities.len();
        let (mut rising, mut under) = (vec![0.0; n], vec![Vec::new(); n]);
        for (index, demand) in demands.iter().enumerate() {
            for &(constraint, share) in &demand.under {
                rising[constraint] += demand.weight * share;
                under[constraint].push(index);
            }
        }
        let count = under.iter().map(Vec::len).collect();
        Self { demands, left: capacities.to_vec(), rising, under, count, rates: vec![None; demands.len()] }
    }

    /// `None` if infinite or without rising demands.
    fn level(&self, constraint: usize) -> Option<Level> {
        let bounded = self.count[constraint] > 0 && self.left[constraint].is_finite();
        bounded.then(|| Level::of(self.left[constraint] / self.rising[constraint]))
    }

    fn use_up(&mut self, constraint: usize, level: f64) {
        for index in std::mem::take(&mut self.under[constraint]) {
            if self.rates[index].is_none() {
                self.stop(index, self.demands[index].weight * level);
            }
        }
    }

    fn stop(&mut self, index: usize, rate: f64) {
        let demand = &self.demands[index];
        self.rates[index] = Some(rate);
        for &(constraint, share) in &demand.under {
            self.left[constraint] -= rate * share;
            self.rising[constraint] -= demand.weight * share;
            self.count[constraint] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: f64 = f64::INFINITY;

    fn demand(most: f64, weight: f64, under: &[(usize, f64)]) -> Demand {
        Demand { most, weight, under: under.to_vec() }
    }

    fn greedy(under: &[&[usize]]) -> Vec<Demand> {
        under.iter().map(|under| Demand::greedy(under.iter().copied())).collect()
    }

    #[test]
    fn one_constraint_is_shared_evenly_or_by_weight() {
        assert_eq!(max_min(&[450.0], &greedy(&[&[0], &[0], &[0]])), [150.0; 3]);
        let hose = [demand(100.0, 1.0, &[(0, 1.0)]), demand(ALL, 1.0, &[(0, 1.0)]), demand(ALL, 1.0, &[(0, 1.0)])];
        assert_eq!(max_min(&[450.0], &hose), [100.0, 175.0, 175.0]);
        let weighted = [demand(ALL, 3.0, &[(0, 1.0)]), demand(ALL, 1.0, &[(0, 1.0)])];
        assert_eq!(max_min(&[1000.0], &weighted), [750.0, 250.0]);
        let enough = [demand(300.0, 3.0, &[(0, 1.0)]), demand(200.0, 1.0, &[(0, 1.0)])];
        assert_eq!(max_min(&[1000.0], &enough), [300.0, 200.0]);
    }

    #[test]
    fn textbook_line_of_links() {
        // Bertsekas and Gallager, figure 6.14.
        let rates = max_min(&[10.0, 20.0, 6.0], &greedy(&[&[0, 1, 2], &[0], &[1], &[2], &[2]]));
        assert_eq!(rates, [2.0, 8.0, 18.0, 2.0, 2.0]);
    }

    #[test]
    fn a_bottleneck_elsewhere_leaves_room() {
        let mut under: Vec<Vec<usize>> = (0..10).map(|to| if to == 0 { vec![0, 2] } else { vec![0] }).collect();
        under.push(vec![1, 2]);
        let demands: Vec<Demand> = under.into_iter().map(Demand::greedy).collect();
        let rates = max_min(&[450.0, 450.0, 450.0], &demands);
        assert_eq!((rates[0], rates[10]), (45.0, 405.0));
    }

    #[test]
    fn shares_of_several_paths() {
        let rates = max_min(&[10.0, 10.0], &[demand(ALL, 1.0, &[(0, 0.5), (1, 0.5)]), demand(ALL, 1.0, &[(0, 1.0)])]);
        // 0.5 t + t = 10.
        assert!(rates.iter().all(|rate| (rate - 10.0 / 1.5).abs() < 1e-12), "{rates:?}");
    }

    #[test]
    fn extremes() {
        assert_eq!(max_min(&[], &[]), [0.0; 0]);
        assert_eq!(max_min(&[0.0], &greedy(&[&[0]])), [0.0]);
        assert_eq!(max_min(&[ALL], &greedy(&[&[0], &[]])), [ALL; 2]);
        assert_eq!(max_min(&[ALL], &[demand(5.0, 1.0, &[(0, 1.0)])]), [5.0]);
        assert_eq!(max_min(&[4.0], &[demand(0.0, 1.0, &[(0, 1.0)]), demand(ALL, 1.0, &[(0, 1.0)])]), [0.0, 4.0]);
        assert_eq!(max_min(&[4.0], &greedy(&[&[0, 0]])), [2.0]);
    }

    fn problem() -> impl Strategy<Value = (Vec<f64>, Vec<Demand>)> {
        let most = prop_oneof![Just(ALL), (0.0..50.0f64)];
        let one = (most, 0.1..10.0f64, proptest::collection::btree_map(0usize..8, 0.05..1.0f64, 1..5));
        let one = one.prop_map(|(most, weight, under)| Demand { most, weight, under: under.into_iter().collect() });
        (proptest::collection::vec(0.0..100.0f64, 8), proptest::collection::vec(one, 1..40))
    }

    proptest! {
        #[test]
        fn rates_are_feasible_and_none_can_be_raised((capacities, demands) in problem()) {
            let rates = max_min(&capacities, &demands);
            let mut used = vec![0.0; capacities.len()];
            for (demand, rate) in demands.iter().zip(&rates) {
                prop_assert!((0.0..=demand.most).contains(rate), "{rate} of {}", demand.most);
                demand.under.iter().for_each(|&(constraint, share)| used[constraint] += rate * share);
            }
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
            for (used, capacity) in used.iter().zip(&capacities) {
                prop_assert!(used <= capacity || close(*used, *capacity), "{used} of {capacity}");
            }
            for (demand, rate) in demands.iter().zip(&rates) {
                let level = |demand: &Demand, rate: f64| rate / demand.weight;
                let bottleneck = |constraint: usize| {
                    let full = close(used[constraint], capacities[constraint]);
                    let there = |other: &Demand| other.under.iter().any(|&(one, _)| one == constraint);
                    let others = demands.iter().zip(&rates).filter(|(other, _)| there(other));
                    let highest = others.map(|(other, rate)| level(other, *rate)).fold(0.0, f64::max);
                    full && (level(demand, *rate) >= highest || close(level(demand, *rate), highest))
                };
                let stopped = demand.under.iter().any(|&(constraint, _)| bottleneck(constraint));
                prop_assert!(*rate == demand.most || stopped, "{demand:?} {rate}");
            }
        }
    }
}
