"""What tenants got: throughput over time, guarantees kept or not, fairness, use of the network."""

from incast.fairness import jain
from incast.tenants.guarantees import guarantees
from incast.tenants.sharing import sharing
from incast.tenants.throughput import BY, throughput

__all__ = ["BY", "guarantees", "jain", "sharing", "throughput"]
