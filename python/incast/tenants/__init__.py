"""Tenants: throughput over time, guarantees, fairness, utilisation of the network."""

from incast.fairness import jain
from incast.tenants.guarantees import guarantees
from incast.tenants.sharing import sharing
from incast.tenants.throughput import BY, throughput

__all__ = ["BY", "guarantees", "jain", "sharing", "throughput"]
