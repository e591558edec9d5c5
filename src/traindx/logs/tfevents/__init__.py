"""TensorBoard event files: records, checksums, vectorised decoding, trainings in a folder."""
