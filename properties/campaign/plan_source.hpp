// The plans of one task, in order. Most are drawn afresh; one in four is bred from an earlier one that showed much: new
// pairs of triggers, or an error near its bound. A function of seed and rewards alone. Plans drawn afresh have seeds
// that follow one another: a law's shape that chooses by `seed % n` meets all its choices.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/generators/plan.hpp"

namespace tally {

/// Where the seeds of the plans of a job begin, whatever its number of plans.
inline std::uint64_t first_plan_seed(std::uint64_t seed) { return seed % (std::uint64_t{1} << 20); }

/// A plan with some sections (layers, loss, cut, recipe, values, …) taken from another.
Plan bred(Plan parent, const Plan& other, std::uint64_t seed);

class PlanSource {
 public:
  /// Shapes grow from small to full over `cases` plans, or over the first 40 of more.
  PlanSource(Dtype storage, std::uint64_t seed, int cases);
  /// The same with plans whose seeds follow `first`, as of a strand that is not its job's first.
  PlanSource(Dtype storage, std::uint64_t seed, int cases, std::uint64_t first);

  Plan next();
  /// Plans drawn afresh alone, with these seeds, one after the other and again from the first.
  void number(std::vector<std::uint64_t> seeds);
  /// How much the plan that next() gave showed: 0 for nothing.
  void reward(double score);

 private:
  struct Parent {
    double score;
    Plan plan;
  };
  Plan drawn(std::uint64_t seed) const;

  Dtype storage_;
  std::uint64_t seed_, first_;
  int cases_, number_ = 0;
  Plan last_;
  std::vector<std::uint64_t> seeds_;  // of the plans; empty: those that follow first_
  std::vector<Parent> parents_;       // the best few, best first
};

}  // namespace tally
