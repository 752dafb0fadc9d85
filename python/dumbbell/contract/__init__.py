"""Types that the front end and the engines exchange, generated from those of Rust."""
