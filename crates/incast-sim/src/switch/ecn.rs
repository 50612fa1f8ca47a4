//! ECN marking by instantaneous queue length (RED without averaging; DCQCN, SIGCOMM 2015, section 3.1).

use incast_model::units::Rate;

use crate::marking::EcnParams;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EcnPort {
    kmin: u32,
    kmax: u32,
    pmax: f64,
}

impl EcnPort {
    /// Unreachable thresholds if marking is off.
    pub(crate) fn new(params: &EcnParams, rate: Rate) -> Self {
        let never = Self { kmin: u32::MAX, kmax: u32::MAX, pmax: 0.0 };
        if !params.enabled {
            return never;
        }
        let port = params.at(rate);
        Self { kmin: bytes(port.kmin.0), kmax: bytes(port.kmax.0), pmax: port.pmax }
    }

    #[inline]
    pub(crate) fn verdict(&self, queued: u32) -> Verdict {
        if queued <= self.kmin {
            Verdict::Never
        } else if queued > self.kmax {
            Verdict::Always
        } else {
            // In the order of the HPCC authors' ns-3 (`switch-mmu.cc`, ShouldSendCN).
            let slope = self.pmax * f64::from(queued - self.kmin) / f64::from(self.kmax - self.kmin);
            Verdict::WithProbability(slope)
        }
    }
}

fn bytes(value: u64) -> u32 {
    value.min(u64::from(u32::MAX)) as u32
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    Never,
    Always,
    WithProbability(f64),
}

#[cfg(test)]
mod tests {
    use incast_model::units::Bytes;

    use super::*;
    use crate::switch::EcnThreshold;

    #[test]
    fn thresholds_scale_with_the_rate_unless_given() {
        let mut params = EcnParams::default();
        assert_eq!(EcnPort::new(&params, Rate::gbps(400)).kmin, 1_600_000);
        let exact = EcnThreshold { rate: Rate::gbps(400), kmin: Bytes(7), kmax: Bytes(9), pmax: 1.0 };
        params.by_rate.push(exact);
        assert_eq!(EcnPort::new(&params, Rate::gbps(400)).kmin, 7);
        assert_eq!(EcnPort::new(&params, Rate::gbps(25)).kmax, 400_000);
        params.enabled = false;
        assert_eq!(EcnPort::new(&params, Rate::gbps(400)).verdict(4_000_000_000), Verdict::Never);
    }

    #[test]
    fn comparisons_are_strict() {
        let port = EcnPort { kmin: 100, kmax: 300, pmax: 0.2 };
        assert_eq!(port.verdict(100), Verdict::Never);
        assert_eq!(port.verdict(200), Verdict::WithProbability(0.1));
        assert_eq!(port.verdict(300), Verdict::WithProbability(0.2));
        assert_eq!(port.verdict(301), Verdict::Always);
        let step = EcnPort { kmin: 300, kmax: 300, pmax: 1.0 };
        assert_eq!((step.verdict(300), step.verdict(301)), (Verdict::Never, Verdict::Always));
    }
}
