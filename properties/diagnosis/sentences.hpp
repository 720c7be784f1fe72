// What a failing check or capture says in sentences: what is wrong, in which call, and what to change.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/trace/recorder_notes.hpp"
#include "kernels/trace/tap_name.hpp"
#include "oracle/case/case.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "reports/record/record.hpp"

namespace tally {

// What a failing check says, as one sentence.

/// A relation's own message; else the tensor, the element, what was expected and came, and what the bound is made of.
/// `ratio`: what got / expected tells (explained.hpp), or empty.
std::string sentence_of(const TensorCheck& check, const std::string& ratio);

/// "w0/m0/loss/d.y[2, 0] (row 1)": the tensor and its worst element.
std::string element_of(const TensorCheck& check);
/// "expected 1, got 2, ratio 2 = K with K = 2".
std::string figures_of(const TensorCheck& check, const std::string& ratio);

/// The sentence of a stage that left nothing: that, and what first fails among the other checks.
std::string absence_sentence(const TensorCheck& absent, std::vector<TensorCheck> checks);

// What a tensor of a trace is, in the words of a training loop.

/// "what the micro-batch's loss is multiplied by" of w0/m1/loss/in.factor; empty where the name says as much.
std::string words_of_tap(const TapName& name);

// Which call of the user's program a failure belongs to.

/// The place of the call where the likeliest cause enters, else of the failing stage's call; nothing where nothing
/// fails or the place is not known.
std::optional<CodePlace> faulty_call(const JudgedCapture& judged, const std::map<std::string, CodePlace>& places);

// What to change in the loop where it looks like a known bug: its remedy.

/// In the letters of the formulas: n_k items of the micro-batch, N of the window, K micro-batches. Empty for a name that
/// is none.
std::string remedy_of(std::string_view name);

/// With the numbers of the window and micro-batch where the capture fails; of several ranks in letters.
std::string remedy_at(std::string_view name, const Case& c, const TapName& failure);

// A failing capture in sentences: what is wrong, what to change, and what fails first.

/// What the likeliest cause does; where none is known, that and the stage that fails first. Empty where nothing fails.
std::string cause_of(const JudgedCapture& judged);

/// The first tensor that fails, what it is, its worst element's numbers and, where a suspect is known, what it looks like;
/// empty where nothing fails.
std::string sentence_of(const Case& c, const Trace& trace, const JudgedCapture& judged);

/// What to change, of every suspect in their order, with the numbers of where the capture fails.
std::vector<std::string> remedies_of(const Case& c, const JudgedCapture& judged);

}  // namespace tally
