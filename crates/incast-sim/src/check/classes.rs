use incast_model::field::FieldError;

use crate::host::ClassBy;
use crate::setup::{Arithmetic, Params};

impl Params {
    /// Checks the parameters of classes.
    pub fn check_classes(&self) -> Result<(), FieldError> {
        let classes = &self.host.classes;
        if classes.by == ClassBy::Given {
            return Ok(());
        }
        let refuse = |field: &str, message: String| Err(FieldError::new(format!("host.classes.{field}"), message));
        if classes.mice == classes.elephants {
            let message =
                format!("{} is also the priority of elephants; mice and elephants need two priorities", classes.mice);
            return refuse("mice", message);
        }
        if classes.by == ClassBy::Sent && self.arithmetic == Arithmetic::Ns3 {
            return refuse("by", "ns3 arithmetic knows no flows that change their priority".into());
        }
        Ok(())
    }
}
