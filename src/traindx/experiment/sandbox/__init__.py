"""A trial writes into copies: what keeps its processes away from the files of the user."""
