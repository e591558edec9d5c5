"""Promises under hostile inputs: each test breaks what a careless, unlucky or malicious user could break."""
