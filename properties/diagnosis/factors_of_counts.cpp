#include "properties/diagnosis/factors_of_counts.hpp"

#include <cstdio>

namespace tally {
namespace {

std::string with(const char* name, double count) {
  char text[48];
  std::snprintf(text, sizeof text, "%s = %.6g", name, count);
  return text;
}

void add_counts(std::vector<NamedFactor>& all, double count, const char* letter) {
  const std::string name = letter, value = " with " + with(letter, count);
  if (count == 0 || count == 1) return;
  all.push_back({1 / count, "1/" + name, value});
  all.push_back({count, name, value});
  all.push_back({(count - 1) / count, "(" + name + "-1)/" + name, value});
  all.push_back({count / (count - 1), name + "/(" + name + "-1)", value});
}

}  // namespace

std::vector<NamedFactor> factors_of_counts(double micro_batches, double own, double items) {
  std::vector<NamedFactor> all;
  add_counts(all, micro_batches, "K");
  if (own > 0 && own != items) {
    const std::string values = " with " + with("n_k", own) + ", " + with("N", items);
    all.push_back({own / items, "n_k/N", values}), all.push_back({items / own, "N/n_k", values});
    all.push_back({items / (micro_batches * own), "N/(K n_k)", values + ", " + with("K", micro_batches)});
  }
  add_counts(all, items, "N");
  return all;
}

}  // namespace tally
