use super::partition::Want;

/// In bit/s; infinite: unknown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    pub(super) demand: f64,
    offer: f64,
    of_sender: f64,
    of_receiver: f64,
    pub(crate) guarantee: f64,
}

impl Default for Shares {
    fn default() -> Self {
        let unknown = f64::INFINITY;
        Self { demand: unknown, offer: unknown, of_sender: unknown, of_receiver: unknown, guarantee: 0.0 }
    }
}

impl Shares {
    pub(super) fn begin(equal: f64) -> Self {
        Self { of_sender: equal, guarantee: equal, ..Self::default() }
    }

    pub(super) const fn want(&self) -> Want {
        Want { demand: self.demand, offer: self.offer }
    }

    /// True for the receiver's first message.
    pub(super) fn hear(&mut self, offer: f64, of_receiver: f64) -> bool {
        let first = !self.of_receiver.is_finite();
        (self.offer, self.of_receiver) = (offer, of_receiver);
        self.guarantee = self.of_sender.min(of_receiver);
        first
    }

    /// `equal`: assumed of the receiver before its first message.
    pub(super) fn take(&mut self, of_sender: f64, equal: f64) {
        self.of_sender = of_sender;
        let of_receiver = if self.of_receiver.is_finite() { self.of_receiver } else { equal };
        self.guarantee = of_sender.min(of_receiver);
    }
}
