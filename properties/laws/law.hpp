// A law: one sentence that must hold for every case in its domain, a control that must differ, and what becomes of
// outcomes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/training_step/run/run.hpp"
#include "oracle/case/case.hpp"
#include "oracle/registered_files.hpp"
#include "properties/generators/plan.hpp"
#include "reports/record/record.hpp"

namespace tally {

// A law: one sentence that must hold for every case in its domain, and a control that must differ, so that a law that
// cannot fail is noticed. One file a law; it registers itself. Which seeded faults break it, the faults say.

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
  /// Whether `holds` may be asked of a case that `shape` would not give: one that breaks the law may shrink below what
  /// it would draw. What the lenses then find in one stage is a failure like any other; a relation between runs need
  /// not be.
  bool judges_any_case = false;
  /// Whether its plans are designed one after another, by seed: none of theirs is bred from an earlier one.
  bool designed = false;
};

using RegisterLaw = Register<Law>;

/// All laws, sorted by name.
std::vector<const Law*> laws();
const Law* find_law(std::string_view name);

// What laws do with outcomes: checks are added, relations required, and at the end all of it is settled into a status.

/// Adds a check and takes the outcome down to it: fail beats all, vacuous only if nothing passed.
void add(Outcome& outcome, TensorCheck check);
void add(Outcome& outcome, const Outcome& other);

/// Fails the outcome with this message unless `holds`; a check of lens "relation" records it. `tap`: what the relation
/// is about, a tap where it is about one tensor.
void require(Outcome& outcome, bool holds, const std::string& tap, const std::string& stage,
             const std::string& message);

/// Every tap of these stages whose bits both runs promise (judge.hpp) must be equal in both (±0 as one value).
void require_equal_bits(Outcome& outcome, const Trace& expected, const Trace& got,
                        const std::vector<std::string>& stages, const std::string& message);

/// Whether any tap of these stages differs in bits between two traces, or exists in one only.
bool bits_differ(const Trace& a, const Trace& b, const std::vector<std::string>& stages);

/// Settles status and message from the checks; call once at the end of a law. Vacuous where every gradient is exactly
/// zero.
Outcome settled(Outcome outcome);

/// The outcome of a case that was not drawn for the law: not run, with what the law needs.
Outcome not_for(const std::string& what_it_needs);
/// A settled outcome that passes counts for nothing: it is vacuous, for this reason.
Outcome vacuous(Outcome outcome, const std::string& reason);

}  // namespace tally
