#!/usr/bin/env python3
"""Walks through the steps of a file in real Neovim with the real sidecar.

`nvim.py --base-url URL --steps FILE --shots DIR [--workspace DIR]`; README.md beside this file
gives the steps. One line a step is printed; the exit code is 0 when every step held.
Must never: reach into the plugin. It presses keys, reads the screen, buffers and files.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEADLINE = 60


def ensure_packages():
    """Runs this file again with the Python that has the packages, once they are installed."""
    done = subprocess.run([ROOT / "tests/nvim/setup"], check=True, stdout=subprocess.PIPE, text=True)
    tools = pathlib.Path(done.stdout.strip())
    python = tools / "venv/bin/python"
    if pathlib.Path(sys.prefix).resolve() != (tools / "venv").resolve():
        os.execv(python, [str(python), *sys.argv])
    return tools


class StepFailed(Exception):
    """A step did not hold."""


FILE_WINDOW = """
local function is_file(win)
  local plain = vim.api.nvim_win_get_config(win).relative == ""
  return plain and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ""
end
local wins = vim.list_extend({ vim.api.nvim_get_current_win() }, vim.api.nvim_tabpage_list_wins(0))
for _, win in ipairs(wins) do
  if is_file(win) then
    return win
  end
end
return 0
"""

FILE_TEXT = """
local win = ...
return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false), "\\n")
"""


def unescape(text):
    return text.replace("\\n", "\n")


def literally(text):
    return text.replace("<", "<lt>")


class Walk:
    """The steps, one method a verb."""

    def __init__(self, neovim, workspace, shots, base_url):
        self.neovim, self.workspace, self.shots, self.base_url = neovim, workspace, shots, base_url

    def run(self, verb, rest):
        step = getattr(self, "step_" + verb, None)
        if not step:
            raise StepFailed(f"there is no step {verb}")
        step(rest)

    def poll(self, condition, about):
        """For what the screen does not tell: buffers and files."""
        end = time.monotonic() + DEADLINE
        while not condition():
            if time.monotonic() > end:
                raise StepFailed(about)
            # Woken by the next redraw, or soon after.
            self.neovim.until(lambda: False, 0.05)
            if self.neovim.gone:
                raise StepFailed("the editor is gone")

    def step_open(self, path):
        window = self.neovim.lua(FILE_WINDOW)
        if window:
            self.neovim.call("nvim_set_current_win", window)
            self.neovim.call("nvim_cmd", {"cmd": "edit", "args": [path], "magic": {"file": False}}, {})
        else:
            self.neovim.call("nvim_cmd", {"cmd": "vsplit", "args": [path], "magic": {"file": False}}, {})

    def step_type(self, text):
        self.neovim.press(literally(text))

    def step_keys(self, keys):
        self.neovim.press(keys)

    def step_command(self, name):
        self.neovim.press("<C-\\><C-n>:" + literally(name) + "<CR>")

    def step_click(self, _text):
        raise StepFailed("Neovim has nothing to click: use keys or command")

    def step_wait(self, text):
        if not self.neovim.until(lambda: text in self.neovim.grid.text(), DEADLINE):
            raise StepFailed("it did not appear on the screen")

    def step_gone(self, text):
        if not self.neovim.until(lambda: text not in self.neovim.grid.text(), DEADLINE):
            raise StepFailed("it is still on the screen")

    def text_of_document(self):
        window = self.neovim.lua(FILE_WINDOW)
        return self.neovim.lua(FILE_TEXT, window) if window else ""

    def step_buffer(self, text):
        self.poll(lambda: unescape(text) in self.text_of_document(), "the document does not hold it")

    def step_nobuffer(self, text):
        self.poll(lambda: unescape(text) not in self.text_of_document(), "the document holds it")

    def text_on_disk(self, path):
        file = self.workspace / path
        return file.read_text(errors="replace") if file.exists() else ""

    def step_disk(self, rest):
        path, text = rest.split(" ", 1)
        self.poll(lambda: unescape(text) in self.text_on_disk(path), "the file does not hold it")

    def step_nodisk(self, rest):
        path, text = rest.split(" ", 1)
        self.poll(lambda: unescape(text) not in self.text_on_disk(path), "the file holds it")

    def step_shot(self, name):
        self.neovim.paint(self.shots / f"{name}.png")

    def step_release(self, name):
        request = urllib.request.Request(f"{self.base_url}/control/release/{name}", data=b"", method="POST")
        urllib.request.urlopen(request, timeout=DEADLINE).close()


def steps_of(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            verb, _, rest = line.strip("\n").lstrip().partition(" ")
            yield number, verb, rest


def environment(scratch, base_url):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NVIM", "ANTHROPIC_", "XDG_"))}
    home = scratch / "home"
    for name, folder in {
        "HOME": home,
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "XDG_STATE_HOME": home / "state",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_RUNTIME_DIR": home / "run",
    }.items():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        env[name] = str(folder)
    env.update(ANTHROPIC_BASE_URL=base_url, ANTHROPIC_API_KEY="test-key", TERM="xterm-256color", LANG="C.UTF-8")
    return env


def sidecar():
    named = os.environ.get("TOOLGATE_BIN")
    path = pathlib.Path(named) if named else ROOT / "target/debug/toolgate"
    if not os.access(path, os.X_OK):
        sys.exit(f"there is no sidecar at {path}: build it, or name it by TOOLGATE_BIN")
    return path.resolve()


def walk(arguments, tools, scratch):
    from screen import Failed, Neovim

    workspace = scratch / "workspace"
    if arguments.workspace:
        shutil.copytree(arguments.workspace, workspace, symlinks=True)
    else:
        workspace.mkdir()
    arguments.shots.mkdir(parents=True, exist_ok=True)
    argv = [str(tools / "venv/bin/nvim"), "--clean", "--cmd", f"set runtimepath^={ROOT / 'editors/nvim'}"]
    argv += ["--cmd", f"let g:toolgate = {{'cmd': '{sidecar()}'}}"]
    neovim = Neovim(argv, workspace, environment(scratch, arguments.base_url))
    steps = Walk(neovim, workspace, arguments.shots, arguments.base_url)
    try:
        for number, verb, rest in steps_of(arguments.steps):
            try:
                steps.run(verb, rest)
            except (StepFailed, Failed, OSError) as problem:
                print(f"FAIL {number} {verb} {rest}: {problem}", flush=True)
                neovim.paint(arguments.shots / f"failed-line-{number}.png")
                print(neovim.text(), flush=True)
                return 1
            print(f"ok {number} {verb} {rest}", flush=True)
        return 0
    finally:
        neovim.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--steps", required=True, type=pathlib.Path)
    parser.add_argument("--shots", required=True, type=pathlib.Path)
    parser.add_argument("--workspace", type=pathlib.Path)
    arguments = parser.parse_args()
    tools = ensure_packages()
    sys.path.insert(0, str(ROOT / "tests/nvim"))
    with tempfile.TemporaryDirectory(prefix="toolgate-walk-") as scratch:
        return walk(arguments, tools, pathlib.Path(scratch).resolve())


if __name__ == "__main__":
    sys.exit(main())
