// A coverage point (trigger): one thing that a case, a kernel call or a run must show before a known kind of bug can be
// seen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/case.hpp"
#include "oracle/registered_files.hpp"

namespace tally {

// One judged run, as triggers look at it: the case, and what the run left.

struct Sight {
  const Case& drawn;  // what the law was given
  const Case& c;      // what it ran: the same, or what it made of it
  const Trace& trace;
  std::vector<std::vector<double>> items;  // [w][k] the micro-batch's items n_k
  std::vector<bool> skipped;               // [w]
  /// [w] micro-batches after which some buffer is not finite for the first time; -1: never.
  std::vector<int> overflowed;

  Sight(const Case& drawn_case, const Case& ran, const Trace& left);

  /// nullptr when window w has no such tap: "unscale", "d.fc1.weight".
  const Tensor* tap(std::size_t window, const std::string& stage, const std::string& tensor) const;
  /// The same as a number; NaN where there is none.
  double number(std::size_t window, const std::string& stage, const std::string& tensor) const;
  std::size_t windows() const { return c.windows.size(); }
  bool any_layer(const std::function<bool(const Layer&)>& holds) const;
  /// Some layer is a batch_norm with these statistics; empty: with any.
  bool batch_norm(const std::string& statistics = "") const;
  /// Some window's items n_1 … n_K satisfy it.
  bool any_items(const std::function<bool(const std::vector<double>&)>& holds) const;
  /// Some element of a tap of this stage (outputs) satisfies it, given its format.
  bool any_value(const std::string& stage, const std::function<bool(double, Dtype)>& holds) const;
  /// Some element of x satisfies it.
  bool any_x(const std::function<bool(double, Dtype)>& holds) const;
};

// A trigger: one thing that a case, a kernel call or a run must show before a known kind of bug can be seen. Each row
// of triggers is one file; it registers itself.

/// `of_case`: drawn with the case; `of_kernel`: a size of a kernel's call; `of_run`: what was done with the case;
/// `later`: this program cannot show it yet, for the reason given.
enum class TriggerKind { of_case, of_kernel, of_run, later };
std::string_view word_of(TriggerKind kind);

struct Trigger {
  std::string name;
  TriggerKind kind = TriggerKind::of_case;
  std::string description;  // when it counts as seen; of `later` ones, why not yet
  /// Whether a judged run shows it. Empty: nothing in a run does, and whoever does it says so (note_trigger).
  bool (*seen)(const Sight& sight) = nullptr;
  std::string group = {};
};

/// Triggers that are listed together; groups are listed by row, then by name.
struct TriggerGroup {
  int row;
  std::string name;
  std::vector<Trigger> triggers;
};
inline std::pair<int, std::string> key_of_record(const TriggerGroup& group) { return {group.row, group.name}; }

/// All triggers, by group, then in the order in which they stand in their file.
const std::vector<Trigger>& triggers();

}  // namespace tally
