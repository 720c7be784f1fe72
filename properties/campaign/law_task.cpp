#include "properties/campaign/law_task.hpp"

#include <rapidcheck.h>

#include <chrono>
#include <cmath>
#include <exception>
#include <iostream>
#include <sstream>

#include "kernels/device/device.hpp"
#include "oracle/case/io.hpp"
#include "properties/campaign/corpus.hpp"
#include "properties/campaign/shrink.hpp"
#include "properties/generators/random_plan.hpp"

namespace tally {
namespace {

constexpr int control_attempts = 8;

/// RapidCheck reports to std::cerr; the campaign has its own report.
class QuietCerr {
 public:
  QuietCerr() : saved_(std::cerr.rdbuf(sink_.rdbuf())) {}
  ~QuietCerr() { std::cerr.rdbuf(saved_); }

 private:
  std::ostringstream sink_;
  std::streambuf* saved_;
};

std::uint64_t seed_of(std::uint64_t seed, const Law& law, Dtype storage) {
  const std::string text = std::to_string(seed) + law.name + std::string(name_of(storage));
  return std::stoull(sha256(text).substr(0, 15), nullptr, 16);
}

class LawTask {
 public:
  LawTask(const Law& law, Dtype storage, const CampaignOptions& options)
      : law_(law), storage_(storage), options_(options) {}

  TaskResult run() {
    replay_corpus();
    draw_cases();
    if (failing_) {
      keep_failing();
      result_.cases.push_back(std::move(*failing_));
    }
    return std::move(result_);
  }

 private:
  void replay_corpus() {
    for (const KeptCase& kept : kept_cases(options_.corpus)) {
      if (kept.law != law_.name) continue;
      const Case c = read_case_file(kept.file);
      if (c.precision.storage != storage_) continue;
      CaseRecord record = record_of(c, law_, outcome_of(law_, c, options_.subject));
      record.title = "kept: " + record.title;
      result_.cases.push_back(std::move(record));
    }
  }

  void draw_cases() {
    rc::detail::TestParams params;
    params.seed = seed_of(options_.seed, law_, storage_);
    params.maxSuccess = std::max(number_of_cases(), control_attempts);
    rc::detail::TestMetadata metadata;
    metadata.id = law_.name;
    const auto property = [this] {
      Plan plan = *random_plan(storage_);
      try {
        RC_ASSERT(try_one(std::move(plan)));
      } catch (const std::exception&) {  // RapidCheck would take it for a failing case, and the task would end early
        if (!broken_) broken_ = std::current_exception();
      }
    };
    {
      const QuietCerr quiet;
      rc::detail::checkTestable(property, metadata, params);
    }
    if (broken_) std::rethrow_exception(broken_);
  }

  int number_of_cases() const {
    if (options_.cases) return *options_.cases;
    return std::max(1, static_cast<int>(std::lround(cases_at_effort_one * options_.effort * law_.weight)));
  }

  bool out_of_time() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started_;
    return (options_.interrupted && *options_.interrupted) || (options_.seconds && spent.count() > *options_.seconds);
  }

  /// True when the law holds, is vacuous or could not run. After a failure RapidCheck would shrink it: its attempts are
  /// turned down, since they may end at another bug.
  bool try_one(Plan plan) {
    if (failing_ || out_of_time()) return true;
    if (law_.shape) law_.shape(plan);
    const Case c = case_of(plan);
    if (drawn_++ >= number_of_cases()) {  // more cases than asked for, until the control has differed
      try_control(c);
      return true;
    }
    const Outcome outcome = outcome_of(law_, c, options_.subject);
    if (outcome.status == Status::fail || outcome.status == Status::error) {
      take_failing(plan, c, outcome);
      return false;
    }
    try_control(c);
    result_.cases.push_back(record_of(c, law_, outcome));
    result_.cases.back().seed = plan.seed;
    return true;
  }

  void take_failing(const Plan& plan, const Case& c, const Outcome& outcome) {
    failing_case_ = c;
    if (options_.shrink) {
      ShrunkCase smaller = shrunk(law_, plan, outcome, options_.subject);
      failing_case_ = std::move(smaller.c);
      failing_ = record_of(failing_case_, law_, smaller.outcome);
    } else {
      failing_ = record_of(c, law_, outcome);
    }
    failing_->seed = plan.seed;
  }

  void try_control(const Case& c) {
    if (result_.control_differs || !law_.differs || ++controls_ > control_attempts) return;
    try {
      result_.control_differs = law_.differs(c, options_.subject);
    } catch (const NotSupported&) {
      // The control could not run on this case; the next one may.
    }
  }

  void keep_failing() {
    if (options_.corpus.empty()) return;
    const auto file = keep(options_.corpus, law_.name, failing_->id, failing_case_);
    if (failing_->token.empty()) failing_->token = (options_.corpus.filename() / file.filename()).string();
  }

  const Law& law_;
  Dtype storage_;
  const CampaignOptions& options_;
  TaskResult result_;
  std::optional<CaseRecord> failing_;
  Case failing_case_;
  std::exception_ptr broken_;  // what a generator, a shape or a control threw
  int controls_ = 0, drawn_ = 0;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace

Outcome outcome_of(const Law& law, const Case& c, const Subject& subject) {
  try {
    return law.holds(c, subject);
  } catch (const NotSupported& reason) {
    Outcome outcome;
    outcome.status = Status::not_run;
    outcome.message = reason.what();
    return outcome;
  } catch (const DeviceAbsent&) {
    throw;
  } catch (const std::exception& problem) {
    Outcome outcome;
    outcome.status = Status::error;
    outcome.message = problem.what();
    return outcome;
  }
}

TaskResult run_law_task(const Law& law, Dtype storage, const CampaignOptions& options) {
  return LawTask(law, storage, options).run();
}

}  // namespace tally
