"""The baseline that learns: its training, its evaluation and its page (`make learner`)."""
