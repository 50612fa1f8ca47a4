//! Samples of a run: rows of its tables, so time and memory grow with them.

use incast_model::fabric::Fabric;
use incast_model::flow::FlowSet;
use incast_model::units::{Time, ceil3};
use incast_model::workload::least_time;

use super::Scenario;
use crate::diagnostic::Diagnostic;
use crate::warning::setting;

/// Our choice: each is a row or more of a table, which memory holds until the end of the run.
const MOST: u64 = 100_000_000;

impl Scenario {
    /// Least number of samples and their time.
    pub(crate) fn least_samples(&self, fabric: &Fabric, flows: &FlowSet) -> Option<(u64, Time)> {
        let measure = &self.measure;
        let every = measure.sample_every?;
        let end = least_time(fabric, flows).min(self.simulation.horizon.unwrap_or(Time::MAX));
        let span = measure.sample_until.unwrap_or(Time::MAX).min(end).saturating_sub(measure.sample_from);
        Some((span.0 / every.0.max(1), span))
    }

    pub(super) fn too_many_samples(&self, fabric: &Fabric, flows: &FlowSet) -> Option<Diagnostic> {
        let (count, span) = self.least_samples(fabric, flows).filter(|_| self.simulation.max_events.is_none())?;
        let allowed = format!("at most {MOST}: write {}", fewer(span, MOST));
        (count > MOST)
            .then(|| Diagnostic::new("measure.sample_every", format!("at least {count} samples")).allowed(allowed))
    }
}

/// The parameter for at most `most` samples.
pub(crate) fn fewer(span: Time, most: u64) -> String {
    setting("measure.sample_every", Time(ceil3(span.0.div_ceil(most))))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Loaded;

    #[test]
    fn samples_have_a_limit() {
        let refused = |every: &str, more: &str| {
            // 12.5 MB at 100 Gb/s take 1 ms.
            let text = format!(
                "[fabric.star]\nhosts = 4\n[[workload]]\nlist = [{{ src = 0, dst = 1, size = \"12500kB\" }}]\n\
                 [scheme.A]\ncontrol = \"hpcc\"\n[measure]\nsample_every = \"{every}\"\n{more}"
            );
            let found = Loaded::from_text("s.toml", &text, Path::new("."), &[]).unwrap().prepare().err()?;
            let one = found.iter().next()?;
            let line = one.place.as_ref().map_or(0, |place| place.line);
            Some(format!("{line} {}: {}; {}", one.path, one.message, one.allowed.as_deref().unwrap_or_default()))
        };
        let said = "8 measure.sample_every: at least 1000000000 samples; at most 100000000: write \
                    `measure.sample_every = \"10ps\"`";
        assert_eq!(refused("1ps", "").as_deref(), Some(said));
        for (every, more) in [
            ("10ps", ""),
            ("1ps", "sample_until = \"100us\"\n"),
            ("1ps", "[simulation]\nhorizon = \"100us\"\n"),
            ("1ps", "[simulation]\nmax_events = 1000\n"),
        ] {
            assert_eq!(refused(every, more), None, "{every} {more}");
        }
    }
}
