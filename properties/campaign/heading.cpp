#include "properties/campaign/heading.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tally {

std::string text_of(const Heading& heading) {
  const nlohmann::json json = {
      {"campaign", heading.campaign}, {"program", heading.program}, {"pieces", heading.pieces}, {"kept", heading.kept}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Heading heading_of(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    return {json.at("campaign"), json.at("program"), json.at("pieces"), json.at("kept")};
  } catch (const nlohmann::json::exception&) {
    throw std::runtime_error("found no heading of a campaign: " + text.substr(0, 80));
  }
}

std::string difference(const Heading& expected, const Heading& found) {
  if (found.campaign != expected.campaign)
    return "found the campaign '" + found.campaign + "'; expected '" + expected.campaign + "'";
  if (found.program != expected.program)
    return "found another build of tally, " + found.program.substr(0, 12) + "; expected " +
           expected.program.substr(0, 12);
  if (found.pieces != expected.pieces)
    return "found " + std::to_string(found.pieces) + " pieces; expected " + std::to_string(expected.pieces);
  return "";
}

std::vector<std::string> names_of(const std::vector<KeptCase>& cases) {
  std::vector<std::string> names;
  for (const KeptCase& kept : cases) names.push_back(kept.file.filename().string());
  return names;
}

std::vector<KeptCase> kept_cases_of(const std::filesystem::path& corpus, const std::vector<std::string>& names) {
  std::vector<KeptCase> found;
  const std::vector<KeptCase> all = names.empty() ? std::vector<KeptCase>() : kept_cases(corpus);
  for (const std::string& name : names) {
    const auto same = [&](const KeptCase& kept) { return kept.file.filename() == name; };
    const auto there = std::ranges::find_if(all, same);
    if (there == all.end())
      throw std::runtime_error((corpus / name).string() + ": not found; expected the case that the campaign replays");
    found.push_back(*there);
  }
  return found;
}

}  // namespace tally
