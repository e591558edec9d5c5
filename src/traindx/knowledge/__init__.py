"""What is known about causes, symptoms and remedies, and how it is weighed against what was found."""
