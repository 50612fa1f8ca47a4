//! Errors of expected lossless paths.

/// Invalid path, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// No node has this name.
    #[error("{place}: there is no node `{name}`{}{}", hint(.nearest), separators(.name))]
    UnknownNode {
        /// `line 7` of a file, `paths[3]` of a list.
        place: String,
        /// Given name.
        name: String,
        /// Closest name of a node.
        nearest: Option<String>,
    },
    /// No link joins two nodes.
    #[error("{place}: no link joins {a} and {b}; neighbours of {a}: {neighbours}")]
    NotJoined {
        /// Place.
        place: String,
        /// Node.
        a: String,
        /// Next node.
        b: String,
        /// Neighbours of the node.
        neighbours: String,
    },
    /// The link is down.
    #[error("{place}: the link between {a} and {b} is down")]
    Down {
        /// Place.
        place: String,
        /// Node.
        a: String,
        /// Next node.
        b: String,
    },
    /// The node has no such port.
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
    /// The port does not lead to the next node.
    #[error("{place}: port {port} of {node} leads to {to}, not to {next}")]
    PortLeadsElsewhere {
        /// Place.
        place: String,
        /// Node.
        node: String,
        /// Given port.
        port: u32,
        /// Node that the port leads to.
        to: String,
        /// Next node.
        next: String,
    },
    /// The receiving host has a port.
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
        /// Number of nodes.
        nodes: usize,
    },
    /// The first or last node is a switch.
    #[error("{place}: the {end} node, {node}, is a switch; paths go from a host to a host")]
    EndsAtSwitch {
        /// Place.
        place: String,
        /// `first` or `last`.
        end: &'static str,
        /// Switch.
        node: String,
    },
    /// A host is between the ends.
    #[error("{place}: {node} is a host, which does not forward; hosts stand at the ends of a path only")]
    HostForwards {
        /// Place.
        place: String,
        /// Host.
        node: String,
    },
    /// The path takes a link twice in one direction.
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

/// Expected lossless paths that a fabric cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElpError {
    /// Up and down are undefined: a link joins switches of one tier.
    #[error(
        "up-down paths need tiers, but {a} and {b}, which a link joins, are both of tier {tier}; possible here: shortest \
         paths, trees, or paths given one by one"
    )]
    SameTier {
        /// Switch.
        a: String,
        /// Its neighbour.
        b: String,
        /// Their tier.
        tier: u8,
    },
    /// Routes loop.
    #[error("packets to {destination} loop: {circle}; lossless paths must end at a host")]
    Circle {
        /// Destination host.
        destination: String,
        /// Names of the looping switches, the first again at the end.
        circle: String,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// Hint for other separators than spaces and arrows.
fn separators(word: &str) -> &'static str {
    let other = word.contains([',', ';']);
    if other { "; separate names by spaces or arrows, such as h0 leaf0 h1 or h0 -> leaf0 -> h1" } else { "" }
}
