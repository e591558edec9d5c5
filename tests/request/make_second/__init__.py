"""The logs of the second author's cases: `python -m tests.request.make_second` writes tests/request/second/."""
