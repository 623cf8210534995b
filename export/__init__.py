"""Export: from a training checkpoint to a standard ONNX file that explains itself. Installed as ``gsp_fd.export``.

``graph`` writes the graph, ``parity`` compares it with torch, ``writer`` puts both together, ``cli`` is ``gsp-export``,
``train_cli`` is ``gsp-train`` with this exporter.
"""
