"""Forks: published studies with other values of some keys, as studies of their own."""
