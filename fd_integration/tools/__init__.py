"""Inside Fast Downward: a build for its driver with our search in it, and task files for the plugin.

These are programs; nothing is imported from here.
"""
