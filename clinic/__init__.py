"""Small broken and healthy trainings of which the truth is known, and how right traindx is on them."""
