#!/usr/bin/env python3
"""Looks at what the model was told in this story: `check.py LOG`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from looks import Looks

looks = Looks(sys.argv[1])
looks.order([[], ["toolu_01", "toolu_02"], ["toolu_03"], ["toolu_04"]])
looks.check("the model read the unsaved text", "# unsaved by me" in looks.text("toolu_01"))
edit, command = looks.text("toolu_03"), looks.text("toolu_04")
looks.check("the model is told which hunk was rejected", "# product" in edit and "reject" in edit.lower())
looks.check("the accepted hunk is not told as rejected", "a + b" not in edit.lower().partition("reject")[2])
looks.check("the command's outcome names the unsaved file", "calc.py" in command and "unsaved" in command.lower())
looks.check("the command's output is there", "test 8 ok" in command)
looks.end()
