"""Random faults of runs, sweeps and studies, and the comparison with undisturbed results: `make chaos`."""
