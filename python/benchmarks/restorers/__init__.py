"""What `cargo xtask bench restoration` measures."""
