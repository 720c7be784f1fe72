// What a failing check says, as one sentence.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

/// A relation's own message; else the tensor, the element, what was expected and came, and what the bound is made of.
/// `ratio`: what got / expected tells (telling_factor.hpp), or empty.
std::string sentence_of(const TensorCheck& check, const std::string& ratio);

/// "w0/m0/loss/d.y[2, 0] (row 1)": the tensor and its worst element.
std::string element_of(const TensorCheck& check);
/// "expected 1, got 2, 2 of it = K with K = 2".
std::string figures_of(const TensorCheck& check, const std::string& ratio);

/// The sentence of a stage that left nothing: that, and what first fails among the other checks.
std::string absence_sentence(const TensorCheck& absent, std::vector<TensorCheck> checks);

}  // namespace tally
