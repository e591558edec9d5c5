"""Findings in the configuration: signs that speak for a cause, never a trouble by themselves."""
