"""The user's own record.py: keeps losses in a list."""

kept = []


def record(value):
    kept.append(value)
