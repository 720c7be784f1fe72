#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::indexing_test {
namespace {

using Random = std::mt19937_64;

View whole(const Sizes& sizes, const Numbers& of) { return tensor(sizes, of, Element::int64); }

Argument list(const std::vector<Argument>& of) {
  Argument all{std::vector<View>{}};
  for (const Argument& each : of) std::get<Values>(all.is).push_back(each);
  return all;
}

TEST(IndexRules, HoldAdvancedIndices) {
  Numbers numbers;
  for (int i = 0; i < 24; ++i) numbers.push_back(i);
  const View x = tensor({2, 3, 4}, numbers);
  const auto wrong = [&](const std::vector<Argument>& indices, const View& out) {
    return standing_of(call_of("index", {{"self", x}, {"indices", list(indices)}}, {out})).wrong;
  };
  EXPECT_EQ(wrong({Argument(), whole({2}, {-1, 0})},
                  tensor({2, 2, 4}, {8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 12, 13, 14, 15})),
            0);
  EXPECT_EQ(wrong({whole({2}, {1, 0}), whole({2}, {2, 1})}, tensor({2, 4}, {20, 21, 22, 23, 4, 5, 6, 7})), 0);
  EXPECT_EQ(wrong({whole({2}, {1, 0}), whole({2}, {2, 1})}, tensor({2, 4}, {16, 17, 18, 19, 4, 5, 6, 7})), 4);
  // Indices that are no neighbours stand in front.
  EXPECT_EQ(wrong({whole({2}, {1, 0}), Argument(), whole({2}, {3, 2})}, tensor({2, 3}, {15, 19, 23, 2, 6, 10})), 0);
  EXPECT_EQ(
      standing_of(call_of("index",
                          {{"self", vector_of({5, 6, 7})}, {"indices", list({vector_of({1, 0, 1}, Element::boolean)})}},
                          {vector_of({5, 7})}))
          .wrong,
      0);
  EXPECT_THROW(wrong({whole({1}, {2})}, tensor({1, 3, 4}, Numbers(12, 0.0))), NotJudged);
  EXPECT_THROW(wrong({whole({1}, {1}), Argument(), Argument(), whole({1}, {0})}, vector_of({0})), NotJudged);
  const View four = tensor({2, 2, 2, 2}, Numbers(numbers.begin(), numbers.begin() + 16));
  const auto apart = [&](const std::vector<Argument>& indices, const View& out) {
    return standing_of(call_of("index", {{"self", four}, {"indices", list(indices)}}, {out})).wrong;
  };
  const View down = whole({2}, {1, 0}), up = whole({2}, {0, 1});
  EXPECT_EQ(apart({down, Argument(), up, down}, tensor({2, 2}, {9, 13, 2, 6})), 0);
  EXPECT_EQ(apart({Argument(), down, Argument(), down}, tensor({2, 2, 2}, {5, 7, 13, 15, 0, 2, 8, 10})), 0);
}

TEST(IndexRules, PutAnyOfSeveralAtOnePlace) {
  const View x = vector_of({1, 2, 3});
  const Arguments twice{{"self", x}, {"indices", list({whole({2}, {1, 1})})}, {"values", vector_of({8, 9})}};
  const auto put = [&](const Numbers& now) {
    return standing_of(call_of("index_put", twice, {}, {{"self", vector_of(now)}})).wrong;
  };

  EXPECT_EQ(put({1, 8, 3}), 0);
  EXPECT_EQ(put({1, 9, 3}), 0);
  EXPECT_EQ(put({1, 17, 3}), 1);
  EXPECT_EQ(put({8, 2, 3}), 2);
}

TEST(IndexRules, AddUpWhatMeetsAtOnePlaceInItsOwnFormat) {
  Random random(1);
  Held tables, sums, puts, scatters;
  const std::int64_t rows = 5, width = 3, n = 40;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (int draw = 0; draw < 5; ++draw) {
        const Numbers g = drawn(data, n * width, element, random), old = drawn(data, rows * width, element, random);
        Numbers targets;
        for (std::int64_t i = 0; i < n; ++i) targets.push_back(static_cast<double>(random() % (rows - 1)));
        const auto added = [&](const Numbers& start, bool shifts) {
          Floats all = floats(start);
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < width; ++j) {
              const auto row = static_cast<std::int64_t>(targets[static_cast<std::size_t>(i)]) + (shifts ? 1 : 0);
              float& to = all[static_cast<std::size_t>(row * width + j)];
              to = rounded_to(element, to + static_cast<float>(g[static_cast<std::size_t>(i * width + j)]));
            }
          return tensor({rows, width}, stored(element, all), element);
        };
        const View from = tensor({n, width}, g, element), onto = tensor({rows, width}, old, element),
                   index = whole({n}, targets);
        const Numbers zeros(static_cast<std::size_t>(rows * width), 0.0);
        const Arguments table{{"grad_output", from}, {"indices", index}, {"padding_idx", -1}};
        tables.add(call_of("embedding_dense_backward", table, {added(zeros, false)}));
        const Arguments sum{{"self", onto}, {"dim", 0}, {"index", index}, {"source", from}};
        sums.add(call_of("index_add", sum, {added(old, false)}));
        const Arguments put{{"self", onto}, {"indices", list({index})}, {"values", from}, {"accumulate", true}};
        puts.add(call_of("index_put", put, {added(old, false)}));
        const Arguments scatter{{"self", onto},
                                {"dim", 0},
                                {"index", index.with_last(0).expanded({width, n}).permuted({1, 0})},
                                {"src", from}};
        scatters.add(call_of("scatter_add", scatter, {added(old, false)}));
        if (data != Data::normal) continue;
        expect_caught(call_of("embedding_dense_backward", table, {added(zeros, true)}));
        expect_caught(call_of("index_add", sum, {added(zeros, false)}));
        expect_caught(call_of("index_put", put, {added(old, true)}));
        Arguments padded = table;
        padded["padding_idx"] = static_cast<std::int64_t>(targets[0]);
        expect_caught(call_of("embedding_dense_backward", padded, {added(zeros, false)}));
      }
  tables.report("embedding_dense_backward");
  sums.report("index_add");
  puts.report("index_put that adds");
  scatters.report("scatter_add");
}

TEST(IndexRules, HoldScatters) {
  const View x = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), index = whole({2, 1}, {2, 0});
  const auto wrong = [&](const Arguments& more, const Numbers& now) {
    Arguments arguments{{"self", x}, {"dim", 1}, {"index", index}};
    for (const auto& [name, value] : more) arguments[name] = value;
    return standing_of(call_of("scatter", arguments, {tensor({2, 3}, now)})).wrong;
  };
  EXPECT_EQ(wrong({{"value", 9.0}}, {1, 2, 9, 9, 5, 6}), 0);
  EXPECT_EQ(wrong({{"value", 9.0}}, {1, 9, 3, 9, 5, 6}), 2) << "off by one";
  EXPECT_EQ(wrong({{"src", tensor({2, 2}, {7, 0, 8, 0})}}, {1, 2, 7, 8, 5, 6}), 0);
  EXPECT_EQ(wrong({{"src", tensor({2, 2}, {7, 0, 8, 0})}}, {1, 2, 8, 7, 5, 6}), 2);
  for (const double beyond : {-1.0, 3.0, 0x1p61})
    EXPECT_THROW(wrong({{"value", 9.0}, {"index", whole({2, 1}, {beyond, 0})}}, {1, 2, 3, 4, 5, 6}), NotJudged);
  EXPECT_THROW(wrong({{"value", 9.0}, {"index", whole({3, 1}, {0, 0, 0})}}, {1, 2, 3, 4, 5, 6}), NotJudged);
  EXPECT_THROW(wrong({{"value", 9.0}, {"index", whole({1}, {0})}}, {1, 2, 3, 4, 5, 6}), NotJudged);
  const Arguments number{{"self", number_of(1)}, {"dim", 0}, {"index", whole({}, {0})}, {"value", 4.0}};
  EXPECT_EQ(standing_of(call_of("scatter", number, {number_of(4)})).wrong, 0);
}

TEST(IndexRules, RefuseAsManyTargetsAsThereAreNoRowsFor) {
  const View g = tensor({2, 2}, {1, 2, 3, 4}), out = tensor({3, 2}, Numbers(6, 0.0));
  const auto table = [&](const View& gradient, const Numbers& targets) {
    return call_of("embedding_dense_backward",
                   {{"grad_output", gradient}, {"indices", vector_of(targets, Element::int64)}}, {out});
  };
  EXPECT_THROW(standing_of(table(g, {0})), NotJudged);
  EXPECT_THROW(standing_of(table(g, {0, 3})), NotJudged);
  EXPECT_EQ(standing_of(table(tensor({0, 2}, {}), {})).wrong, 0);
}

TEST(OrderRules, HoldValuesAndAnyPlaceOfTies) {
  const View x = tensor({2, 4}, {1, 3, 3, 2, NAN, 5, 0, NAN});
  const auto wrong = [&](const char* name, const Arguments& more, const View& values, const View& places) {
    Arguments arguments{{"self", x}, {"dim", 1}};
    arguments.insert(more.begin(), more.end());
    return standing_of(call_of(name, arguments, {values, places})).wrong;
  };
  const auto places = [](const Sizes& sizes, const Numbers& of) { return whole(sizes, of); };
  EXPECT_EQ(wrong("max", {}, vector_of({3, NAN}), places({2}, {2, 3})), 0);
  EXPECT_EQ(wrong("max", {}, vector_of({3, NAN}), places({2}, {1, 0})), 0);
  EXPECT_EQ(wrong("max", {}, vector_of({3, NAN}), places({2}, {0, 0})), 1);
  EXPECT_EQ(wrong("min", {}, vector_of({1, NAN}), places({2}, {0, 0})), 0);
  EXPECT_THROW(wrong("max", {{"other", x}}, vector_of({3, NAN}), places({2}, {1, 0})), NotJudged);
  const View up = tensor({2, 4}, {1, 2, 3, 3, 0, 5, NAN, NAN}), down = tensor({2, 4}, {3, 3, 2, 1, NAN, NAN, 5, 0});
  EXPECT_EQ(wrong("sort", {}, up, places({2, 4}, {0, 3, 2, 1, 2, 1, 3, 0})), 0);
  EXPECT_EQ(wrong("sort", {}, up, places({2, 4}, {0, 3, 2, 2, 2, 1, 3, 0})), 1) << "each place once";
  EXPECT_EQ(wrong("sort", {{"descending", true}}, down, places({2, 4}, {1, 2, 3, 0, 0, 3, 1, 2})), 0);
  EXPECT_EQ(wrong("sort", {{"descending", true}}, up, places({2, 4}, {0, 3, 2, 1, 2, 1, 3, 0})), 8)
      << "the other order";
  EXPECT_EQ(wrong("topk", {{"sorted", false}}, tensor({2, 2}, {2, 3, 5, NAN}), places({2, 2}, {3, 1, 1, 0})), 2);
  EXPECT_EQ(
      wrong("topk", {{"sorted", false}}, tensor({2, 3}, {2, 3, 3, NAN, 5, NAN}), places({2, 3}, {3, 1, 2, 0, 1, 3})),
      0);
  EXPECT_EQ(wrong("topk", {}, tensor({2, 3}, {2, 3, 3, NAN, 5, NAN}), places({2, 3}, {3, 1, 2, 0, 1, 3})), 4);
  EXPECT_THROW(wrong("topk", {}, up, places({2, 3}, {3, 1, 2, 0, 1, 3})), NotJudged);
  EXPECT_EQ(standing_of(call_of("argmax", {{"self", x.selected(0, 0)}}, {number_of(1, Element::int64)})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("argmin", {{"self", x.selected(0, 0)}}, {number_of(3, Element::int64)})).wrong, 1);
  EXPECT_EQ(standing_of(call_of("sort", {{"self", number_of(3)}}, {number_of(3), number_of(0, Element::int64)})).wrong,
            0);
}

}  // namespace
}  // namespace tally::oracle::operations::indexing_test
