#include "reports/gate/baseline.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "reports/census/census.hpp"
#include "reports/gate/baseline_fields.hpp"
#include "reports/record/json_reader.hpp"
#include "reports/record/json_writer.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/sha256.hpp"

namespace tally {
namespace {

std::string digest_line(const CaseRecord& c) {
  return c.id + " " + std::string(word_of(c.status)) + " " + hexadecimal_text(c.worst_local_ratio) + " " +
         hexadecimal_text(c.worst_end_to_end_ratio) + " " + hexadecimal_text(c.rounding_drift) + "\n";
}

/// Of every law and precision; the order of the cases in the results does not matter.
std::map<std::pair<std::string, std::string>, std::string> digests_of(const Results& results) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> lines;
  for (const CaseRecord& c : results.cases) lines[{c.law, c.precision}].push_back(digest_line(c));
  std::map<std::pair<std::string, std::string>, std::string> digests;
  for (auto& [place, group] : lines) {
    std::sort(group.begin(), group.end());
    std::string text;
    for (const std::string& line : group) text += line;
    digests[place] = hex(sha256(text));
  }
  return digests;
}

}  // namespace

Machine machine_of(const Results& results) {
  const Environment& e = results.environment;
  std::string toolchain;
  for (const std::string& part : {e.compiler, e.flags, e.cuda, e.blas})
    if (!part.empty()) toolchain += (toolchain.empty() ? "" : "; ") + part;
  return {e.executor, e.device, toolchain};
}

Drawn drawn_of(const Results& results) { return {results.campaign, results.seed, results.effort}; }

bool BlessedGroup::same_place(const BlessedGroup& other) const {
  return machine == other.machine && law == other.law && precision == other.precision;
}

bool BlessedGroup::same_content(const BlessedGroup& other) const {
  return same_place(other) && drawn == other.drawn && cases == other.cases && digest == other.digest &&
         std::bit_cast<std::uint64_t>(worst_ratio) == std::bit_cast<std::uint64_t>(other.worst_ratio);
}

Baseline baseline_of(const Results& results) {
  Baseline baseline;
  const auto digests = digests_of(results);
  const Machine machine = machine_of(results);
  for (const Group& group : groups_of(results))
    if (group.status() == Status::pass)
      baseline.groups.push_back({machine, drawn_of(results), group.law, group.precision, group.total, group.worst_ratio,
                                 digests.at({group.law, group.precision}), ""});
  for (const FaultRecord& fault : results.faults)
    if (fault.caught) baseline.faults.push_back({machine, fault.name, fault.law, ""});
  return baseline;
}

std::string to_json(const Baseline& baseline) { return canonical_text(JsonWriter::json_of(baseline)); }

Baseline baseline_of_json(std::string_view json, const std::string& name) {
  return record_of_json<Baseline>(json, name, 1);
}

Baseline read_baseline(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw std::runtime_error("cannot read the baseline " + file);
  return baseline_of_json(text.str(), file);
}

}  // namespace tally
