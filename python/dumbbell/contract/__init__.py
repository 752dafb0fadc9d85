"""What the front end and the engines hand each other, as types generated from those of Rust."""
