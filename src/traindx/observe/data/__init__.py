"""What batches of inputs, targets and answers show; numbers of any framework that `arrays` can read."""
