"""What all benchmarks share: the samples, the timing in turn, the records and the page they end up on."""
