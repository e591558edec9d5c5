"""A data set at rest: files become parts (columns of one length), and measurements of them facts."""
