use incast_sim::Params;
use incast_sim::host::ClassBy;

pub(super) fn summary(params: &Params) -> Option<String> {
    let classes = &params.host.classes;
    let by = match classes.by {
        ClassBy::Given => return None,
        ClassBy::Size => format!("flows up to {:#}", classes.threshold),
        ClassBy::Sent => format!("the first {:#} of each flow", classes.threshold),
        ClassBy::Hash => "random halves: one half".into(),
    };
    Some(format!("classes: {by} with priority {}, the rest {}", classes.mice, classes.elephants))
}
