"""Is a change better? Two versions of a training on the same seeds and data, in pairs."""
