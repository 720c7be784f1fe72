"""Stands in for the attention interface of Transformers."""


class SeesAttention:
    """Each of `watched` is given the function that a module is to call, and gives the one that it calls."""

    def __init__(self, watched):
        from transformers.modeling_utils import AttentionInterface
        self.interface, self.found = AttentionInterface, AttentionInterface.get_interface

        def get_interface(*asked):
            function = self.found(*asked)
            for each in watched:
                function = each(function)
            return function
        AttentionInterface.get_interface = get_interface

    def remove(self):
        """Leaves the attention interface as it was."""
        self.interface.get_interface = self.found
