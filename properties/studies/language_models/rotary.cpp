// Rotary positions up to 100,000, counted apart by how far a row stands.
#include <cmath>

#include "oracle/case/sequences.hpp"
#include "properties/generators/choices.hpp"
#include "properties/studies/language_models/drawing.hpp"
#include "properties/studies/language_models/family.hpp"

namespace tally::rotary_study {
namespace {

constexpr std::int64_t near = 50, middle = 1000, far = 100000;

Case drawn(Dtype storage, std::uint64_t seed, std::uint64_t number) {
  executor::Schedule random = numbers_for(seed, number, "rotary");
  const std::int64_t size = one_of(random, std::array<std::int64_t, 4>{4, 16, 64, 128});
  const std::int64_t heads = one_of(random, std::array<std::int64_t, 3>{1, 2, 3}), rows = 48;
  Plan plan = plain_plan(storage, random, rows, 8);
  plan.tokens.width = heads * size;
  plan.hidden = {layer("rotary", "rot",
                       {{"heads", heads},
                        {"base", Decimal{random.below(2) == 0 ? "10000" : "500000"}},
                        {"dimensions", random.below(3) == 0 ? size / 2 : 0},
                        {"pairing", std::string(random.below(2) == 0 ? "half" : "interleaved")}})};
  Case c = case_of(plan);
  Tensor positions(Dtype::i64, {rows});
  constexpr std::array<std::int64_t, 4> ends{1, near, middle, far};
  for (std::size_t row = 0; row < positions.elements(); ++row) {
    const std::int64_t first = ends[row % 3], end = ends[row % 3 + 1];
    positions.set(row, double(first) + double(random.below(static_cast<std::uint64_t>(end - first))));
  }
  c.tensors.insert_or_assign("positions", std::move(positions));
  return c;
}

const std::vector<std::string> distances{"positions 1 to 49", "50 to 999", "1,000 to 99,999"};

std::vector<std::string> by_position(const Case& c) {
  const Tensor positions = positions_of(c);
  std::vector<std::string> words;
  for (std::size_t row = 0; row < positions.elements(); ++row) {
    const std::int64_t position = positions.integer(row);
    words.push_back(distances[position < near ? 0 : position < middle ? 1 : 2]);
  }
  return words;
}

const std::map<std::string, std::string> stored{{"rotary.forward", "stored"}, {"rotary.backward", "stored"}};

LayerFamily rotary_layers() {
  const OtherClaim table{"table in binary64", {{"rotary.forward", "table"}, {"rotary.backward", "table"}}, false};
  return {"rotary positions",
          drawn,
          {{"forward", "rot.y", "rotary y", "rotary.forward"}, {"backward", "d.rot.x", "rotary dx", "rotary.backward"}},
          {{}, {stored, {table}}, {{}, {}, "rotary-frequencies-in-bf16"}},
          by_position,
          distances};
}

const RegisterLayerFamily registered(3, rotary_layers());

}  // namespace
}  // namespace tally::rotary_study
