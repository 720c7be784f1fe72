"""The fixed quick campaign that a mutant has to survive: every law on the host, the fitting ones first."""
import fnmatch
import json
import os
import shutil
import signal
import time

from program import run_limited

PRECISIONS = "fp32,fp16"
SECONDS_AT_LEAST = 20  # a law of the unchanged program takes a second or two
SLOWER = 30            # how many times slower than the unchanged program counts as hanging

# The laws that fit a file go first: they only make a kill sooner, every other law follows.
FITTING = [
    ("kernels/norm/batch_norm*", ["batch_norm_keeps_its_definition", "running_statistics_move_once"]),
    ("kernels/norm/norm_steps.cpp", ["batch_norm_keeps_its_definition"]),
    ("kernels/training_step/batch_statistics.cpp", ["running_statistics_move_once"]),
    ("kernels/norm/batch_norm.cu", ["running_statistics_move_once"]),
    ("kernels/window/[cn]*.cu", ["clip_once_after_unscale"]),
    ("kernels/training_step/update.cpp", ["clip_once_after_unscale"]),
    ("kernels/window/[acos]*.cu", ["decay_and_momentum_once", "overflow_skips_the_window"]),
    ("kernels/training_step/[ou]*.cpp", ["decay_and_momentum_once", "overflow_skips_the_window"]),
    ("kernels/training_step/update.cpp", ["rate_counts_steps_taken"]),
    ("kernels/training_step/run/cost.cpp", ["memory_follows_the_micro_batch"]),
    ("kernels/training_step/*", ["trace_says_what_ran", "declared_order_gives_its_bits", "stages_repeat_elsewhere"]),
    ("kernels/losses/*", ["softmax_holds_far_apart", "class_weights_scale_their_rows",
                          "a_head_in_chunks_keeps_its_bound"]),
    ("kernels/losses/head_loss*", ["a_head_in_chunks_keeps_its_bound", "chunks_of_a_head_leave_exact_bits"]),
    ("kernels/attention/*", ["every_attention_keeps_its_bound", "groups_equal_copies", "blocks_change_rounding_only"]),
    ("kernels/attention/rotary*", ["rotary_is_relative"]),
    ("kernels/embedding/*", ["every_look_up_keeps_its_bound", "absent_tokens_stand_still"]),
    ("kernels/elementwise/*", ["an_adapter_equals_merged_weights"]),
    ("kernels/norm/batch_norm_of_ranks.cu", ["shared_statistics_keep_their_bound", "micro_step_statistics_pool"]),
    ("kernels/*add_norm*", ["a_norm_takes_its_sum_along"]),
    ("kernels/ranks/*", ["any_reduction_is_a_sum", "sharding_changes_nothing", "declared_order_between_ranks"]),
    ("kernels/training_step/ranks/r*.cpp", ["replicas_change_nothing", "norm_spans_ranks", "norm_spans_stages"]),
    ("kernels/training_step/update.cpp", ["ranks_equal_full_batch"]),
    ("kernels/training_step/ranks/pipeline*", ["pipeline_changes_nothing"]),
    ("kernels/training_step/offload.cpp", ["offload_changes_nothing", "overflow_on_one_rank_skips_all"]),
    ("kernels/training_step/ranks/checkpoint*", ["ranks_may_change"]),
    ("kernels/training_step/backward.cpp", ["a_tied_weight_has_both_gradients"]),
    ("kernels/window/schedules.cpp", ["rate_follows_its_formula"]),
    ("kernels/training_step/forward.cpp", ["recomputation_changes_nothing"]),
    ("kernels/training_step/run/build_layers.cpp", ["frozen_keeps_its_bits", "excluded_parameters_do_not_decay"]),
    ("kernels/window/optimizers.cu", ["lion_moves_by_the_rate"]),
    ("kernels/window/scaling.cu", ["scaler_counts_windows"]),
    ("kernels/window/*.hpp", ["norm_spans_launches", "norms_count_every_element"]),
    ("kernels/reduction/*", ["norms_count_every_element", "shared_statistics_keep_their_bound"]),
    ("kernels/norm/*", ["window_batch_norm_equals_full_batch", "frozen_keeps_its_bits"]),
    ("kernels/window/norm*", ["one_parameter_clips"]),
    ("kernels/training_step/backward.cpp", ["recomputation_changes_nothing"]),
    ("*", ["settings_stand_together", "every_launch_path_keeps_its_bound", "kernels_keep_their_bound_at_edges",
           "any_order_of_additions", "guard_zones_stay_intact", "repeats_bitwise", "many_micro_batches_stay_bounded"]),
]


def ordered(laws, path):
    """All laws, those that fit `path` first."""
    first = [law for pattern, names in FITTING if fnmatch.fnmatchcase(path, pattern) for law in names if law in laws]
    return list(dict.fromkeys(first + sorted(laws)))


class Campaign:
    """`cases` are cases a law and precision, one number a round; the later rounds draw other cases."""

    def __init__(self, laws, cases, seed):
        self.laws, self.cases, self.seed = laws, cases, seed
        self.seconds = {}  # (law, round) -> what the unchanged program took

    def prove(self, link, folder):
        """Runs the unchanged program; raises where it fails a law, since a kill would then mean nothing."""
        program = link()
        for turn in range(len(self.cases)):
            for law in self.laws:
                started = time.monotonic()
                found = self._run_law(program, folder, law, turn, None)
                if found is not None:
                    raise RuntimeError(f"the unchanged program fails {law}: {found}; nothing can be said of mutants")
                self.seconds[law, turn] = time.monotonic() - started

    def run(self, link, path, folder):
        """What killed the program whose file `path` was changed, as a dictionary, or None."""
        program = link()
        for turn in range(len(self.cases)):
            for law in ordered(self.laws, path):
                limit = SECONDS_AT_LEAST + SLOWER * self.seconds[law, turn]
                found = self._run_law(program, folder, law, turn, limit)
                if found is not None:
                    return found
        return None

    def __str__(self):
        return (f"Each ran up to {len(self.laws)} laws on the host with {','.join(map(str, self.cases))} cases a law and "
                "precision; the unchanged program passes them all.")

    def _run_law(self, program, folder, law, turn, limit):
        out = f"{folder}/out"
        shutil.rmtree(out, ignore_errors=True)
        command = [program, "verify", "--subject", "host", "--no-training", "--no-shrink", "--processes", "1",
                   "--law", law, "--precision", PRECISIONS, "--cases", str(self.cases[turn]),
                   "--seed", str(self.seed + turn), "--out", out]
        code, output = run_limited(command, folder, limit)
        if code == 0:
            return None
        if code is None:
            return {"by": "timeout", "law": law, "stage": "", "class": f"no end within {limit:.0f} s"}
        if code < 0:
            return {"by": "crash", "law": law, "stage": "", "class": signal.Signals(-code).name}
        return self._reason(out, law, code, output)

    def _reason(self, out, law, code, output):
        """The first failing case: its stage and class; without one, why the law is not green."""
        if not os.path.isfile(f"{out}/results.json"):
            last = output.strip().splitlines()[-1:] or [""]
            return {"by": "error", "law": law, "stage": "", "class": f"exit code {code}: {last[0][:200]}"}
        with open(f"{out}/results.json", encoding="utf-8") as file:
            results = json.load(file)
        for case in results["cases"]:
            if case["status"] in ("fail", "error"):
                by = "law" if case["status"] == "fail" else "error"
                return {"by": by, "law": case["law"], "stage": case["first_stage"], "class": case["failure"]}
        message = results["laws"][0]["message"] or f"exit code {code}"
        return {"by": "not green", "law": law, "stage": "", "class": message[:200]}


def laws_of(program, folder):
    code, output = run_limited([program, "list", "laws"], folder, 60)
    if code != 0:
        raise RuntimeError(f"tally list laws: {output}")
    return [line.split()[0] for line in output.splitlines() if "[" in line]
