use incast_model::field::FieldError;

use crate::setup::Params;

impl Params {
    /// Checks that there is PFC and that PFC storms use lossless priorities.
    pub fn check_pauses(&self) -> Result<(), FieldError> {
        let lossless = &self.switch.lossless;
        for (index, pause) in self.network.pause.iter().enumerate() {
            let field = format!("network.pause[{index}]");
            if self.switch.paused_priorities() == 0 {
                let allowed = "none, or switches with PFC (switch.pfc, switch.lossless, queues that share a buffer)";
                return Err(FieldError::new(field, "there is no PFC: pauses have no effect").allowed(allowed));
            }
            let known: Vec<String> = lossless.iter().map(u8::to_string).collect();
            let allowed = format!("the priorities of switch.lossless: {}", known.join(", "));
            if !lossless.contains(&pause.priority) {
                let message = format!("{} is no lossless priority", pause.priority);
                return Err(FieldError::new(format!("{field}.priority"), message).allowed(allowed));
            }
        }
        Ok(())
    }
}
