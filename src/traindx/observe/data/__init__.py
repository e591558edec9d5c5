"""Statistics of batches of inputs, targets and outputs, for any framework that `arrays` can read."""
