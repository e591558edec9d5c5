"""The logs of the third author's cases: `python -m tests.request.make_third` writes tests/request/third/."""
