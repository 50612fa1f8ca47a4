//! Receiver of pHost (section 3; YAPS, `ext/capabilityhost.cpp`): choice of the next token.

use super::order::{Place, Queue};
use super::params::{PhostHold, PhostOrder, PhostParams};
use crate::kernel::ReceivedId;
use crate::transport::segments::Packets;
use crate::transport::{ByFlow, Ranges};

#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) packet: u64,
    pub(super) reissue: u64,
    pub(super) pass_over: u64,
}

#[derive(Debug)]
pub(super) struct Inbound {
    packets: Packets,
    label: u16,
    came: Ranges,
    missing: u64,
    /// Free tokens included.
    issued: u64,
    /// Tokens to issue before a wait for data.
    goal: u64,
    /// First token neither answered by data nor written off.
    answered: u64,
    /// No further tokens before, once all are issued.
    quiet_until: Option<u64>,
    last_issue: u64,
    cursor: u64,
    place: Place<ReceivedId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) flow: ReceivedId,
    pub(super) seq: u64,
    pub(super) number: u64,
    pub(super) left: u64,
}

#[derive(Debug)]
pub(super) struct Pacer {
    queue: Queue<ReceivedId>,
    /// Next search for a flow; [`u64::MAX`] for never.
    pub(super) due: u64,
    waits: bool,
    /// Packet times kept free for data of free tokens.
    hold: u64,
}

impl Default for Pacer {
    fn default() -> Self {
        Self { queue: Queue::default(), due: u64::MAX, waits: false, hold: 0 }
    }
}

impl Inbound {
    /// `number`: the token's. True if the packet is new.
    pub(super) fn take(&mut self, seq: u64, len: u64, number: u64) -> bool {
        self.answered = self.answered.max(number + 1);
        let new = self.came.insert(seq, seq + len) > 0;
        self.missing -= u64::from(new);
        new
    }

    pub(super) const fn is_whole(&self) -> bool {
        self.missing == 0
    }

    /// From the cursor on, cyclically.
    fn next_missing(&mut self) -> u64 {
        let ahead = self.came.first_missing(self.cursor);
        let seq = if ahead < self.packets.size { ahead } else { self.came.first_missing(0) };
        self.cursor = seq + self.packets.len(seq);
        seq
    }

    /// First byte of a token now, or the time to look again.
    fn grant(&mut self, now: u64, window: u64, times: &Times) -> Result<u64, u64> {
        if let Some(until) = self.quiet_until {
            if until > now {
                return Err(until);
            }
            self.quiet_until = None;
            self.goal += self.missing;
        }
        // Others get its turns for a while.
        if self.issued + 1 > self.answered + window {
            let patience = self.last_issue + times.pass_over;
            if now < patience {
                return Err(patience);
            }
            self.answered = self.issued + 1 - window;
        }
        let seq = self.next_missing();
        self.issued += 1;
        self.last_issue = now;
        if self.issued == self.goal {
            self.quiet_until = Some(now + times.reissue);
        }
        Ok(seq)
    }
}

impl Pacer {
    /// `now` if the search starts now; `None` if it is planned anyway.
    pub(super) fn announce(
        &mut self,
        flows: &mut ByFlow<ReceivedId, Inbound>,
        (flow, label): (ReceivedId, u16),
        packets: Packets,
        now: u64,
        (params, times): (&PhostParams, &Times),
    ) -> Option<u64> {
        let (count, free) = (packets.count(), params.free(packets.count()));
        let label = if params.order == PhostOrder::LabelFair { label } else { 0 };
        let key = if params.order == PhostOrder::Fifo { 0 } else { count };
        let inbound = Inbound {
            packets,
            label,
            came: Ranges::default(),
            missing: count,
            issued: free,
            goal: count,
            answered: 0,
            quiet_until: (free == count).then_some(now + 2 * free * times.packet),
            last_issue: now,
            cursor: (free * packets.mss).min(packets.size),
            place: self.queue.insert(label, key, flow),
        };
        flows.insert(flow, inbound);
        self.hold = match params.hold {
            PhostHold::All => self.hold + free,
            PhostHold::Last => free,
        };
        (self.due == u64::MAX || self.waits).then(|| {
            (self.due, self.waits) = (now, false);
            now
        })
    }

    pub(super) fn update(&mut self, inbound: &mut Inbound, order: PhostOrder) {
        if inbound.is_whole() {
            self.queue.remove(inbound.place);
        } else if order != PhostOrder::Fifo {
            inbound.place = self.queue.change(inbound.place, inbound.missing);
        }
    }

    /// Returns a token to send; plans the next search.
    pub(super) fn tick(
        &mut self,
        flows: &mut ByFlow<ReceivedId, Inbound>,
        now: u64,
        params: &PhostParams,
        times: &Times,
    ) -> Option<Grant> {
        (self.due, self.waits) = (now + times.packet, false);
        if self.hold > 0 {
            self.hold -= 1;
            return None;
        }
        let (mut again, mut granted) = (u64::MAX, None);
        for flow in self.queue.iter() {
            let inbound = flows.get_mut(flow).expect("flows in the queue are known");
            match inbound.grant(now, params.window.into(), times) {
                Ok(seq) => {
                    let grant = Grant { flow, seq, number: inbound.issued - 1, left: inbound.missing };
                    granted = Some((grant, inbound.label));
                    break;
                }
                Err(later) => again = again.min(later),
            }
        }
        match granted {
            Some((grant, label)) => {
                self.queue.served_label(label);
                Some(grant)
            }
            None => {
                (self.due, self.waits) = (again, true);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times { packet: 10, reissue: 90, pass_over: 250 };

    fn packets(count: u64) -> Packets {
        Packets { size: 1000 * count, mss: 1000 }
    }

    struct Host {
        pacer: Pacer,
        flows: ByFlow<ReceivedId, Inbound>,
        params: PhostParams,
    }

    impl Host {
        fn new(params: PhostParams) -> Self {
            Self { pacer: Pacer::default(), flows: ByFlow::new(8), params }
        }

        fn announce(&mut self, flow: u32, count: u64, now: u64) -> Option<u64> {
            let label = (flow % 2) as u16;
            self.pacer.announce(&mut self.flows, (ReceivedId(flow), label), packets(count), now, (&self.params, &TIMES))
        }

        fn run(&mut self, end: u64) -> Vec<(u64, u32, u64)> {
            let mut granted = Vec::new();
            while self.pacer.due < end {
                let now = self.pacer.due;
                if let Some(grant) = self.pacer.tick(&mut self.flows, now, &self.params, &TIMES) {
                    granted.push((now, grant.flow.0, grant.seq / 1000));
                }
            }
            granted
        }

        fn take(&mut self, flow: u32, packet: u64, number: u64) {
            let inbound = self.flows.get_mut(ReceivedId(flow)).unwrap();
            if inbound.take(1000 * packet, 1000, number) {
                self.pacer.update(inbound, self.params.order);
            }
        }
    }

    #[test]
    fn a_long_flow_gets_a_token_per_packet_time_until_eight_are_unanswered() {
        let mut host = Host::new(PhostParams::default());
        assert_eq!(host.announce(0, 20, 5), Some(5));
        let granted = host.run(300);
        assert_eq!(granted[..3], [(5, 0, 0), (15, 0, 1), (25, 0, 2)]);
        assert_eq!(granted[7..], [(75, 0, 7)]);
        host.take(0, 0, 0);
        host.take(0, 1, 1);
        assert_eq!(host.run(346), [(325, 0, 8), (335, 0, 9)]);
        assert_eq!(host.run(800)[..1], [(585, 0, 10)], "forgiven: as if seven were unanswered");
    }

    #[test]
    fn free_tokens_hold_others_back_and_are_waited_for() {
        let mut host = Host::new(PhostParams::default());
        host.announce(0, 3, 0);
        // Three packet times for free data; no token until twice that after the announcement.
        assert_eq!(host.run(59), []);
        host.take(0, 1, 1);
        assert_eq!(host.run(90), [(60, 0, 0), (70, 0, 2)], "what is missing");
        host.take(0, 0, 3);
        host.take(0, 2, 4);
        assert!(host.flows.get(ReceivedId(0)).unwrap().is_whole());
        assert_eq!(host.run(1000), []);
    }

    #[test]
    fn the_flow_that_lacks_least_goes_first() {
        let mut host = Host::new(PhostParams::default());
        host.announce(0, 20, 0);
        assert_eq!(host.run(15), [(0, 0, 0), (10, 0, 1)]);
        assert_eq!(host.announce(2, 10, 12), None, "the pacer is under way");
        assert_eq!(host.run(40), [(20, 2, 0), (30, 2, 1)]);
        let mut first_come = Host::new(PhostParams { order: PhostOrder::Fifo, ..PhostParams::default() });
        first_come.announce(0, 20, 0);
        first_come.announce(2, 10, 0);
        assert!(first_come.run(60).iter().all(|(_, flow, _)| *flow == 0));
        let mut fair = Host::new(PhostParams { order: PhostOrder::LabelFair, ..PhostParams::default() });
        for (flow, count) in [(0, 20), (2, 15), (1, 30)] {
            fair.announce(flow, count, 0);
        }
        assert_eq!(fair.run(40).iter().map(|(_, flow, _)| *flow).collect::<Vec<_>>(), [2, 1, 2, 1]);
    }

    #[test]
    fn the_last_announcement_counts_where_yaps_is_followed() {
        let mut host = Host::new(PhostParams { hold: PhostHold::Last, ..PhostParams::default() });
        host.announce(0, 8, 0);
        host.announce(1, 9, 0);
        assert_eq!(host.run(5), [(0, 1, 0)], "a long flow has no free tokens: nothing is held back");
        let mut all = Host::new(PhostParams::default());
        all.announce(0, 8, 0);
        all.announce(1, 9, 0);
        assert_eq!(all.run(85), [(80, 1, 0)]);
    }
}
