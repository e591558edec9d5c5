raise ImportError("engine.py of the user is not for importing")
