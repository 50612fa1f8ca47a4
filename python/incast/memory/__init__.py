"""Real programs with part of their memory remote: record what they fetch, and delay it."""
