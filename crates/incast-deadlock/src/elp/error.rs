//! What can be wrong with expected lossless paths.

/// A path that is none, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// A name that no node has.
    #[error("{place}: there is no node `{name}`{}{}", hint(.nearest), separators(.name))]
    UnknownNode {
        /// `line 7` of a file, `paths[3]` of a list.
        place: String,
        /// The name as written.
        name: String,
        /// The closest name of a node.
        nearest: Option<String>,
    },
    /// Two nodes that no link joins.
    #[error("{place}: no link joins {a} and {b}; neighbours of {a}: {neighbours}")]
    NotJoined {
        /// Where the path is written.
        place: String,
        /// The one node.
        a: String,
        /// The node that should follow.
        b: String,
        /// What could follow.
        neighbours: String,
    },
    /// Two nodes whose link is down.
    #[error("{place}: the link between {a} and {b} is down")]
    Down {
        /// Where the path is written.
        place: String,
        /// The one node.
        a: String,
        /// The node that should follow.
        b: String,
    },
    /// A port that a node does not have.
    #[error("{place}: {node} has no port {port}; allowed: 0 to {}", .ports - 1)]
    NoPort {
        /// Where the path is written.
        place: String,
        /// The node.
        node: String,
        /// The port as written.
        port: u32,
        /// How many ports the node has.
        ports: usize,
    },
    /// A port that does not lead to the next node.
    #[error("{place}: port {port} of {node} leads to {to}, not to {next}")]
    PortLeadsElsewhere {
        /// Where the path is written.
        place: String,
        /// The node.
        node: String,
        /// Its port as written.
        port: u32,
        /// Where that leads.
        to: String,
        /// The next node as written.
        next: String,
    },
    /// A port behind the name of the host that receives.
    #[error("{place}: the path ends at {node}; it leaves it by no port, {port} or other")]
    PortAtEnd {
        /// Where the path is written.
        place: String,
        /// The host.
        node: String,
        /// The port as written.
        port: u32,
    },
    /// Too few nodes.
    #[error("{place}: a path of {nodes} nodes; at least 3 are needed: a host, a switch, a host")]
    TooShort {
        /// Where the path is written.
        place: String,
        /// How many nodes it has.
        nodes: usize,
    },
    /// A path that does not begin or end at a host.
    #[error("{place}: the {end} node, {node}, is a switch; paths go from a host to a host")]
    EndsAtSwitch {
        /// Where the path is written.
        place: String,
        /// `first` or `last`.
        end: &'static str,
        /// The switch.
        node: String,
    },
    /// A host in the middle of a path.
    #[error("{place}: {node} is a host, which does not forward; hosts stand at the ends of a path only")]
    HostForwards {
        /// Where the path is written.
        place: String,
        /// The host.
        node: String,
    },
    /// A path that takes one link twice in one direction.
    #[error("{place}: the path arrives at {node} by port {port} twice: a loop")]
    Repeated {
        /// Where the path is written.
        place: String,
        /// The node.
        node: String,
        /// Its ingress port.
        port: u32,
    },
}

/// Expected lossless paths that a fabric cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElpError {
    /// Up and down mean nothing where a link joins switches of one tier.
    #[error(
        "up-down paths need tiers, but {a} and {b}, which a link joins, are both of tier {tier}; possible here: shortest \
         paths, trees, or paths given one by one"
    )]
    SameTier {
        /// A switch.
        a: String,
        /// Its neighbour.
        b: String,
        /// Their tier.
        tier: u8,
    },
    /// Routes that lead in a circle.
    #[error("packets to {destination} loop: {circle}; lossless paths must end at a host")]
    Circle {
        /// A host.
        destination: String,
        /// The names of the switches on the circle, the first once more at its end.
        circle: String,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// What stands between names, where something else does.
fn separators(word: &str) -> &'static str {
    let other = word.contains([',', ';']);
    if other { "; separate names by spaces or arrows, such as h0 leaf0 h1 or h0 -> leaf0 -> h1" } else { "" }
}
