raise ImportError("case.py of the user is not for importing")
