//! Memory management unit: shared buffer, reserves, headroom, XOFF and XON.
//!
//! A packet counts at its ingress port and priority: in the reserve, then in the shared buffer up to the threshold, then in the
//! headroom (HPCC authors' ns-3, `switch-mmu.cc` at commit 9f4be2a).

use super::params::{PfcMode, SwitchParams};

const ALPHA_BITS: u32 = 24;

pub(crate) fn fixed_alpha(alpha: f64) -> u32 {
    (alpha * f64::from(1u32 << ALPHA_BITS)).round() as u32
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Buffer {
    /// Buffer less headrooms and reserves; may be negative.
    shared: i64,
    used: i64,
    reserve: u32,
    /// Bytes of a cell; 0: exact bytes.
    cell: u32,
    /// At least 1: XON needs less than XOFF.
    resume_offset: u32,
    fixed: Option<u32>,
    /// See [`fixed_alpha`].
    lossy_alpha: u32,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ingress {
    /// In reserve and shared buffer.
    pub(crate) bytes: u32,
    pub(crate) headroom: u32,
    /// Maximum of `bytes + headroom`.
    pub(crate) peak: u32,
    pub(crate) peak_headroom: u32,
    pub(crate) headroom_limit: u32,
    /// See [`fixed_alpha`].
    pub(crate) alpha: u32,
    pub(crate) xoffs: u32,
    pub(crate) paused: bool,
    /// If true, the peer stays paused (`network.pause`).
    pub(crate) held: bool,
}

impl Buffer {
    pub(crate) fn new(shared: i64, params: &SwitchParams) -> Self {
        Self {
            shared,
            used: 0,
            reserve: params.reserve.0 as u32,
            cell: params.cell.map_or(0, |cell| cell.0 as u32),
            resume_offset: params.resume_offset.0.clamp(1, u64::from(u32::MAX)) as u32,
            fixed: match params.pfc_mode {
                PfcMode::Static { xoff } => Some(xoff.0.min(u64::from(u32::MAX)) as u32),
                PfcMode::Dynamic { .. } => None,
            },
            lossy_alpha: fixed_alpha(params.lossy_alpha),
        }
    }

    /// Admits everything; for ports with own buffers.
    pub(crate) fn unused() -> Self {
        Self { shared: i64::MAX, reserve: u32::MAX, ..Self::default() }
    }

    /// Bytes that a packet occupies.
    #[inline]
    pub(crate) fn occupied(&self, len: u32) -> u32 {
        if self.cell == 0 { len } else { len.next_multiple_of(self.cell) }
    }

    #[inline]
    fn free(&self) -> u64 {
        (self.shared - self.used).max(0) as u64
    }

    /// In bytes above the reserve.
    #[inline]
    fn threshold(&self, ingress: &Ingress) -> u64 {
        match self.fixed {
            Some(xoff) => u64::from(xoff),
            None => (self.free() * u64::from(ingress.alpha)) >> ALPHA_BITS,
        }
    }

    #[inline]
    fn above_reserve(&self, ingress: &Ingress) -> u64 {
        u64::from(ingress.bytes.saturating_sub(self.reserve))
    }

    /// True if a packet forwarded immediately changes no counter.
    #[inline]
    pub(crate) fn passes(&self, ingress: &Ingress, len: u32) -> bool {
        ingress.bytes + len <= self.reserve && !ingress.paused && self.used < self.shared
    }

    #[inline]
    pub(crate) fn admit_lossless(&mut self, ingress: &mut Ingress, len: u32) -> bool {
        let stored = ingress.bytes + len;
        if stored > self.reserve {
            let threshold = self.threshold(ingress);
            let beyond = u64::from(stored - self.reserve);
            if ingress.headroom + len > ingress.headroom_limit
                && self.above_reserve(ingress) + u64::from(len) > threshold
            {
                return false;
            }
            if beyond > threshold {
                ingress.headroom += len;
                ingress.peak_headroom = ingress.peak_headroom.max(ingress.headroom);
                ingress.peak = ingress.peak.max(ingress.bytes + ingress.headroom);
                return true;
            }
            self.used += beyond.min(u64::from(len)) as i64;
        }
        ingress.bytes = stored;
        ingress.peak = ingress.peak.max(stored + ingress.headroom);
        true
    }

    #[inline]
    pub(crate) fn has_lossy_room(&self, len: u32, queued: u32) -> bool {
        let limit = (self.free() * u64::from(self.lossy_alpha)) >> ALPHA_BITS;
        u64::from(queued) + u64::from(len) <= limit
    }

    #[inline]
    pub(crate) fn admit_lossy(&mut self, ingress: &mut Ingress, len: u32, queued: u32) -> bool {
        if !self.has_lossy_room(len, queued) {
            return false;
        }
        let stored = ingress.bytes + len;
        self.used += i64::from(stored.saturating_sub(self.reserve).min(len));
        ingress.bytes = stored;
        ingress.peak = ingress.peak.max(stored);
        true
    }

    /// Frees headroom first, then shared buffer, then reserve.
    #[inline]
    pub(crate) fn release(&mut self, ingress: &mut Ingress, len: u32) {
        let from_headroom = ingress.headroom.min(len);
        ingress.headroom -= from_headroom;
        let rest = len - from_headroom;
        self.used -= i64::from(rest.min(ingress.bytes.saturating_sub(self.reserve)));
        ingress.bytes -= rest;
    }

    #[inline]
    pub(crate) fn wants_xoff(&self, ingress: &Ingress) -> bool {
        !ingress.paused && (ingress.headroom > 0 || self.above_reserve(ingress) >= self.threshold(ingress))
    }

    /// Headroom and shared bytes once all but `kept` bytes have left.
    pub(crate) fn left_of(&self, ingress: &Ingress, kept: u32) -> (u32, u64) {
        let leaves = (ingress.bytes + ingress.headroom).saturating_sub(kept);
        let headroom = ingress.headroom.saturating_sub(leaves);
        (headroom, u64::from((kept - headroom.min(kept)).saturating_sub(self.reserve)))
    }

    /// True if a paused peer could resume with `kept` bytes queued and `used` shared bytes.
    pub(crate) fn resumes_with(&self, ingress: &Ingress, kept: u32, used: u64) -> bool {
        let (headroom, above) = self.left_of(ingress, kept);
        let threshold = match self.fixed {
            Some(xoff) => u64::from(xoff),
            None => ((self.shared - used as i64).max(0) as u64 * u64::from(ingress.alpha)) >> ALPHA_BITS,
        };
        headroom == 0 && (above == 0 || above + u64::from(self.resume_offset) <= threshold)
    }

    #[inline]
    pub(crate) fn wants_xon(&self, ingress: &Ingress) -> bool {
        let above = self.above_reserve(ingress);
        ingress.paused
            && !ingress.held
            && ingress.headroom == 0
            && (above == 0 || above + u64::from(self.resume_offset) <= self.threshold(ingress))
    }
}

#[cfg(test)]
mod tests {
    use incast_model::units::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn buffer(shared: i64) -> Buffer {
        Buffer::new(shared, &SwitchParams::default())
    }

    fn ingress(headroom_limit: u32) -> Ingress {
        Ingress { headroom_limit, alpha: fixed_alpha(0.125), ..Ingress::default() }
    }

    #[test]
    fn pauses_where_shared_meets_its_threshold() {
        // Two equally loaded ports, alpha 1/8: each stops at S/2 with S = B' * 2a / (1 + 2a) = 20 % of B'.
        let (mut buffer, mut ports) = (buffer(1_000_000), [ingress(50_000); 2]);
        let mut stored = [0u64; 2];
        'filling: loop {
            for port in 0..2 {
                assert!(buffer.admit_lossless(&mut ports[port], 1000));
                stored[port] += 1000;
                if buffer.wants_xoff(&ports[port]) {
                    break 'filling;
                }
            }
        }
        let shared = stored.iter().sum::<u64>() - 2 * 4096;
        assert!((195_000..=205_000).contains(&shared), "{shared}");
    }

    #[test]
    fn headroom_is_used_after_xoff_and_then_full() {
        let (mut buffer, mut port) = (buffer(80_000), ingress(3000));
        while !buffer.wants_xoff(&port) {
            assert!(buffer.admit_lossless(&mut port, 1000));
        }
        port.paused = true;
        let taken = (0..10).filter(|_| buffer.admit_lossless(&mut port, 1000)).count();
        assert!((2..=4).contains(&taken), "{taken}");
        assert!(port.headroom <= 3000);
        assert!(!buffer.wants_xon(&port));
        while !buffer.wants_xon(&port) {
            buffer.release(&mut port, 1000);
        }
        assert_eq!(port.headroom, 0);
    }

    #[test]
    fn xon_needs_less_than_xoff_without_an_offset() {
        let dynamic = SwitchParams::default().pfc_mode;
        for pfc_mode in [PfcMode::Static { xoff: Bytes(10_000) }, dynamic] {
            let params = SwitchParams { pfc_mode, resume_offset: Bytes(0), ..SwitchParams::default() };
            let (mut buffer, mut port) = (Buffer::new(90_000, &params), ingress(0));
            // The dynamic threshold: an eighth of the 80 kB left.
            assert!([4096, 10_000].into_iter().all(|len| buffer.admit_lossless(&mut port, len)));
            assert!(buffer.wants_xoff(&port));
            port.paused = true;
            assert!(!buffer.wants_xon(&port));
            buffer.release(&mut port, 1);
            assert!(buffer.wants_xon(&port));
        }
    }

    #[test]
    fn reserves_of_further_priorities_come_on_top_of_the_shared_buffer() {
        let (mut buffer, mut lanes) = (buffer(1), [ingress(0); 2]);
        for lane in &mut lanes {
            assert!(buffer.admit_lossless(lane, 4096));
        }
        assert_eq!(buffer.used, 0);
    }

    #[test]
    fn packets_occupy_whole_cells() {
        let params = SwitchParams { cell: Some(Bytes(208)), ..SwitchParams::default() };
        let cells = Buffer::new(1_000_000, &params);
        assert_eq!([1, 64, 208, 209, 1048].map(|size| cells.occupied(size)), [208, 208, 208, 416, 1248]);
        assert_eq!(buffer(1_000_000).occupied(1048), 1048);
    }

    #[test]
    fn lossy_queues_share_the_free_buffer() {
        let (mut buffer, mut port) = (buffer(100_000), ingress(0));
        let mut queued = 0;
        while buffer.admit_lossy(&mut port, 1000, queued) {
            queued += 1000;
        }
        // alpha 1: the queue takes half of the buffer (Choudhury and Hahne), plus the reserve.
        assert!((49_000..=55_000).contains(&queued), "{queued}");
    }

    proptest! {
        #[test]
        fn books_balance(steps in prop::collection::vec((0usize..3, any::<bool>()), 1..600)) {
            let (mut buffer, mut ports) = (buffer(60_000), [ingress(5000); 3]);
            let mut held = [0u32; 3];
            for (port, arrival) in steps {
                if arrival {
                    if buffer.admit_lossless(&mut ports[port], 1000) {
                        held[port] += 1;
                    }
                } else if held[port] > 0 {
                    buffer.release(&mut ports[port], 1000);
                    held[port] -= 1;
                }
                let shared: u64 = ports.iter().map(|p| buffer.above_reserve(p)).sum();
                prop_assert_eq!(buffer.used, shared as i64);
                for (p, h) in ports.iter().zip(held) {
                    prop_assert_eq!(p.bytes + p.headroom, h * 1000);
                }
            }
        }
    }
}
