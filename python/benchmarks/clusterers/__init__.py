"""What `cargo xtask bench clustering` measures."""
