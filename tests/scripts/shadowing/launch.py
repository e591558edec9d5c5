raise ImportError("launch.py of the user is not for importing")
