"""The functions of other packages by their own names."""
