use incast_model::fabric::{Fabric, HostId};
use incast_model::field::FieldError;
use incast_model::flow::FlowSet;
use incast_model::nearest::nearest;

use super::Transport;

impl Transport {
    pub(crate) fn check_together(transports: &[Self], fabric: &Fabric, flows: &FlowSet) -> Result<(), FieldError> {
        for (index, transport) in transports.iter().enumerate() {
            let named = |bad: FieldError| bad.within(format!("transport.{}", transport.name()));
            // One state for all flows of a host or the fabric.
            let shared = matches!(transport, Self::Phost(_) | Self::Fastpass(_) | Self::Ideal(_));
            let other = transports[..index].iter().any(|one| one.name() == transport.name() && one != transport);
            if shared && other {
                let message = "flows of one run have it with different parameters; hosts have one set for all of them";
                return Err(named(FieldError::new("", message)));
            }
            transport.arbiter(fabric, flows).map_err(named)?;
        }
        Ok(())
    }

    pub(crate) fn arbiter(&self, fabric: &Fabric, flows: &FlowSet) -> Result<Option<HostId>, FieldError> {
        let Self::Fastpass(params) = self else { return Ok(None) };
        let name = &params.arbiter;
        let names = || fabric.hosts().iter().map(|&host| fabric.node(host).name.as_str());
        let Some(host) = names().position(|host| host == name) else {
            let allowed = "a host; [[service]] adds one to the fabric".to_owned();
            let nearest = nearest(name, names()).map(str::to_owned);
            let unknown = FieldError::new("arbiter", format!("there is no host `{name}` on the fabric"));
            return Err(FieldError { allowed: Some(allowed), nearest, ..unknown });
        };
        if !params.fits(fabric) {
            let allowed = "balanced, or two tiers of switches: every one with hosts joined to all others by the same switches, once \
                           each, by links no slower than those of hosts";
            return Err(
                FieldError::new("paths", "the arbiter has no paths to allocate on this fabric").allowed(allowed)
            );
        }
        let host = HostId(host as u32);
        match flows.flows.iter().position(|flow| flow.src == host || flow.dst == host) {
            Some(flow) => {
                let allowed = "a host that no flow begins or ends at; [[service]] adds one to the fabric";
                Err(FieldError::new("arbiter", format!("`{name}` is one end of flow {flow}")).allowed(allowed))
            }
            None => Ok(Some(host)),
        }
    }
}
