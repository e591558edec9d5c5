"""Records trainings by JAX: where functions are traced, and where compiled functions are called."""
