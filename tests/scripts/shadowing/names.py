NAMES = ["ant", "bee", "cat"]
