/// Invalid path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// Unknown node.
    #[error("{place}: there is no node `{name}`{}{}", hint(.nearest), separators(.name))]
    UnknownNode {
        /// `line 7` of a file, `paths[3]` of a list.
        place: String,
        /// Given name.
        name: String,
        /// Closest name.
        nearest: Option<String>,
    },
    /// Unlinked nodes.
    #[error("{place}: no link joins {a} and {b}; neighbours of {a}: {neighbours}")]
    NotJoined {
        /// Place.
        place: String,
        /// Node.
        a: String,
        /// Next node.
        b: String,
        /// Neighbours.
        neighbours: String,
    },
    /// Link that is down.
    #[error("{place}: the link between {a} and {b} is down")]
    Down {
        /// Place.
        place: String,
        /// Node.
        a: String,
        /// Next node.
        b: String,
    },
    /// Unknown port.
    #[error("{place}: {node} has no port {port}; allowed: 0 to {}", .ports - 1)]
    NoPort {
        /// Place.
        place: String,
        /// Node.
        node: String,
        /// Given port.
        port: u32,
        /// Number of ports.
        ports: usize,
    },
    /// Port to another node.
    #[error("{place}: port {port} of {node} leads to {to}, not to {next}")]
    PortLeadsElsewhere {
        /// Place.
        place: String,
        /// Node.
        node: String,
        /// Given port.
        port: u32,
        /// Node after the port.
        to: String,
        /// Next node.
        next: String,
    },
    /// Port after the receiving host.
    #[error("{place}: the path ends at {node}; it leaves it by no port, {port} or other")]
    PortAtEnd {
        /// Place.
        place: String,
        /// Host.
        node: String,
        /// Given port.
        port: u32,
    },
    /// Too few nodes.
    #[error("{place}: a path of {nodes} nodes; at least 3 are needed: a host, a switch, a host")]
    TooShort {
        /// Place.
        place: String,
        /// Nodes.
        nodes: usize,
    },
    /// Switch at an end.
    #[error("{place}: the {end} node, {node}, is a switch; paths go from a host to a host")]
    EndsAtSwitch {
        /// Place.
        place: String,
        /// `first` or `last`.
        end: &'static str,
        /// Switch.
        node: String,
    },
    /// Host between the ends.
    #[error("{place}: {node} is a host, which does not forward; hosts stand at the ends of a path only")]
    HostForwards {
        /// Place.
        place: String,
        /// Host.
        node: String,
    },
    /// Link used twice in one direction.
    #[error("{place}: the path arrives at {node} by port {port} twice: a loop")]
    Repeated {
        /// Place.
        place: String,
        /// Node.
        node: String,
        /// Ingress port.
        port: u32,
    },
}

/// Expected lossless paths impossible in a fabric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElpError {
    /// Link within a tier: up and down are undefined.
    #[error(
        "up-down paths need tiers, but {a} and {b}, which a link joins, are both of tier {tier}; possible here: shortest \
         paths, trees, or paths given one by one"
    )]
    SameTier {
        /// Switch.
        a: String,
        /// Neighbour.
        b: String,
        /// Tier.
        tier: u8,
    },
    /// Loop in the routes.
    #[error("packets to {destination} loop: {nodes}; lossless paths must end at a host")]
    RoutingLoop {
        /// Destination host.
        destination: String,
        /// Switches, the first again at the end.
        nodes: String,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

fn separators(word: &str) -> &'static str {
    let other = word.contains([',', ';']);
    if other { "; separate names by spaces or arrows, such as h0 leaf0 h1 or h0 -> leaf0 -> h1" } else { "" }
}
