#include "kernels/trace/places.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "oracle/case/json_form.hpp"
#include "oracle/case/safetensors.hpp"

namespace tally {
namespace {

constexpr std::array<std::string_view, 5> kinds{"loss", "backward", "unscale", "clip", "step"};

bool is_place(const nlohmann::json& value) {
  return value.is_object() && value.contains("file") && value["file"].is_string() && value.contains("line") &&
         value["line"].is_number_integer() && value["line"] >= 1 &&
         (!value.contains("text") || value["text"].is_string());
}

}  // namespace

std::map<std::string, CodePlace> places_of(const std::filesystem::path& trace_file) {
  const auto metadata = safetensors_metadata(trace_file);
  const auto entry = metadata.find("places");
  if (entry == metadata.end() || entry->second.empty()) return {};
  const auto reject = [&](const std::string& key, const std::string& found, const std::string& expected) {
    throw std::runtime_error(trace_file.string() + ": metadata places" + key + ": found " + found + "; expected " +
                             expected + ", or no such entry");
  };
  if (const std::string wrong = wrong_with_json(entry->second); !wrong.empty())
    reject("", wrong, "an object of places by the kind of call");
  const nlohmann::json all = nlohmann::json::parse(entry->second);
  if (!all.is_object()) reject("", named(shortened(entry->second)), "an object of places by the kind of call");
  std::map<std::string, CodePlace> places;
  for (const std::string_view kind : kinds) {
    const auto found = all.find(kind);
    if (found == all.end()) continue;
    if (!is_place(*found))
      reject("." + std::string(kind), named(shortened(found->dump())),
             "an object with file (text), line (from 1 on) and text");
    places[std::string(kind)] = {shortened((*found)["file"].get<std::string>(), 400),
                                 (*found)["line"].get<std::int64_t>(), shortened(found->value("text", ""))};
  }
  return places;
}

}  // namespace tally
