"""Calls of the Python package against the calls they replace."""
