"""What is at rest: a checkpoint, a model with data, a data set. `traindx.check` is the function."""
