"""A project laid out as a package, started with python -m package_style.train."""
