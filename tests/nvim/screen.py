"""A real Neovim and its screen: starts it, presses keys, rebuilds the grid, paints a picture.

For: the walk driver, which sees what a person sees and nothing else.
Must never: sleep in order to wait; `until` is woken by the editor's own redraws.
"""

import os
import signal
import subprocess
import threading
import time

import msgpack
from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono"
CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 10, 20, 16


class Failed(Exception):
    """The editor answered with an error, or is gone."""


class Grid:
    """The screen as the editor's redraw events tell it."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[(" ", 0)] * columns for _ in range(rows)]
        self.highlights = {0: {}}
        self.foreground, self.background = 0xFFFFFF, 0x000000
        self.cursor = (0, 0)

    def apply(self, events):
        for event in events:
            handler = getattr(self, "on_" + event[0], None)
            if handler:
                for arguments in event[1:]:
                    handler(*arguments)

    def on_grid_resize(self, _grid, columns, rows):
        old = self.cells
        self.columns, self.rows = columns, rows
        self.cells = [[(" ", 0)] * columns for _ in range(rows)]
        for row in range(min(rows, len(old))):
            for column in range(min(columns, len(old[row]))):
                self.cells[row][column] = old[row][column]

    def on_grid_clear(self, _grid):
        self.cells = [[(" ", 0)] * self.columns for _ in range(self.rows)]

    def on_grid_cursor_goto(self, _grid, row, column):
        self.cursor = (row, column)

    def on_grid_line(self, _grid, row, column, cells, *_wrap):
        highlight = 0
        for cell in cells:
            if len(cell) > 1:
                highlight = cell[1]
            for _ in range(cell[2] if len(cell) > 2 else 1):
                self.cells[row][column] = (cell[0], highlight)
                column += 1

    def on_grid_scroll(self, _grid, top, bottom, left, right, rows, _columns):
        order = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in order:
            self.cells[row][left:right] = self.cells[row + rows][left:right]

    def on_default_colors_set(self, foreground, background, *_rest):
        self.foreground = foreground if foreground >= 0 else 0xFFFFFF
        self.background = background if background >= 0 else 0x000000

    def on_hl_attr_define(self, number, attributes, *_rest):
        self.highlights[number] = attributes

    def text(self):
        return "\n".join("".join(cell[0] for cell in row).rstrip() for row in self.cells)

    def paint(self, path):
        image = Image.new("RGB", (self.columns * CELL_WIDTH, self.rows * CELL_HEIGHT), colour(self.background))
        draw = ImageDraw.Draw(image)
        fonts = {bold: font_of("-Bold.ttf" if bold else ".ttf") for bold in (False, True)}
        for row, cells in enumerate(self.cells):
            for column, (text, number) in enumerate(cells):
                attributes = self.highlights.get(number, {})
                self.paint_cell(draw, fonts[bool(attributes.get("bold"))], row, column, text, attributes)
        image.save(path)

    def paint_cell(self, draw, font, row, column, text, attributes):
        front = attributes.get("foreground", self.foreground)
        back = attributes.get("background", self.background)
        if attributes.get("reverse"):
            front, back = back, front
        if (row, column) == self.cursor:
            front, back = back, front
        left, top = column * CELL_WIDTH, row * CELL_HEIGHT
        if back != self.background:
            draw.rectangle((left, top, left + CELL_WIDTH - 1, top + CELL_HEIGHT - 1), fill=colour(back))
        if text.strip():
            draw.text((left, top), text, font=font, fill=colour(front))
        if attributes.get("underline"):
            draw.line((left, top + CELL_HEIGHT - 2, left + CELL_WIDTH, top + CELL_HEIGHT - 2), fill=colour(front))
        if attributes.get("strikethrough"):
            draw.line((left, top + CELL_HEIGHT // 2, left + CELL_WIDTH, top + CELL_HEIGHT // 2), fill=colour(front))


def font_of(ending):
    path = FONTS + ending
    return ImageFont.truetype(path, FONT_SIZE) if os.path.exists(path) else ImageFont.load_default(FONT_SIZE)


def colour(number):
    return (number >> 16 & 255, number >> 8 & 255, number & 255)


class Neovim:
    """The editor as a child process with a screen attached to it."""

    def __init__(self, argv, cwd, env, columns=150, rows=45):
        self.grid = Grid(columns, rows)
        self.changed = threading.Condition()
        self.answers, self.last_id, self.gone = {}, 0, False
        # A group of its own, so that nothing of it is left behind whatever happens.
        self.process = subprocess.Popen(
            argv + ["--embed"], cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        threading.Thread(target=self.read, daemon=True).start()
        self.call("nvim_ui_attach", columns, rows, {"rgb": True, "ext_linegrid": True})

    def read(self):
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="replace")
        while data := os.read(self.process.stdout.fileno(), 65536):
            unpacker.feed(data)
            with self.changed:
                for message in unpacker:
                    if message[0] == 1:
                        self.answers[message[1]] = message[2:]
                    elif message[0] == 2 and message[1] == "redraw":
                        self.grid.apply(message[2])
                self.changed.notify_all()
        with self.changed:
            self.gone = True
            self.changed.notify_all()

    def call(self, method, *arguments, deadline=60):
        self.last_id += 1
        number = self.last_id
        self.process.stdin.write(msgpack.packb([0, number, method, list(arguments)]))
        self.process.stdin.flush()
        if not self.until(lambda: number in self.answers, deadline):
            raise Failed(f"{method} was not answered")
        fault, result = self.answers.pop(number)
        if fault:
            raise Failed(f"{method}: {fault}")
        return result

    def until(self, condition, deadline):
        """Waits for the editor to bring about a condition on the screen; true when it holds."""
        end = time.monotonic() + deadline
        with self.changed:
            while not condition():
                left = end - time.monotonic()
                if left <= 0 or self.gone:
                    return False
                self.changed.wait(left)
            return True

    def lua(self, code, *arguments):
        return self.call("nvim_exec_lua", code, list(arguments))

    def press(self, keys):
        left = keys.encode()
        while left:
            # The editor takes as many bytes as its input has room for.
            taken = self.call("nvim_input", left)
            left = left[taken:]

    def text(self):
        with self.changed:
            return self.grid.text()

    def paint(self, path):
        with self.changed:
            self.grid.paint(path)

    def close(self, deadline=10):
        try:
            self.process.stdin.write(msgpack.packb([0, 0, "nvim_command", ["qall!"]]))
            self.process.stdin.flush()
            self.process.wait(deadline)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            pass
        finally:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
