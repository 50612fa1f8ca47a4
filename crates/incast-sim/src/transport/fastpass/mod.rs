//! Fastpass (Perry et al., "Fastpass: A Centralized 'Zero-Queue' Datacenter Network", SIGCOMM 2014) as in YAPS
//! (`ext/fastpass*.cpp`): an arbiter on a host fills the slots of each epoch; messages cross the fabric.

mod arbiter;
mod params;
mod paths;

use std::collections::VecDeque;

use arbiter::Arbiter;
use incast_model::fabric::Fabric;
pub use params::{FastpassAlign, FastpassOrder, FastpassParams, FastpassPaths};
use paths::Ways;

use super::slotted::acknowledge_each;
use super::stack::{Incoming, Path, Stack, To};
use super::{ByFlow, Endpoint, Job, Reassembly, Scope, Slotted};
use crate::kernel::{FlowId, IdVec, Kind, LocalPort, NONE, ReceivedId, SentId, Word};

/// Requests in a row until the waiting time stays at 2^6 times `patience`.
const MOST_DOUBLINGS: u32 = 6;

#[derive(Debug)]
pub(crate) struct Fastpass {
    params: FastpassParams,
    host: u32,
    /// In ps.
    epoch: u64,
    central: Option<Box<Central>>,
    senders: ByFlow<SentId, Slotted>,
    receivers: IdVec<ReceivedId, Reassembly>,
}

#[derive(Debug)]
struct Central {
    nic: LocalPort,
    arbiter: Arbiter,
    awake: bool,
    /// In order, and when each is computed.
    computed: VecDeque<Schedule>,
    busy_until: u64,
}

#[derive(Debug)]
struct Schedule {
    begin: u64,
    host: u32,
    slots: Vec<(u64, u64)>,
}

impl FastpassParams {
    /// False if the fabric lacks the paths to allocate.
    pub(super) fn fits(&self, fabric: &Fabric) -> bool {
        self.paths == FastpassPaths::Balanced || Ways::new(fabric).is_ok()
    }
}

impl Endpoint for Fastpass {
    type Params = FastpassParams;

    fn new(params: &FastpassParams, scope: Scope) -> Self {
        Self {
            params: params.clone(),
            host: NONE,
            epoch: 0,
            central: None,
            senders: ByFlow::new(scope.sent),
            receivers: vec![Reassembly::default(); scope.received].into(),
        }
    }

    fn start(&mut self, stack: &mut impl Stack, own: SentId) {
        self.senders.insert(own, Slotted::new(stack.packets_sent(own)));
        self.ask(stack, own);
    }

    fn receive(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        match packet.kind {
            Kind::Request => self.receive_request(stack, packet),
            Kind::Schedule => self.receive_schedule(stack, packet),
            Kind::Segment => acknowledge_each(&mut self.receivers, stack, packet, self.params.control_priority),
            _ => self.receive_ack(stack, packet),
        }
    }

    /// No slots came for too long, or last packets lack ACKs.
    fn timer(&mut self, stack: &mut impl Stack, own: SentId) {
        stack.count_timeout(own);
        self.ask(stack, own);
    }

    fn task(&mut self, stack: &mut impl Stack, _nic: LocalPort, job: Job) {
        match job {
            Job::Slot(own, path) => self.use_slot(stack, own, path),
            Job::Epoch => self.fill_epoch(stack),
            _ => {
                if let Some(central) = &mut self.central
                    && let Some(schedule) = central.computed.pop_front()
                {
                    let nic = central.nic;
                    self.send_schedule(stack, nic, schedule);
                }
            }
        }
    }

    fn may_end(&self, own: SentId, _end: u64, acks: impl Iterator<Item = u64>) -> bool {
        self.senders.get(own).is_none_or(|sender| acks.count() as u64 >= sender.missing())
    }

    fn flows(&self) -> impl Iterator<Item = (SentId, u64)> {
        self.senders.iter().map(|(own, _)| (own, u64::MAX))
    }
}

impl Fastpass {
    pub(crate) fn place(&mut self, host: u32, packet: u64, here: Option<(LocalPort, &Fabric)>) {
        let packets = f64::from(self.params.epoch_packets) + self.params.epoch_slack;
        self.epoch = (packet as f64 * packets).round() as u64;
        self.host = host;
        self.central = here.map(|(nic, fabric)| {
            let mut arbiter = Arbiter::new(self.params.order, fabric.hosts().len());
            if self.params.paths == FastpassPaths::Allocated {
                arbiter.ways = Ways::new(fabric).ok();
            }
            Box::new(Central { nic, arbiter, awake: false, computed: VecDeque::new(), busy_until: 0 })
        });
    }

    fn ask(&mut self, stack: &mut impl Stack, own: SentId) {
        let Some(sender) = self.senders.get_mut(own) else { return };
        let (left, reminds) = (sender.ask(), sender.tries > 0);
        let patience = (u64::from(self.params.patience) * self.epoch) << sender.tries.min(MOST_DOUBLINGS);
        sender.tries += 1;
        stack.set_timer(own, stack.now() + patience);
        self.send_request(stack, own, left, reminds);
    }

    /// `reminds`: the last request brought no slot.
    fn send_request(&self, stack: &mut impl Stack, own: SentId, left: u64, reminds: bool) {
        let mut packet = stack.control(Kind::Request, self.params.control_priority);
        packet.seq = left;
        packet.word = Word::with_reminder(reminds);
        packet.path = Path::Any;
        stack.send(To::Host(self.host, stack.flow_of(own), stack.nic_of(own)), packet);
    }

    fn receive_request(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let Some(central) = &mut self.central else { return };
        let flow = stack.flow(packet.flow);
        let ends = (flow.src.0, flow.dst.0);
        let reminds = packet.word.reminds().then_some(stack.now() / self.epoch);
        central.arbiter.request(packet.flow, ends, packet.seq, reminds);
        if !central.awake && !central.arbiter.is_idle() {
            central.awake = true;
            let next = stack.now().div_ceil(self.epoch) * self.epoch;
            stack.plan(central.nic, next, Job::Epoch);
        }
    }

    fn fill_epoch(&mut self, stack: &mut impl Stack) {
        let Some(central) = &mut self.central else { return };
        let (params, now, nic) = (&self.params, stack.now(), central.nic);
        let computing = params.processing.0 + params.processing_per_request.0 * central.arbiter.requests;
        central.busy_until = central.busy_until.max(now) + computing;
        let schedules = central.arbiter.fill(params.epoch_packets, now / self.epoch);
        let (begin, done) = (now + self.epoch, central.busy_until);
        central.awake = !central.arbiter.is_idle();
        if central.awake {
            stack.plan(nic, begin, Job::Epoch);
        }
        let schedules = schedules.into_iter().map(|(host, slots)| Schedule { begin, host, slots });
        if done > now {
            for schedule in schedules {
                central.computed.push_back(schedule);
                stack.plan(nic, done, Job::Computed);
            }
        } else {
            schedules.for_each(|schedule| self.send_schedule(stack, nic, schedule));
        }
    }

    fn send_schedule(&self, stack: &mut impl Stack, nic: LocalPort, schedule: Schedule) {
        let flow = FlowId(schedule.slots[0].1 as u32); // the low half
        let mut packet = stack.control(Kind::Schedule, self.params.control_priority);
        packet.word = Word::with_begin(schedule.begin);
        packet.path = Path::Any;
        stack.send_with(To::Host(schedule.host, flow, nic), packet, schedule.slots);
    }

    fn receive_schedule(&self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let begin = match self.params.align {
            FastpassAlign::Epoch => packet.word.begin(),
            FastpassAlign::Asap => packet.word.begin().min(stack.now()),
        };
        let slots = u64::from(self.params.epoch_packets);
        for &(slot, flow) in packet.ranges {
            let time = begin + slot * self.epoch / slots;
            let path = (flow >> 32) as u16;
            stack.plan(packet.nic, time.max(stack.now()), Job::Slot(stack.number_of(FlowId(flow as u32)), path));
        }
    }

    /// `path`: from 1, or 0 for any.
    fn use_slot(&mut self, stack: &mut impl Stack, own: SentId, path: u16) {
        let retry = self.params.retry.map_or(self.epoch, |retry| retry.0);
        let patience = u64::from(self.params.patience) * self.epoch;
        let Some(sender) = self.senders.get_mut(own) else { return };
        let (segment, last) = sender.use_slot();
        stack.set_timer(own, stack.now() + if last { retry } else { patience });
        let mut packet = stack.segment(own, segment);
        if path > 0 {
            packet.path = Path::Number(path);
        }
        if self.params.pad_last {
            packet.size = stack.full_size() as u16;
        }
        stack.send(To::Receiver(own), packet);
    }

    fn receive_ack(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.sent_flow();
        let Some(sender) = self.senders.get_mut(own) else { return };
        if sender.on_ack(packet.seq) {
            self.senders.remove(own);
            stack.finish(own);
            return self.send_request(stack, own, 0, false);
        }
        stack.acknowledge(own, sender.acked());
    }
}
