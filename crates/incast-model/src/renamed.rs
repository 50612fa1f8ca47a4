//! Names from earlier versions.

/// Former and current names of fields, values, columns, options and JSON keys; one line per successor.
pub const RENAMED: &[(&str, &str)] = &[
    ("tag", "label"),
    ("tags", "labels"),
    ("control_by_tag", "control_by_label"),
    ("transport_by_tag", "transport_by_label"),
    ("window_by_tag", "window_by_label"),
    ("tag-fair", "label-fair"),
    ("balance", "load_balancing"),
    ("balancers", "load_balancers"),
    ("reference", "ns3"),
    ("reference", "hpcc"),
    ("reference_starts", "ns3_starts"),
    ("told_every", "feedback_every"),
    ("least", "min_rate"),
    ("least_growth", "min_growth"),
    ("pass_over_for", "downgrade_for"),
    ("blast", "line-rate"),
    ("called_off", "status"),
    ("cancelled", "status"),
    ("gate", "dependency"),
    ("in_vain_ps", "victim_ps"),
    ("host_in_vain_ps", "host_victim_ps"),
    ("blamed_port", "culprit_port"),
    ("blamed_peer_name", "culprit_peer_name"),
    ("begin_ps", "start_ps"),
    ("from_ps", "start_ps"),
    ("time_ps", "end_ps"),
    ("seen_ps", "detected_ps"),
    ("ideal_reference_ps", "ideal_hpcc_ps"),
    ("slowdown_reference", "slowdown_hpcc"),
    ("circular", "cyclic"),
    ("each", "per_pair"),
    ("lone", "unmatched"),
];

/// A former name's successor among `names`, unless the name is still valid.
pub fn renamed<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let names: Vec<&str> = names.into_iter().collect();
    let mut found = None;
    for &one in &names {
        if one == name {
            return None;
        }
        if RENAMED.contains(&(name, one)) {
            found = Some(one);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_an_earlier_version_leads_to_the_one_that_is_valid_here() {
        assert_eq!(renamed("tag", ["tenant", "label"]), Some("label"));
        assert_eq!(renamed("reference", ["ns3", "paper"]), Some("ns3"));
        assert_eq!(renamed("reference", ["exact", "hpcc"]), Some("hpcc"));
        assert_eq!(renamed("tag", ["tag", "label"]), None);
        assert_eq!(renamed("tag", ["tenant"]), None);
    }
}
