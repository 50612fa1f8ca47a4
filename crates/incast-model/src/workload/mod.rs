//! Workloads: who sends how much to whom, and when.
