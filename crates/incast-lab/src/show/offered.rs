use std::fmt;

use incast_model::workload::{Direction, OfferedLoad};

pub(super) struct Lines<'a>(pub(super) &'a [OfferedLoad]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(loads) = self;
        if loads.is_empty() {
            return Ok(());
        }
        let mut labels: Vec<&str> = loads.iter().flat_map(|load| &load.labels).map(String::as_str).collect();
        labels.sort_unstable();
        labels.dedup();
        write!(f, "\noffered    expected load of {} with headers, spread evenly over equal paths:", labels.join(", "))?;
        for kind in loads.chunk_by(|a, b| a.links == b.links) {
            let each: Vec<String> = kind.iter().map(in_words).collect();
            write!(f, "\n           {}: {}", kind[0].links, each.join(", "))?;
        }
        Ok(())
    }
}

/// `105.8 % up`, with the busiest link if over 1 % above.
fn in_words(load: &OfferedLoad) -> String {
    let direction = match load.direction {
        Direction::Up => " up",
        Direction::Down => " down",
        Direction::Across => "",
    };
    let mean = format!("{:.1} %{direction}", load.mean * 100.0);
    if load.busiest <= load.mean * 1.01 {
        return mean;
    }
    format!("{mean} (busiest {:.1} %)", load.busiest * 100.0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::scenario::Loaded;
    use crate::show::{TYPICAL_RATE, show};

    #[test]
    fn loads_are_given_by_kind_of_links() {
        let text = r#"
[fabric.leaf_spine]
leaves = 8
spines = 4
hosts_per_leaf = 16
[[workload]]
label = "background"
poisson = { load = 0.3, sizes = "10kB", duration = "20us" }
[scheme.A]
control = "hpcc"
"#;
        let shown = |more: &str| {
            let loaded = Loaded::from_text("s", &format!("{text}{more}"), Path::new("."), &[]).unwrap();
            show(&loaded.prepare().unwrap(), TYPICAL_RATE).to_string()
        };
        let plain = shown("");
        let lines = "\noffered    expected load of background with headers, spread evenly over equal paths:\n           \
                     host links: 31.4 % up, 31.4 % down\n           tier 1's uplinks: 110.9 % up, 110.9 % down\nscheme ";
        assert!(plain.contains(lines), "{plain}");
        let warning = "warning    workload[0].poisson.load (s:8): background offers 111 % of the capacity of tier 1's uplinks, \
                       with headers: flows pile up; for at most 100 % on every link, write `load = 0.27`";
        assert!(plain.contains(warning), "{plain}");
        // Six of seven leaves by all spines, one by spine0 alone: 2.5 instead of 1.75 parts.
        let routed = shown("[network]\nroute = [{ at = \"leaf0\", to = \"leaf1\", via = [\"spine0\"] }]\n");
        assert!(routed.contains(" up (busiest 158.4 %), "), "{routed}");
        let incast = "[[workload]]\nincast = { fan_in = 4, size = \"10kB\", every = \"16us\", duration = \"20us\", receiver = 3 }";
        let with = shown(incast);
        let lines = "expected load of background, incast with headers, spread evenly over equal paths:\n           host links: 31.6 % up, \
                     31.6 % down (busiest 52.4 %)\n";
        assert!(with.contains(lines), "{with}");
        let of_wire = text.replace("load = 0.3,", "load = 0.3, load_of = \"wire\",");
        let loaded = Loaded::from_text("s", &of_wire, Path::new("."), &[]).unwrap();
        let of_wire = show(&loaded.prepare().unwrap(), TYPICAL_RATE).to_string();
        assert!(of_wire.contains("host links: 30.0 % up, 30.0 % down"), "{of_wire}");
    }
}
