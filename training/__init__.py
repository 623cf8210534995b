"""Training: the torch network, its checkpoints, and the learning loop. Installed as ``gsp_fd.training``.

Only this folder and ``gsp_fd.export`` import torch; the planner never imports either.
"""
