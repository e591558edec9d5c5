"""A model with data: gradients, activations, loss and curvature, measured without changing the model."""
