"""The tests, one file a theme."""
