"""What goes wrong while a loop is recorded."""


class CaptureError(Exception):
    """Something that no capture can be made of: one line with place, what was found, what was expected, what to do."""
