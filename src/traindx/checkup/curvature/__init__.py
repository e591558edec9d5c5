"""The curvature of a loss: Hessian eigenvalues and trace from products of the Hessian with vectors."""
