"""Expected states: scripts of ACKs, losses and marks, with the states that must follow."""
