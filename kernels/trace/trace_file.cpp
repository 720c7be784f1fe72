#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/trace/trace.hpp"
#include "kernels/trace/trace_bytes.hpp"
#include "kernels/trace/trace_findings.hpp"
#include "kernels/trace/trace_layout.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/json_form.hpp"
#include "oracle/case/safetensors.hpp"

namespace tally {
namespace {

[[noreturn]] void reject(const std::filesystem::path& file, const std::string& message) {
  throw std::runtime_error(file.string() + ": " + message);
}

/// A foreign text may be as long as its file.
std::string in_quotes(const std::string& text) { return "'" + named(text) + "'"; }

/// What `read` returns; its complaint becomes one that names the file.
template <class Read>
auto read_from(const std::filesystem::path& file, Read read) {
  try {
    return read();
  } catch (const std::runtime_error& problem) {
    reject(file, problem.what());
  }
}

std::string described(Dtype dtype, const std::vector<std::int64_t>& shape) {
  return std::string(name_of(dtype)) + " " + shortened(to_string(shape));
}

const std::string& metadata_of(const TensorFile& content, const std::filesystem::path& file, const std::string& key) {
  const auto place = content.metadata.find(key);
  if (place == content.metadata.end()) reject(file, "metadata has no '" + key + "'; expected a trace of Tally");
  return place->second;
}

std::vector<StageGroup> groups_of(const TensorFile& content) {
  const auto declared = content.metadata.find("groups");
  return declared == content.metadata.end() ? std::vector<StageGroup>{} : stage_groups_of(declared->second);
}

void check_tap(const Case& c, const TapName& name, const Tensor& value, TraceFindings& findings) {
  const auto layout = layout_of(c, name);
  if (layout && value.dtype == layout->dtype && value.shape == layout->shape) return;
  const std::string expected = layout ? described(layout->dtype, layout->shape) : "no such tap in this case";
  findings.add(named(name.text()) + ": found " + described(value.dtype, value.shape) + "; expected " + expected);
}

/// Where a tap stands when the file does not say: window by window, in the order a window runs.
auto running_order(const TapName& name) {
  const auto stage = std::ranges::find(stages_in_order, name.stage) - stages_in_order.begin();
  const int phase = name.stage == "cast" ? 0 : stage <= 5 ? 1 : 2;
  return std::tuple(name.window, phase, name.micro_batch, stage, !name.tensor.starts_with("in."), name.tensor);
}

/// The names of the file's taps, in the order they were made. What is no tap's name is a finding.
std::vector<TapName> ordered_names(const TensorFile& content, TraceFindings& findings) {
  std::map<std::string, std::size_t> made;
  if (const auto order = content.metadata.find("order"); order != content.metadata.end()) {
    std::istringstream lines(order->second);
    for (std::string line; std::getline(lines, line);) made.emplace(line, made.size());
  }
  std::vector<TapName> names;
  for (const auto& [name, tensor] : content.tensors) {
    const std::optional<TapName> tap = findings.read([&] { return std::optional(tap_name_of(name)); });
    if (tap) names.push_back(*tap);
  }
  std::ranges::sort(names, {}, [&](const TapName& name) {
    const auto place = made.find(name.text());
    return std::pair(place == made.end() ? made.size() : place->second, running_order(name));
  });
  return names;
}

}  // namespace

std::string bytes_of(const Trace& trace) {
  TensorFile content;
  content.metadata = {{"tally_trace", "1"}, {"case", trace.case_hash}, {"claims", to_json(trace.claims)}};
  std::string order;
  for (const Tap& tap : trace.taps()) {
    const std::string name = tap.name.text();
    content.tensors[name] = tap.value;
    order += name + "\n";
  }
  content.metadata["order"] = order;
  for (const StageGroup& group : trace.groups) content.metadata["groups"] += group.text() + "\n";
  return write_safetensors(content);
}

void write_trace(const Trace& trace, const std::filesystem::path& file) {
  const std::string bytes = bytes_of(trace);
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) reject(file, "cannot be written; expected a path in a folder that exists and can be written");
}

Trace read_trace(const std::filesystem::path& file, const Case& c) {
  TensorFile content = read_from(file, [&] { return read_safetensors_file(file); });
  if (const auto& version = metadata_of(content, file, "tally_trace"); version != "1") {
    reject(file, "metadata tally_trace is " + in_quotes(version) + "; expected '1'");
  }
  Trace trace;
  trace.case_hash = metadata_of(content, file, "case");
  if (trace.case_hash != hash_of(c)) {
    reject(file, "metadata case is " + in_quotes(trace.case_hash) + "; expected '" + hash_of(c) + "', the case given");
  }
  const std::string& claims = metadata_of(content, file, "claims");
  TraceFindings findings(file);
  trace.claims = findings.read([&] { return claims_of_json(claims); });
  trace.groups = findings.read([&] { return groups_of(content); });
  for (const TapName& name : ordered_names(content, findings)) {
    Tensor& value = content.tensors.at(name.text());
    check_tap(c, name, value, findings);
    trace.add(name, std::move(value));
  }
  findings.require_none();
  return trace;
}

}  // namespace tally
