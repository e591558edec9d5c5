raise ImportError("settings.py of the user is not for importing")
