#!/usr/bin/env python3
"""Looks at what the model was told in this story: `check.py LOG`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from looks import Looks

looks = Looks(sys.argv[1])
looks.order([[], ["toolu_01"], ["toolu_02"], ["toolu_03"], [], ["toolu_04"]])
stopped, edit, lost = looks.text("toolu_01"), looks.text("toolu_03"), looks.text("toolu_04")
looks.check("what the stopped command had printed is there", "test 7 ok" in stopped)
looks.check("the accepted hunk is told where it stands now", "# above" in edit and "+    return a + b" in edit)
looks.check("the hunk whose lines were changed is told as not made", "# product" in edit.partition("NOT")[2])
looks.check("the call that the sidecar's end took is told as not started", "Not started" in lost)
looks.end()
