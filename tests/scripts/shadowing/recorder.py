raise ImportError("recorder.py of the user is not for importing")
