"""What every room may use: errors with exit codes, processes and Ray, the files of a task, spelling of names and sizes.

It imports nothing of this package. Take its modules one by one.
"""
