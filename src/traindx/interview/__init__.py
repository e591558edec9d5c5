"""The interview: a user's description of a training, weighed like other evidence, and the next question."""
