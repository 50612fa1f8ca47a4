use incast_model::field::FieldError;
use incast_model::flow::FlowSet;

use crate::setup::{Arithmetic, Params};
use crate::switch::TagRules;

fn refuse(field: &str, message: impl Into<String>) -> Result<(), FieldError> {
    Err(FieldError::new(field, message))
}

impl Params {
    /// Checks tagging and watchdogs.
    pub fn check_deadlock(&self, rules: Option<&TagRules>, flows: &FlowSet) -> Result<(), FieldError> {
        self.check_watchdog()?;
        self.check_tagging(rules, flows)
    }

    fn check_watchdog(&self) -> Result<(), FieldError> {
        let dog = &self.switch.watchdog;
        if !dog.enabled {
            return Ok(());
        }
        if self.switch.paused_priorities() == 0 {
            return refuse("switch.watchdog.enabled", "there is no PFC to watch");
        }
        if self.arithmetic == Arithmetic::Ns3 {
            return refuse("switch.watchdog.enabled", "ns3 arithmetic knows no watchdog");
        }
        Ok(())
    }

    fn check_tagging(&self, rules: Option<&TagRules>, flows: &FlowSet) -> Result<(), FieldError> {
        let (tagging, lossless) = (&self.switch.tagging, &self.switch.lossless);
        if !tagging.enabled {
            return Ok(());
        }
        if self.switch.paused_priorities() == 0 {
            return refuse("switch.tagging.enabled", "tags are priorities under PFC, and there is no PFC here");
        }
        let lossy = tagging.lossy_priority;
        if !(1..8).contains(&lossy) || lossless.contains(&lossy) {
            let message = format!("{lossy} is not possible; 1 to 7, and none of the lossless priorities {lossless:?}");
            return refuse("switch.tagging.lossy_priority", message);
        }
        if let Some(twice) = lossless.iter().enumerate().find(|(at, prio)| lossless[..*at].contains(prio)) {
            let message = format!("priority {} is there twice; with tagging each stands for one tag", twice.1);
            return refuse("switch.lossless", message);
        }
        let Some(rules) = rules else {
            return refuse("switch.tagging", "enabled without rules");
        };
        let (tags, given) = (usize::from(rules.tags()), lossless.len());
        if tags > given {
            let message = format!("{lossless:?} has {given} of the {tags} priorities that the tags need, one for each");
            return refuse("switch.lossless", message);
        }
        let beyond = |prio: u8| lossless.iter().position(|&one| one == prio).filter(|&at| at >= tags);
        match flows.flows.iter().find(|flow| beyond(flow.priority).is_some()) {
            Some(flow) => {
                let allowed = &lossless[..tags];
                let message = format!(
                    "{} is the priority of no tag; the {tags} of the rules are priorities {allowed:?} (others are \
                     possible if they are not lossless)",
                    flow.priority
                );
                refuse("workload.priority", message)
            }
            None => Ok(()),
        }
    }
}
