//! Congestion isolation messages (CIP in the slides, CIM in the standard; EtherType 0x89A2): from a port to the node at the far
//! end of its link, and no further.
