"""A training by JAX as a recording: seen where functions are traced, and where compiled ones are called."""
