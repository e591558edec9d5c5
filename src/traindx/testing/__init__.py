"""For tests of detectors and plugins: small made-up runs."""
