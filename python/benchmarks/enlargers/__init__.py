"""What `cargo xtask bench superres` measures."""
