"""For ``make sanitize``, as ``sitecustomize``: the package that lies beside this file, not the editable one."""

import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "_editable_skbc_gsp_fd"]
