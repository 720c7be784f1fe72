// The gradient of an embedding's table, whose rows are counted apart by how often their token is used: from once to
// some thousand times in a micro-batch, as words of a language are.
#include <cmath>

#include "properties/generators/choices.hpp"
#include "properties/studies/language_models/drawing.hpp"
#include "properties/studies/language_models/family.hpp"

namespace tally::embedding_study {
namespace {

struct Size {
  std::int64_t vocabulary, rows, width;
};
constexpr std::array<Size, 4> sizes{{{30, 64, 8}, {3000, 2000, 2}, {300, 1000, 4}, {3, 2000, 2}}};

Case drawn(Dtype storage, std::uint64_t seed, std::uint64_t number) {
  executor::Schedule random = numbers_for(seed, number, "embedding");
  const Size& size = sizes[number % sizes.size()];
  Plan plan = plain_plan(storage, random, size.rows, 100);
  plan.input = size.vocabulary;
  plan.tokens.width = size.width;
  plan.execution.schedule = random.below(2) == 0 ? 0 : static_cast<std::int64_t>(1 + random.below(1000));
  Case c = case_of(plan);
  Tensor& tokens = c.tensors.at("tokens");
  for (std::size_t i = 0; i < tokens.elements(); ++i) {
    const double share = std::ldexp(static_cast<double>(random.next() >> 11), -53);
    tokens.set(i, std::floor(std::pow(static_cast<double>(size.vocabulary + 1), share) - 1));
  }
  tokens.drawing.reset();
  return c;
}

constexpr std::array<std::size_t, 5> most_uses{1, 3, 15, 63, 255};
const std::vector<std::string> use_words{"1 use",         "2 or 3 uses",    "4 to 15 uses",
                                         "16 to 63 uses", "64 to 255 uses", "256 uses and more"};

/// Rows of tokens that are not used are exactly 0, and not counted.
std::vector<std::string> by_uses(const Case& c) {
  std::vector<std::size_t> uses(static_cast<std::size_t>(c.model.input));
  const Tensor& tokens = c.tensors.at("tokens");
  for (std::size_t i = 0; i < tokens.elements(); ++i) ++uses[static_cast<std::size_t>(tokens.integer(i))];
  std::vector<std::string> words;
  for (const std::size_t m : uses) {
    std::size_t word = 0;
    while (word < most_uses.size() && m > most_uses[word]) ++word;
    words.push_back(use_words[word]);
  }
  return words;
}

LayerFamily embedding_layers() {
  return {"embeddings",
          drawn,
          {{"backward", "d.wte.weight", "embedding dW", "embedding.gradient"}},
          {{{{"embedding.gradient", "sorted"}}}, {{{"embedding.gradient", "atomic_add"}}}},
          by_uses,
          use_words};
}

const RegisterLayerFamily registered(5, embedding_layers());

}  // namespace
}  // namespace tally::embedding_study
