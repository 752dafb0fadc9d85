"""Text, files and errors as all rooms read and write them."""
