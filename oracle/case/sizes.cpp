#include "oracle/case/sizes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "oracle/case/rank_keys.hpp"

namespace tally {
namespace {

constexpr std::int64_t more_than_least = 2;  // none, one, two: what a loop tells apart

std::multimap<std::string, DeclaredSize, std::less<>>& sizes_by_name() {
  static std::multimap<std::string, DeclaredSize, std::less<>> all;
  return all;
}
/// A kernel's file may be compiled for several executors: its edges are one.
using EdgeKey = std::tuple<std::string, std::int64_t, std::string, std::string>;
std::map<EdgeKey, SizeEdge>& edges_by_size() {
  static std::map<EdgeKey, SizeEdge> all;
  return all;
}

std::string place_of(const std::source_location& at) {
  return std::string(at.file_name()) + ":" + std::to_string(at.line());
}

bool is_key_of_ranks(const std::string& name) {
  return std::ranges::any_of(rank_keys(), [&](const RankKey& key) { return key.name() == name; });
}

}  // namespace

void enter_record(DeclaredSize size, std::source_location at) {
  size.declared_at = place_of(at);
  sizes_by_name().emplace(size.name, std::move(size));
}

void enter_record(const SizeEdges& edges, std::source_location at) {
  const auto& [size, values, what, beside] = edges;
  for (const std::int64_t value : values)
    edges_by_size().insert({{size, value, beside, place_of(at)}, {size, value, what, beside, place_of(at)}});
}

std::vector<DeclaredSize> declared_sizes() {
  std::vector<DeclaredSize> all;
  for (const auto& [name, size] : sizes_by_name()) all.push_back(size);
  return all;
}

std::vector<SizeEdge> size_edges() {
  std::vector<SizeEdge> all;
  for (const auto& [key, edge] : edges_by_size()) all.push_back(edge);
  return all;
}

const DeclaredSize& declared_size(std::string_view name) {
  const auto found = sizes_by_name().find(name);
  if (found == sizes_by_name().end()) throw std::logic_error("no size is called '" + std::string(name) + "'");
  return found->second;
}

std::vector<std::int64_t> values_around_edges(std::string_view size) {
  const DeclaredSize& declared = declared_size(size);
  std::set<std::int64_t> values;
  const auto add = [&](std::int64_t value) {
    if (value >= declared.least && value <= declared.most) values.insert(value);
  };
  for (std::int64_t more = 0; more <= more_than_least; ++more) add(declared.least + more);
  for (const SizeEdge& edge : size_edges())
    if (edge.size == size)
      for (const std::int64_t value : {edge.value - 1, edge.value, edge.value + 1}) add(value);
  return {values.begin(), values.end()};
}

std::vector<std::string> contradictions(const std::vector<DeclaredSize>& sizes, const std::vector<SizeEdge>& edges) {
  std::vector<std::string> found;
  std::map<std::string, const DeclaredSize*> by_name;
  for (const DeclaredSize& size : sizes) {
    const auto [first, fresh] = by_name.emplace(size.name, &size);
    if (!fresh)
      found.push_back(size.declared_at + ": '" + size.name + "', a size that " + first->second->declared_at +
                      " declares, too; one of them has to go");
  }
  for (const SizeEdge& edge : edges) {
    const auto size = by_name.find(edge.size);
    const std::string of = edge.declared_at + ": an edge of '" + edge.size + "' at " + std::to_string(edge.value);
    if (size == by_name.end()) {
      found.push_back(of + ", a size that no file declares; Register<DeclaredSize> declares one");
    } else if (edge.value < size->second->least || edge.value > size->second->most) {
      found.push_back(of + ", which no legal value reaches: at least " + std::to_string(size->second->least) +
                      ", at most " + std::to_string(size->second->most) + " by " + size->second->declared_at);
    }
    if (!edge.beside.empty() && !is_key_of_ranks(edge.beside))
      found.push_back(of + " beside '" + edge.beside + "', which is no key of execution.ranks");
  }
  return found;
}

}  // namespace tally
