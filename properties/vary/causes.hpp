// What makes micro-batches differ from the whole batch, and what to change: as a loop's author would say it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally {

/// In its texts {K}, {N}, {n}, … stand for numbers of the window; without numbers, as `tally explain` prints them, for
/// their letters.
struct VaryCause {
  std::string name;    // "1/(K n_k)"
  std::string factor;  // by which a row of micro-batch k weighs too much, where that tells the cause: "N/(K n_k)"
  std::string what, change;
};

const std::vector<VaryCause>& vary_causes();
/// The cause of a name that is there.
const VaryCause& vary_cause(std::string_view name);

using CauseNumbers = std::vector<std::pair<std::string, std::string>>;  // "K", "3"
/// With numbers in place of the braces; "{K=}" becomes "K = 3". Those that are not given become their letters, one that is
/// empty leaves no gap.
std::string filled_in(const std::string& text, const CauseNumbers& numbers);

/// Three digits; more of a whole number.
std::string figure_text(double value);
/// Two numbers that differ, with as many digits as tell them apart.
std::pair<std::string, std::string> texts_apart(double one, double other);

}  // namespace tally
