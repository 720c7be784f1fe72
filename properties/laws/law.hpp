// A law: one sentence that must hold for every case in its domain, and a control that must differ, so that a law that
// cannot fail is noticed. One file a law; it registers itself. Which seeded faults break it, the faults say.
#pragma once

#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/training_step/run.hpp"
#include "oracle/case/case.hpp"
#include "properties/generators/plan.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// What one law found on one case.
struct Outcome {
  // Defined once, in law.cpp: most files that hold one would compile their own copy of these.
  Outcome();
  Outcome(const Outcome&);
  Outcome(Outcome&&) noexcept;
  Outcome& operator=(const Outcome&);
  Outcome& operator=(Outcome&&) noexcept;
  ~Outcome();

  Status status = Status::pass;
  std::string message;              // the sentence that says what the law expected and what came
  std::vector<TensorCheck> checks;  // in stage order
  double rounding_drift = 0, semantic_gap = 0, drift_bound = 0, decision_drift = 0;
  std::vector<Suspicion> suspects;  // what the first failing tensor looks like, the likeliest first
  std::string ratio;                // what its got / expected tells: "(K-1)/K with K = 6"; else empty
};

struct Law {
  std::string name, family, statement;
  /// Narrows a drawn plan to the law's domain (unequal sizes, an active clip, a short tail window, ...).
  void (*shape)(Plan& plan) = nullptr;
  /// Runs the case, with options of its own (order, accumulation off) on top of these, and judges it.
  Outcome (*holds)(const Case& c, const RunOptions& subject) = nullptr;
  /// What must differ, in one sentence, and whether it does on this case.
  std::string control;
  bool (*differs)(const Case& c, const RunOptions& subject) = nullptr;
  /// The share of the campaign's cases this law gets, relative to 1.
  double weight = 1;
  /// Whether it holds for values of any bit pattern, near under- and overflow too; others draw ordinary ones.
  bool any_values = false;
};

struct RegisterLaw {
  explicit RegisterLaw(Law law, std::source_location at = std::source_location::current());
};

/// All laws, sorted by name.
std::vector<const Law*> laws();
const Law* find_law(std::string_view name);

}  // namespace tally
