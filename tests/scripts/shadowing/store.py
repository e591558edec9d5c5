raise ImportError("store.py of the user is not for importing")
