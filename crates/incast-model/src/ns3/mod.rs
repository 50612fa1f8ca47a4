//! Readers for the inputs of the HPCC authors' ns-3 simulator.
