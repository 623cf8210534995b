"""Training: the torch network, checkpoints, instances and hyper-parameters; ``learning`` and ``run`` stand on these.

Installed as ``gsp_fd.training``. Only this folder and ``gsp_fd.export`` import torch; the planner never imports either.
"""
