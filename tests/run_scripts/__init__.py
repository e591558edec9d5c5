"""Small programs for the tests of `traindx run`, and ways to call them."""
