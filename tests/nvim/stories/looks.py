"""What the stories' checks share: the requests that the model server got, and one line a look.

Must never: know how the sidecar words a result beyond what the specification promises.
"""

import json
import pathlib
import sys


def blocks_of(request):
    """The blocks of the newest messages, back to the model's own last one."""
    found = []
    for message in reversed(request["messages"]):
        if message["role"] != "user":
            break
        content = message["content"]
        found[:0] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return found


def results(request):
    """The tool results among them: id and text, in order."""
    found = []
    for block in blocks_of(request):
        if block["type"] == "tool_result":
            content = block["content"]
            text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
            found.append((block["tool_use_id"], text))
    return found


class Looks:
    """The looks at one story's requests; `text(id)` is what a call's result said."""

    def __init__(self, folder):
        requests = [json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("request-*.json"))]
        self.seen = [results(request) for request in requests]
        self.failed = False

    def check(self, about, holds):
        print(("ok   " if holds else "FAIL ") + about)
        self.failed = self.failed or not holds

    def order(self, wanted):
        """Each request carries the results of exactly these calls."""
        names = [[name for name, _ in each] for each in self.seen]
        self.check("each request has the results of all calls, in order", names == wanted)

    def text(self, call):
        return next((text for each in self.seen for name, text in each if name == call), "")

    def end(self):
        if self.failed:
            for number, each in enumerate(self.seen, 1):
                print(f"request {number}: {each}")
        sys.exit(1 if self.failed else 0)
