"""What is said of a recorded run: notes for the reader, and problems that make the capture none."""


def counted(lines):
    """The first line of each kind, and how many more there are."""
    return [first if more == 0 else f"{first} (and {more} more like this)" for first, more in lines.values()]


class Report:
    """Lines of one kind differ in their place alone; the first of them is printed."""

    def __init__(self, meaning):
        self.meaning, self.noted_lines, self.problem_lines, self.wrong_lines = meaning, {}, {}, {}
        self.early = None  # where a step was first taken too early

    @staticmethod
    def add(lines, kind, line):
        first, more = lines.get(kind, (line, -1))
        lines[kind] = first, more + 1

    def problem(self, place, found, expected, next_step):
        self.add(self.problem_lines, (expected, next_step), f"{place}: found {found}, expected {expected}; {next_step}")

    def say_problem(self, line):
        """One that is a line already."""
        self.add(self.problem_lines, line, line)

    def divided(self, change):
        """All gradients times one number before the step, which no clip explains."""
        how = f"divided by {change.divisor}" if change.divisor else f"multiplied by {change.factor!r}"
        self.problem_lines["divided"] = (
            f"the gradients before the step: found all of a window {how}, expected a clip or nothing; if the loop "
            'divides once a window, pass divide="window" and normalisation, "mean_of_means" where each loss is a mean, '
            '"window_items" where it is a sum; record without a loss scale by hand or a world size, which no case '
            "states", 0)

    def silent_term(self, place):
        self.say(f"not judged: a term of the loss at {place}: it was computed without gradients (torch.no_grad), so that it "
                 "sends none back; compute it with gradients if it is meant to train the model")

    def stepped_early(self, place, counts):
        """Before the last micro-batch of a window, whose gradient then goes on. `counts` are the micro-batches of the windows that are
        recorded, up to this step."""
        if self.early is None and len(counts) == 1:
            self.early = (f"{place}: a step was taken before the window's last micro-batch, whose gradient goes into the next window: step "
                          "behind the last one, `(i + 1) % K == 0`")
        elif self.early is None:
            self.early = (f"{place}: a step was taken, as at an epoch's end, behind which windows begin anew: say how many micro-batches "
                          f"each window has, micro_batches={counts[:1]} * {len(counts) - 1} + {counts[-1:]}, and divide each by what it holds")
        self.noted(place, "a step was taken before the window's last micro-batch")

    def not_cleared(self, window, names, of_some):
        """What .grad holds as a window begins is of earlier ones."""
        if self.early:
            return self.wrong(self.early)
        self.add(self.wrong_lines, "not cleared", (
            f"window {window} begins with gradients of earlier windows, {names[0]}" + (f" and {len(names) - 1} more" if names[1:] else "")
            + f": clear gradients after every step, optimizer.zero_grad(){' of all parameters' if of_some else ''}; looks like "
            f"{'missing-zero-of-some' if of_some else 'missing-zero-between-windows'}"))

    def wrong(self, line):
        """What the recorder itself found to be wrong, and what to change: no capture shows it to `tally check`."""
        self.wrong_lines[line] = line, 0

    def noted(self, place, did, shown_from="parameters"):
        """A thing the loop did that Tally is to judge; where the level leaves no tap that shows it, a problem."""
        if self.meaning.at(shown_from):
            self.add(self.noted_lines, did, f"{place}: {did}")
        else:
            self.add(self.problem_lines, did, f"{place}: {did}; record at level {shown_from!r}, which shows it to "
                                              "`tally check`")

    def changed_between(self, change, place):
        """What happened to gradients between two micro-batches."""
        if change.kind == "factor":
            self.noted(f"{place}, all gradients times {change.factor!r}",
                       "were changed between two micro-batches, as a clip per micro-batch does", "gradients")
        elif change.kind == "clamp":
            self.noted(f"{place}, all gradients clamped to {change.limit!r}",
                       "were changed between two micro-batches, as a clip per micro-batch does", "gradients")
        elif change.kind == "unexplained":
            self.unexplained(place, change)

    def unexplained(self, place, change):
        self.problem(f"{place}, gradient of {change.place}", "a change that is no accumulation, clip or scaler",
                     "the bits of the last accumulation",
                     "keep other code from writing to .grad, as with torch.autograd.grad, or record without it")

    def say(self, line):
        self.noted_lines[line] = line, 0

    def say_of_kind(self, kind, line):
        """The first of a kind counts the others."""
        self.add(self.noted_lines, kind, line)

    def notes(self):
        return counted(self.noted_lines)

    def problems(self):
        return counted(self.problem_lines)

    def wrongs(self):
        return counted(self.wrong_lines)
