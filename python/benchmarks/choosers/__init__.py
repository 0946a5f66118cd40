"""The parts of the choice of clustering's defaults."""
