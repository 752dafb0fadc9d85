"""Theory: closed forms, response functions, fluid models and curves."""
