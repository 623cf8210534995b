"""The learning algorithm: episodes fill the replay buffers, the learner takes gradient steps, the trainer repeats.

From outside, use :class:`gsp_fd.training.learning.trainer.Trainer`.
"""
