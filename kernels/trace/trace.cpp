// The trace, and its file.
#include "kernels/trace/trace.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/trace/last_place.hpp"
#include "kernels/trace/stage_group.hpp"
#include "kernels/trace/trace_findings.hpp"
#include "kernels/trace/trace_layout.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/io.hpp"

namespace tally {

Trace::Trace() = default;
Trace::Trace(const Trace&) = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(const Trace&) = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

void Trace::add(TapName name, Tensor value) {
  tell_tap(name.view());
  if (const auto place = place_of(name.view()); !place) {
    index_.add(name.view());
    taps_.push_back({std::move(name), std::move(value)});
  } else if (!name.tensor.starts_with("in.")) {
    taps_[*place].value = std::move(value);
  }
}

std::optional<std::size_t> Trace::place_of(const TapView& name) const {
  return index_.find(name, [this](std::size_t number) { return taps_[number].name.view(); });
}

const Tensor* Trace::find(const TapView& name) const {
  const auto place = place_of(name);
  return place ? &taps_[*place].value : nullptr;
}

const Tensor* Trace::find(std::string_view name) const {
  const auto view = tap_view_of(name);
  return view ? find(*view) : nullptr;
}

Claims known_claims(const std::string& json) {
  thread_local std::string text;
  thread_local Claims claims;
  if (text.empty() || json != text) {
    claims = claims_of_json(json);
    text = json;
  }
  return claims;
}

namespace {

std::string and_more(std::size_t count) { return "and " + std::to_string(count) + " more"; }

}  // namespace

void TraceFindings::add(std::string finding) {
  if (++count_ <= most_named) named_.push_back(std::move(finding));
}

void TraceFindings::require_none() const {
  if (count_ == 0) return;
  std::vector<std::string> further(named_.begin() + 1, named_.end());
  if (count_ > named_.size()) further.push_back(and_more(count_ - named_.size()));
  const std::string line = file_.string() + ": " + named_.front();
  throw InvalidTrace(count_ == 1 ? line : line + " (" + and_more(count_ - 1) + ")", std::move(further));
}

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

const std::string& metadata_of(const TensorFile& content, const std::filesystem::path& file, const std::string& key) {
  const auto place = content.metadata.find(key);
  if (place == content.metadata.end()) reject(file, "metadata has no '" + key + "'; expected a trace of Tally");
  return place->second;
}

std::vector<StageGroup> groups_of(const TensorFile& content) {
  const auto declared = content.metadata.find("groups");
  return declared == content.metadata.end() ? std::vector<StageGroup>{} : stage_groups_of(declared->second);
}

void check_tap(TapLayouts& layouts, const TapName& name, const Tensor& value, TraceFindings& findings) {
  const auto layout = layouts.of(name);
  if (layout && value.dtype == layout->dtype && value.shape == layout->shape) return;
  const std::string expected = layout ? described(layout->dtype, layout->shape) : "no such tap in this case";
  findings.add(named(name.text()) + ": found " + described(value.dtype, value.shape) + "; expected " + expected);
}

/// Where a tap stands when the file does not say: window by window, in the order a window runs; of several ranks one
/// rank after another up to their sum, and again from there.
auto running_order(const TapName& name) {
  const auto stage = place_of_stage(name.stage), last = place_of_stage("accumulate");
  const int phase = stage <= place_of_stage("cast") ? 0 : stage <= last ? 1 : 2;
  return std::tuple(name.window, part_of_window(name.stage, name.tensor), name.rank, phase, name.micro_batch, stage,
                    !name.tensor.starts_with("in."), name.tensor);
}

/// The names of the file's taps, in the order they were made. What is no tap's name is a finding.
std::vector<TapName> ordered_names(const TensorFile& content, TraceFindings& findings) {
  std::map<std::string, std::size_t> made;
  if (const auto order = content.metadata.find("order"); order != content.metadata.end()) {
    std::istringstream lines(order->second);
    for (std::string line; std::getline(lines, line);) made.emplace(line, made.size());
  }
  struct Placed {
    std::size_t place;
    TapName name;
  };
  std::vector<Placed> placed;
  placed.reserve(content.tensors.size());
  for (const auto& [name, tensor] : content.tensors) {
    const std::optional<TapName> tap = findings.read([&] { return std::optional(tap_name_of(name)); });
    if (!tap) continue;
    const auto place = made.find(name);
    placed.push_back({place == made.end() ? made.size() : place->second, *tap});
  }
  std::ranges::sort(placed, [](const Placed& a, const Placed& b) {
    return a.place != b.place ? a.place < b.place : running_order(a.name) < running_order(b.name);
  });
  std::vector<TapName> names;
  names.reserve(placed.size());
  for (Placed& each : placed) names.push_back(std::move(each.name));
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

void write_trace(const Trace& trace, const std::string& file) {
  const std::string bytes = bytes_of(trace);
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) reject(file, "cannot be written; expected a path in a folder that exists and can be written");
}

namespace {

Trace trace_of(TensorFile content, const std::filesystem::path& file, const Case& c, const std::string& hash) {
  if (const auto& version = metadata_of(content, file, "tally_trace"); version != "1") {
    reject(file, "metadata tally_trace is " + in_quotes(version) + "; expected '1'");
  }
  Trace trace;
  trace.case_hash = metadata_of(content, file, "case");
  if (trace.case_hash != hash) {
    reject(file, "metadata case is " + in_quotes(trace.case_hash) + "; expected '" + hash + "', the case given");
  }
  const std::string& claims = metadata_of(content, file, "claims");
  TraceFindings findings(file);
  trace.claims = findings.read([&] { return known_claims(claims); });
  trace.groups = findings.read([&] { return groups_of(content); });
  TapLayouts layouts(c);
  for (const TapName& name : ordered_names(content, findings)) {
    Tensor& value = content.tensors.at(name.text());
    check_tap(layouts, name, value, findings);
    trace.add(name, std::move(value));
  }
  findings.require_none();
  return trace;
}

}  // namespace

Trace read_trace(const std::string& file, const Case& c) {
  return trace_of(read_from(file, [&] { return read_safetensors_file(file); }), file, c, hash_of(c));
}

Trace trace_of_bytes(std::string_view bytes, const Case& c, const std::string& hash) {
  const std::filesystem::path place = "its trace";
  return trace_of(read_from(place, [&] { return read_safetensors(bytes); }), place, c, hash);
}

}  // namespace tally
