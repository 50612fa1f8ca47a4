//! Tenants of a scenario, with what is wrong with them said of where it stands.

use std::path::Path;

use incast_model::fabric::{Fabric, VmsError};
use incast_model::tenant::{Tenancy, TenantError, place};

use super::Scenario;
use super::prepare::in_file;
use crate::diagnostic::{Diagnostic, Diagnostics};

impl Scenario {
    /// Places the tenants on a fabric with VMs; none without `[[tenant]]`. Relative files start at `base_dir`.
    pub fn tenancy(&self, fabric: &Fabric, base_dir: &Path) -> Result<Option<Tenancy>, Diagnostics> {
        if self.tenant.is_empty() {
            return Ok(None);
        }
        let Some(vms) = &self.vms else {
            let allowed = "a section [vms] beside it, such as [vms] with slots = 4";
            return Err(Diagnostic::new("tenant[0]", "there are no VMs for a tenant").allowed(allowed).into());
        };
        let tenancy = place(&self.tenant, fabric, vms, base_dir, self.seed).map_err(tenant_error)?;
        Ok(Some(tenancy))
    }
}

pub(super) fn vms_error(error: VmsError) -> Diagnostic {
    let message = error.to_string();
    match error {
        VmsError::Value { field, allowed, .. } => Diagnostic::new(format!("vms.{field}"), message).allowed(allowed),
        _ => Diagnostic::new("vms", message),
    }
}

fn tenant_error(error: TenantError) -> Diagnostic {
    match error {
        TenantError::Field { field, value, allowed, nearest } => {
            Diagnostic { nearest, ..Diagnostic::new(field, format!("`{value}` is not possible here")).allowed(allowed) }
        }
        TenantError::File { file, line, column, value, allowed, nearest } => {
            Diagnostic { nearest, ..in_file(&file, (line, column), &value).allowed(allowed) }
        }
        TenantError::Unreadable { field, file, why } => {
            Diagnostic::new(field, format!("cannot read {}: {why}", file.display()))
        }
        other => Diagnostic::new("tenant", other.to_string()),
    }
}
