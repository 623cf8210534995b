"""``python -m gsp_fd.fd_integration`` is ``gsp-plan``."""

import sys

from gsp_fd.fd_integration.driver import main

sys.exit(main())
