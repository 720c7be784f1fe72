#include "properties/operations/judged_recording.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "oracle/operations/rule.hpp"
#include "oracle/real/threads.hpp"

namespace tally {

namespace {

void count(OperationCounts& counts, const JudgedCall& judged, const OperationPlace& place) {
  ++counts.operations;
  counts.held += judged.status == JudgedCall::held;
  counts.nothing += judged.status == JudgedCall::nothing_to_hold;
  counts.not_judged += judged.status == JudgedCall::not_judged;
  counts.failed += judged.fails();
  for (const JudgedResult& each : judged.results) {
    counts.elements += each.elements;
    counts.undecided += each.undecided;
    counts.vacuous += each.vacuous;
  }
  const double r = judged.worst();
  if (r > counts.worst || (r == counts.worst && r > 0 && place.number < counts.at.number)) {
    counts.worst = r;
    counts.at = place;
  }
}

OperationPlace standing_of(const RecordedCall& recorded) {
  return {recorded.number, recorded.step, recorded.call.full, recorded.where, recorded.module, recorded.phase};
}

void add(JudgedRecording& all, RecordedCall& recorded, JudgedCall judged) {
  const OperationPlace place = standing_of(recorded);
  count(all.all, judged, place);
  count(all.by_operation[recorded.call.name], judged, place);
  if (!place.module.empty()) count(all.by_module[place.module], judged, place);
  if (!place.phase.empty()) count(all.by_phase[place.phase], judged, place);
  if (judged.made_non_finite && (!all.first_non_finite || place.number < all.first_non_finite->number))
    all.first_non_finite = place;
  if (judged.status == JudgedCall::not_judged) {
    NotJudgedOperations& same = all.not_judged[judged.why];
    if (same.operations++ == 0 || place.number < same.first.number) same.first = place;
  }
  if (!judged.fails()) return;
  const auto at =
      std::lower_bound(all.failures.begin(), all.failures.end(), place.number,
                       [](const JudgedOperation& each, std::int64_t number) { return each.place.number < number; });
  all.failures.insert(at, {place, std::move(judged), std::move(recorded.line), std::move(recorded.blocks)});
  if (all.failures.size() > JudgedRecording::most_failures) all.failures.pop_back();
}

}  // namespace

JudgedRecording judge(Recording& recording, const oracle::operations::Profile& profile, int threads,
                      const std::function<void(double)>& heard) {
  JudgedRecording all;
  all.header = recording.header();
  all.profile = profile.name;
  all.claims = {profile.claims.begin(), profile.claims.end()};
  std::mutex mutex;
  oracle::fixed::in_parts(threads, threads, [&](Eigen::Index, Eigen::Index) {
    while (std::optional<RecordedCall> recorded = recording.next()) {
      JudgedCall judged = judge(recorded->call, profile);
      const std::lock_guard lock(mutex);
      add(all, *recorded, std::move(judged));
      if (heard) heard(recording.share_read());
    }
  });
  all.unseen = recording.unseen();
  all.ended = recording.ended();
  all.seen = recording.seen();
  return all;
}

JudgedOperation judge_operation(Recording& recording, const oracle::operations::Profile& profile, std::int64_t number) {
  std::int64_t recorded_operations = 0, last = -1;
  for (; std::optional<RecordedCall> recorded = recording.next(); ++recorded_operations) {
    last = recorded->number;
    if (last != number) continue;
    return {standing_of(*recorded), judge(recorded->call, profile), std::move(recorded->line),
            std::move(recorded->blocks)};
  }
  throw std::runtime_error("operation " + std::to_string(number) + ": found none of that number among the " +
                           std::to_string(recorded_operations) + " of the recording, whose last is " +
                           std::to_string(last) + "; pass a number that tally check-operations prints");
}

}  // namespace tally
