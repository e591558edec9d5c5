raise ImportError("watch.py of the user is not for importing")
