"""Writes the logs of the request's cases: `python -m tests.request.make`, from the root of the repository."""
