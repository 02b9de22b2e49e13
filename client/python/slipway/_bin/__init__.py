"""The binaries of a wheel that was built with them."""
