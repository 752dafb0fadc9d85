"""What theory says: closed forms, response functions, fluid models and curves."""
