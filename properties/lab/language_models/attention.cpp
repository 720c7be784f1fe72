// Attention and rotary positions, as the study draws them.
#include <cmath>

#include "oracle/case/rows.hpp"
#include "properties/generators/choices.hpp"
#include "properties/lab/language_models/family.hpp"

// Attention: sequences of up to 100 rows, heads of 4 to 64 features, scores of a spread from 1/8 to 32.
namespace tally::attention_study {
namespace {

struct Heads {
  std::int64_t heads, groups;
};

Case drawn(Dtype storage, std::uint64_t seed, std::uint64_t number) {
  executor::Schedule random = numbers_for(seed, number, "attention");
  constexpr std::array<std::int64_t, 6> longest{17, 64, 3, 100, 33, 8};
  constexpr std::array<double, 5> scales{1, 0x1p-4, 4, 0x1p-2, 16};
  const std::int64_t rows = longest[number % longest.size()];
  const std::int64_t size = one_of(random, std::array<std::int64_t, 5>{4, 8, 16, 32, 64});
  const Heads heads = one_of(random, std::array<Heads, 4>{{{1, 1}, {2, 1}, {2, 2}, {4, 2}}});
  Plan plan = plain_plan(storage, random, rows + 5, rows);
  const auto linear = [](const char* name, std::int64_t out) {
    return reading(layer("linear", name, {{"out", out}, {"bias", false}}), {"wte"});
  };
  const double scale = scales[number % scales.size()] / std::sqrt(static_cast<double>(size));
  const Layer attention = layer("attention", "att",
                                {{"heads", heads.heads},
                                 {"kv_heads", heads.groups},
                                 {"causal", random.below(4) != 0},
                                 {"scale", scales[number % scales.size()] == 1 ? Decimal{"0"} : decimal(scale)},
                                 {"p", Decimal{random.below(6) == 0 ? "0.25" : "0"}}});
  plan.hidden = {linear("q", heads.heads * size), linear("k", heads.groups * size), linear("v", heads.groups * size),
                 reading(attention, {"q", "k", "v"})};
  return case_of(plan);
}

Way way(const std::string& forward, const std::string& backward, std::vector<OtherClaim> others = {}) {
  return {{{"attention.forward", forward}, {"attention.backward", backward}}, std::move(others)};
}

OtherClaim forward_as(const std::string& claimed, const std::string& algorithm, bool of_stores = true) {
  return {claimed, {{"attention.forward", algorithm}}, of_stores};
}

const OtherClaim backward_uncast{"P and dS not cast", {{"attention.backward", "recompute"}}};

LayerFamily attentions() {
  const OtherClaim uncast = forward_as("P not cast", "online");
  const OtherClaim cast_after = forward_as("P cast behind the sum", "online_cast");
  const OtherClaim cast_before = forward_as("P cast before the sum", "online_cast_sum");
  return {1,
          "attention",
          drawn,
          {{"forward", "att.y", "attention y", "attention.forward"},
           {"forward", "att.lse", "attention lse", "attention.forward"},
           {"backward", "att.delta", "attention delta", "attention.delta"},
           {"backward", "d.att.q", "attention dq", "attention.backward"},
           {"backward", "d.att.k", "attention dk", "attention.backward"},
           {"backward", "d.att.v", "attention dv", "attention.backward"}},
          {way("naive", "naive"), way("online_blocks", "recompute_blocks"),
           way("online_pairs", "recompute_cast", {backward_uncast}),
           way("eager", "naive", {forward_as("nothing stored on the way", "naive"), cast_after}),
           way("online_cast", "recompute_cast", {uncast, cast_before}),
           way("online_cast_sum", "recompute_blocks", {uncast, cast_after}),
           way("online_exp2", "recompute_atomic", {forward_as("the scale not folded into exp2", "online", false)})}};
}

const Register<LayerFamily> registered(attentions());

}  // namespace
}  // namespace tally::attention_study

// Rotary positions up to 100,000, counted apart by how far a row stands.
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
  return {3,
          "rotary positions",
          drawn,
          {{"forward", "rot.y", "rotary y", "rotary.forward"}, {"backward", "d.rot.x", "rotary dx", "rotary.backward"}},
          {{}, {stored, {table}}, {{}, {}, "rotary-frequencies-in-bf16"}},
          by_position,
          distances};
}

const Register<LayerFamily> registered(rotary_layers());

}  // namespace
}  // namespace tally::rotary_study
