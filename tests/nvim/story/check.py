#!/usr/bin/env python3
"""Looks at the requests that the model server got in the story: `check.py LOG`.

Must never: know how the sidecar words a result beyond what the specification promises.
"""

import json
import pathlib
import sys


def results(request):
    """The tool results of the newest message: id and text, in order."""
    found = []
    for block in request["messages"][-1]["content"]:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            content = block["content"]
            text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
            found.append((block["tool_use_id"], text))
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    requests = [json.loads(path.read_text()) for path in sorted(folder.glob("request-*.json"))]
    seen = [results(request) for request in requests]
    names = [[name for name, _ in each] for each in seen]
    failed = []

    def check(about, holds):
        print(("ok   " if holds else "FAIL ") + about)
        if not holds:
            failed.append(about)

    check("four requests", len(requests) == 4)
    check("results of all calls, in order", names == [[], ["toolu_01", "toolu_02"], ["toolu_03"], ["toolu_04"]])
    if not failed:
        check("the model read the unsaved text", "# unsaved by me" in seen[1][0][1])
        edit, command = seen[2][0][1], seen[3][0][1]
        check("the model is told which hunk was rejected", "# product" in edit and "reject" in edit.lower())
        check("the accepted hunk is not told as rejected", "a + b" not in edit.lower().partition("reject")[2])
        check("the command's outcome names the unsaved file", "calc.py" in command and "unsaved" in command.lower())
        check("the command's output is there", "test 8 ok" in command)
    if failed:
        for index, each in enumerate(seen, 1):
            print(f"request {index}: {each}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
