"""Learning to read a plain text log: which lines repeat, which numbers move, what they are called."""
