#include <algorithm>
#include <map>
#include <sstream>

#include "kernels/device/executor/concurrent_streams.hpp"
#include "kernels/training_step/run/captured_run.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/faults/trials/trials.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/drawn_options.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"

namespace tally {
namespace {

constexpr int cases_a_law = 12;

/// The operation and variant that a path turns on; both empty for the separate kernels, and for a captured run.
struct Path {
  std::string name, operation, variant;
  std::vector<std::string> stages_in_one;  // that have no code of their own there
};

const std::vector<Path>& paths() {
  static const std::vector<Path> all{
      {"separate", "", "", {}},
      {"fused unscale", "unscale_check_norm", "multi_tensor", {"overflow_check", "unscale", "norm"}},
      {"fused step", "clip_decay_step", "multi_tensor", {"clip", "decay", "optimizer"}},
      {"into_buffer", "linear.weight_gradient", "into_buffer", {}},
      {"captured", "", "", {}}};
  return all;
}

Choice optimizer_of(const std::string& name) {
  if (name == "momentum") return choice("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}});
  return choice("optimizer", name);
}

std::string optimizer_name(const Case& c) {
  const Choice& optimizer = c.recipe.optimizer;
  if (optimizer.kind != "sgd") return optimizer.kind;
  return optimizer.number("momentum").to_double() != 0 ? "momentum" : "sgd";
}

/// The case under another optimizer, which starts anew.
Case with_optimizer(const Case& c, const std::string& name) {
  if (optimizer_name(c) == name) return c;
  Case other = c;
  other.recipe.optimizer = optimizer_of(name);
  std::erase_if(other.tensors, [](const auto& named) {
    const std::string& tensor = named.first;
    return !parameter_of_state(tensor).empty() || tensor == "step";
  });
  return other;
}

Case first_window_of(const Case& c) {
  Case one = c;
  one.windows.resize(1);
  std::int64_t rows = 0, all = 0;
  for (const std::int64_t each : one.windows.front()) rows += each;
  for (const auto& window : c.windows) {
    for (const std::int64_t each : window) all += each;
  }
  for (std::int64_t left = rows, i = 0; i < std::ssize(c.sequences) && left > 0; ++i) {
    left -= c.sequences[static_cast<std::size_t>(i)];
    one.sequences.resize(static_cast<std::size_t>(i) + 1);
  }
  for (auto& [name, tensor] : one.tensors) {
    if (has_pairs(c, name)) tensor = mask_of_rows(c, name.substr(0, name.rfind('.')), 0, rows);
    if (has_pairs(c, name)) continue;
    const bool by_row = has_rows(name);
    if (by_row && !tensor.shape.empty() && tensor.shape.front() == all) tensor = rows_of(tensor, 0, rows);
  }
  return one;
}

/// The fault's stages on that path, or the shipped ones. Lives as long as the program: a process runs a few faults.
const Stages& stages_on(const Path& path, const Stages& stages) {
  static std::map<std::pair<std::string, const Stages*>, Stages> kept;
  const auto [at, fresh] = kept.emplace(std::make_pair(path.name, &stages), stages);
  if (fresh && !path.operation.empty()) at->second.variants[path.operation] = path.variant;
  return at->second;
}

bool fails(const std::vector<TensorCheck>& checks) { return first_failure(checks) != nullptr; }

bool same_bits_throughout(const Trace& a, const Trace& b) {
  return a.taps().size() == b.taps().size() && a.violations == b.violations &&
         std::all_of(a.taps().begin(), a.taps().end(), [&](const Tap& tap) {
           const Tensor* other = b.find(tap.name.view());
           return other != nullptr && *other == tap.value;
         });
}

class Row {
 public:
  Row(const Fault& fault, const CampaignOptions& options) : fault_(fault), options_(options) {
    options_.corpus.clear();
    options_.shrink = false;
    options_.subject.stages = &fault.stages();
  }

  FaultRow run() {
    const NoDiagnosis none;
    for (const Dtype storage : storage_formats()) of_precision(storage);
    return std::move(row_);
  }

 private:
  struct Failing {
    const Law* law;
    Case c;
  };

  std::optional<Failing> draw(Dtype storage) {
    changed_ = false;
    for (const std::string& name : fault_.laws) {
      const Law* law = find_law(name);
      CampaignOptions few = options_;
      few.cases = cases_a_law;
      TaskResult result = run_law_task(*law, storage, few);
      if (result.failing) return Failing{law, std::move(*result.failing)};
      for (std::size_t i = 0; i < result.cases.size() && !changed_; i += 3) {
        if (!result.cases[i].token.empty()) changed_ = changes(case_of_token(result.cases[i].token), paths().front());
      }
    }
    return std::nullopt;
  }

  void of_precision(Dtype storage) {
    const auto failing = draw(storage);
    for (const Path& path : paths()) {
      for (const std::string& optimizer : fault_optimizers()) {
        FaultCell cell{std::string(name_of(storage)), path.name, optimizer, Planted::cannot, ""};
        if (failing) {
          judge(cell, path, *failing->law, with_optimizer(failing->c, optimizer));
        } else {
          cell.found = changed_ ? Planted::missed : Planted::cannot;
          cell.reason = changed_ ? "no law fails in this precision" : "changes no bit in this precision: " + needs();
        }
        row_.cells.push_back(std::move(cell));
      }
    }
  }

  std::string needs() const { return "it needs " + fault_.condition; }

  void judge(FaultCell& cell, const Path& path, const Law& law, const Case& c) {
    const auto& fused = path.stages_in_one;
    if (std::find(fused.begin(), fused.end(), stage_of(fault_)) != fused.end()) {
      cell.reason = "the pass does the work of " + stage_of(fault_) + " itself: that stage has no code of its own";
      return;
    }
    try {
      const bool caught = path.name == "captured" ? caught_when_captured(c) : caught_by(law, path, c);
      if (caught) {
        cell.found = Planted::caught;
      } else if (changes(c, path)) {
        cell.found = Planted::missed;
        cell.reason = path.name == "captured" ? "inside the bound of the whole window: nothing in it is tapped"
                                              : "law " + law.name + " passes";
      } else {
        cell.reason = "changes no bit there: " + needs();
      }
    } catch (const NotSupported& why) {
      cell.reason = why.what();
    } catch (const executor::WaitsWhileCaptured& why) {
      cell.reason = why.what();
    }
  }

  bool caught_by(const Law& law, const Path& path, const Case& c) {
    RunOptions subject = options_.subject;
    subject.stages = &stages_on(path, fault_.stages());
    const Outcome outcome = outcome_of(law, c, subject);
    if (outcome.status == Status::not_run) throw NotSupported(outcome.message);
    return outcome.status == Status::fail || outcome.status == Status::error;
  }

  Trace trace_of(const Case& c, const Path& path, const Stages& stages) {
    RunOptions run_options;
    run_options.stages = &stages_on(path, stages);
    if (path.name != "captured") return tally::run(c, run_options);
    CapturedRun captured(c, run_options);
    return captured.replay();
  }

  bool caught_when_captured(const Case& c) {
    const Case one = first_window_of(c);
    const Trace trace = trace_of(one, paths().back(), fault_.stages());
    return fails(hard_lenses(one, trace, Grouping::inferred).checks);
  }

  bool changes(const Case& c, const Path& path) {
    const Case& shown = path.name == "captured" ? first_window_of(c) : c;
    return !same_bits_throughout(trace_of(shown, path, fault_.stages()), trace_of(shown, path, shipped_stages()));
  }

  const Fault& fault_;
  CampaignOptions options_;
  bool changed_ = false;
  FaultRow row_{fault_.name, {}};
};

std::string written(const FaultRow& row) {
  std::string text;
  for (const FaultCell& cell : row.cells) {
    text += std::to_string(static_cast<int>(cell.found)) + "\t" + cell.precision + "\t" + cell.path + "\t" +
            cell.optimizer + "\t" + cell.reason + "\n";
  }
  return text;
}

FaultRow read(const std::string& fault, const std::string& text) {
  FaultRow row{fault, {}};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string found;
    FaultCell cell;
    std::getline(words, found, '\t'), std::getline(words, cell.precision, '\t');
    std::getline(words, cell.path, '\t'), std::getline(words, cell.optimizer, '\t'), std::getline(words, cell.reason);
    cell.found = static_cast<Planted>(std::stoi(found));
    row.cells.push_back(std::move(cell));
  }
  return row;
}

}  // namespace

const std::vector<std::string>& fault_paths() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Path& path : paths()) all.push_back(path.name);
    return all;
  }();
  return names;
}

const std::vector<std::string>& fault_optimizers() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"sgd", "momentum", "adam"};
    all.insert(all.end(), further_optimizers().begin(), further_optimizers().end());
    return all;
  }();
  return names;
}

FaultRow fault_row(const Fault& fault, const CampaignOptions& options) { return Row(fault, options).run(); }

std::vector<FaultRow> fault_matrix(const std::vector<const Fault*>& list, const CampaignOptions& options) {
  const auto answers = run_in_processes(
      list.size(), processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) { return written(fault_row(*list[i], options)); },
      [&](std::size_t i) { options.progress("matrix: " + list[i]->name); });
  std::vector<FaultRow> rows;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (answers[i].starts_with("crash: ")) {
      rows.push_back({list[i]->name, {{"", "", "", Planted::missed, answers[i]}}});
    } else {
      rows.push_back(read(list[i]->name, answers[i]));
    }
  }
  return rows;
}

}  // namespace tally
