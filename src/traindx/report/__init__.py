"""What a person or a program gets to see: terminal, JSON, CSV, PNG."""
