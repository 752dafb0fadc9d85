"""What a user asks to be run, and how it becomes integers."""
