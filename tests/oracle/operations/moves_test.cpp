#include <gtest/gtest.h>

#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::moves_test {
namespace {

Numbers counted(std::int64_t n, double from = 0) {
  Numbers all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(from + static_cast<double>(i));
  return all;
}

/// 0 … 11 in three rows of four, at strides of their own and 2 elements behind the start.
View grid() { return strided({3, 4}, {1, 5}, counted(12), Element::float32, 2); }

std::int64_t wrong(const std::string& name, Arguments arguments, const View& out) {
  arguments.insert({"self", grid()});
  return standing_of(call_of(name, arguments, {out})).wrong;
}

TEST(MoveRules, DemandTheBitsOfAnotherPlace) {
  const View x = grid(), right = tensor({3, 4}, counted(12));
  EXPECT_EQ(wrong("clone", {}, right), 0);
  EXPECT_EQ(wrong("clone", {}, strided({3, 4}, {4, 1}, counted(12))), 0);
  EXPECT_EQ(wrong("clone", {}, tensor({3, 4}, counted(12, 1))), 12);
  EXPECT_EQ(wrong("_unsafe_view", {}, tensor({2, 6}, counted(12))), 0);
  EXPECT_EQ(wrong("_unsafe_view", {}, vector_of(x.permuted({1, 0}).read())), 10) << "rows, not columns";
  EXPECT_EQ(wrong("clone", {{"self", tensor({0, 4}, {})}}, tensor({0, 4}, {})), 0);
  EXPECT_EQ(wrong("clone", {{"self", number_of(-0.0)}}, number_of(0.0)), 1) << "the sign of zero is a bit";
  EXPECT_THROW(wrong("clone", {}, vector_of({1, 2})), NotJudged);
}

TEST(MoveRules, HoldTurnsAndRepeats) {
  EXPECT_EQ(wrong("flip", {{"dims", Sizes{-1}}}, tensor({3, 4}, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8})), 0);
  EXPECT_EQ(wrong("flip", {{"dims", Sizes{0}}}, tensor({3, 4}, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8})), 12);
  const View rolled = tensor({3, 4}, {3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10});
  EXPECT_EQ(wrong("roll", {{"shifts", Sizes{1}}, {"dims", Sizes{1}}}, rolled), 0);
  EXPECT_EQ(wrong("roll", {{"shifts", Sizes{-1}}, {"dims", Sizes{1}}}, rolled), 12);
  EXPECT_THROW(wrong("roll", {{"shifts", Sizes{1}}, {"dims", Sizes{0, 1}}}, rolled), NotJudged);
  EXPECT_EQ(wrong("repeat", {{"self", vector_of({1, 2})}}, tensor({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2})), 0);
  EXPECT_EQ(wrong("repeat", {{"self", vector_of({1, 2})}}, tensor({2, 4}, {1, 1, 2, 2, 1, 1, 2, 2})), 4);
  EXPECT_THROW(wrong("repeat", {}, vector_of({1})), NotJudged);
  EXPECT_EQ(wrong("tril", {{"diagonal", 0}}, tensor({3, 4}, {0, 0, 0, 0, 4, 5, 0, 0, 8, 9, 10, 0})), 0);
  EXPECT_EQ(wrong("tril", {{"diagonal", -1}}, tensor({3, 4}, {0, 0, 0, 0, 4, 5, 0, 0, 8, 9, 10, 0})), 2);
  EXPECT_EQ(wrong("triu", {{"diagonal", 1}}, tensor({3, 4}, {0, 1, 2, 3, 0, 0, 6, 7, 0, 0, 0, 11})), 0);
  EXPECT_THROW(wrong("triu", {{"self", vector_of({1})}}, vector_of({1})), NotJudged);
}

TEST(MoveRules, HoldPaddingAndSlices) {
  const Arguments one{{"self", vector_of({1, 2})}, {"pad", Sizes{1, 0}}, {"value", 7.0}};
  EXPECT_EQ(wrong("constant_pad_nd", one, vector_of({7, 1, 2})), 0);
  EXPECT_EQ(wrong("constant_pad_nd", one, vector_of({1, 2, 7})), 3) << "the wrong side";
  EXPECT_EQ(wrong("constant_pad_nd", {{"self", vector_of({1, 2, 3})}, {"pad", Sizes{-1, 0}}}, vector_of({2, 3})), 0);
  const Arguments slice{{"grad_output", vector_of({5, 6})}, {"dim", -1}, {"start", -3}, {"step", 2}};
  EXPECT_EQ(wrong("slice_backward", slice, vector_of({0, 5, 0, 6})), 0);
  EXPECT_EQ(wrong("slice_backward", slice, vector_of({5, 0, 6, 0})), 4);
  Arguments still = slice;
  still["step"] = 0;
  EXPECT_THROW(wrong("slice_backward", still, vector_of({0, 5, 0, 6})), NotJudged);
  const Arguments select{{"grad_output", vector_of({5, 6, 7})}, {"dim", 1}, {"index", -1}};
  EXPECT_EQ(wrong("select_backward", select, tensor({3, 2}, {0, 5, 0, 6, 0, 7})), 0);
  EXPECT_EQ(wrong("select_backward", select, tensor({3, 2}, {5, 0, 6, 0, 7, 0})), 6);
  EXPECT_THROW(wrong("select_backward", select, vector_of({1, 2})), NotJudged);
}

TEST(MoveRules, HoldWhatIsJoinedAndSplit) {
  const std::vector<View> parts{grid(), tensor({3, 1}, {-1, -2, -3}), vector_of({})};
  const Numbers joined{0, 1, 2, 3, -1, 4, 5, 6, 7, -2, 8, 9, 10, 11, -3};
  EXPECT_EQ(wrong("cat", {{"tensors", parts}, {"dim", -1}}, tensor({3, 5}, joined)), 0);
  EXPECT_EQ(wrong("cat", {{"tensors", parts}, {"dim", 1}}, tensor({3, 5}, counted(15))), 11);
  const std::vector<View> two{vector_of({1, 2}), vector_of({3, 4})};
  EXPECT_EQ(wrong("stack", {{"tensors", two}, {"dim", -1}}, tensor({2, 2}, {1, 3, 2, 4})), 0);
  EXPECT_EQ(wrong("stack", {{"tensors", two}, {"dim", 0}}, tensor({2, 2}, {1, 3, 2, 4})), 2);
  const Call split = call_of("unsafe_split", {{"self", vector_of({1, 2, 3})}, {"dim", 0}},
                             {std::vector<View>{vector_of({1, 2}), vector_of({4})}});
  EXPECT_EQ(standing_of(split).wrong, 1);
}

TEST(MoveRules, RoundCastsOnce) {
  const auto cast = [](const Numbers& x, Element from, const Numbers& y, Element to) {
    return standing_of(call_of("_to_copy", {{"self", vector_of(x, from)}}, {vector_of(y, to)}));
  };
  EXPECT_EQ(cast({1.0f / 3}, Element::float32, {0.333251953125}, Element::float16).wrong, 0);
  EXPECT_EQ(cast({1.0f / 3}, Element::float32, {0.3330078125}, Element::float16).wrong, 1) << "cut";
  EXPECT_EQ(cast({70000}, Element::float32, {infinite}, Element::float16).wrong, 0);
  EXPECT_EQ(cast({-2.7, 2.7}, Element::float32, {-2, 2}, Element::int64).wrong, 0);
  EXPECT_EQ(cast({2.7}, Element::float32, {3}, Element::int64).wrong, 1);
  EXPECT_EQ(cast({0.5, 2, 0}, Element::float32, {1, 1, 0}, Element::boolean).wrong, 0) << "whatever is not 0 is true";
  EXPECT_EQ(cast({5, 0}, Element::int64, {1, 1}, Element::boolean).wrong, 1);
  EXPECT_EQ(cast({-1, 300}, Element::int64, {255, 44}, Element::uint8).wrong, 0) << "whole numbers wrap";
  const Standing open = cast({NAN, 300.5, -1}, Element::float32, {7, 8, 9}, Element::uint8);
  EXPECT_EQ(open.undecided, 3) << open.first;
}

TEST(MoveRules, HoldFillsChoicesAndRanges) {
  const View three = vector_of({0, 0, 0}), mask = vector_of({1, 0, 1}, Element::boolean);
  EXPECT_EQ(wrong("zeros", {}, three), 0);
  EXPECT_EQ(wrong("ones", {}, three), 3);
  EXPECT_EQ(wrong("full", {{"fill_value", 0.1}}, vector_of({0.1f, 0.1f})), 0);
  EXPECT_EQ(wrong("full", {{"fill_value", 5}}, vector_of({1}, Element::boolean)), 0);
  EXPECT_EQ(wrong("fill", {{"value", number_of(3)}}, vector_of({3, 3})), 0);
  EXPECT_EQ(wrong("scalar_tensor", {{"s", 2}}, number_of(2)), 0);
  EXPECT_EQ(
      wrong("where", {{"condition", mask}, {"self", vector_of({1, 2, 3})}, {"other", -1.0}}, vector_of({1, -1, 3})), 0);
  EXPECT_EQ(
      wrong("where", {{"condition", mask}, {"self", vector_of({1, 2, 3})}, {"other", -1.0}}, vector_of({-1, 2, -1})),
      3);
  EXPECT_EQ(wrong("masked_fill", {{"mask", mask}, {"self", vector_of({1, 2, 3})}, {"value", -infinite}},
                  vector_of({-infinite, 2, -infinite})),
            0);
  EXPECT_EQ(wrong("arange", {{"start", 3}, {"step", 2}}, vector_of({3, 5, 7}, Element::int64)), 0);
  EXPECT_EQ(wrong("arange", {{"start", 3}, {"step", 2}}, vector_of({5, 7, 9}, Element::int64)), 3);
}

TEST(MoveRules, ReadPlacesFromAnIndex) {
  const auto whole = [](const Sizes& sizes, const Numbers& of) { return tensor(sizes, of, Element::int64); };
  const Arguments table{{"weight", grid()}, {"indices", whole({2}, {2, 0})}};
  EXPECT_EQ(wrong("embedding", table, tensor({2, 4}, {8, 9, 10, 11, 0, 1, 2, 3})), 0);
  EXPECT_EQ(wrong("embedding", table, tensor({2, 4}, {4, 5, 6, 7, 0, 1, 2, 3})), 4);
  const Arguments gather{{"dim", -1}, {"index", whole({3, 1}, {1, 0, 3})}};
  EXPECT_EQ(wrong("gather", gather, tensor({3, 1}, {1, 4, 11})), 0);
  EXPECT_EQ(wrong("gather", gather, tensor({3, 1}, {2, 5, 11})), 2);
  EXPECT_EQ(wrong("index_select", {{"dim", 1}, {"index", whole({2}, {3, 1})}}, tensor({3, 2}, {3, 1, 7, 5, 11, 9})), 0);
  EXPECT_EQ(wrong("index_select", {{"self", number_of(3)}, {"dim", 0}, {"index", whole({1}, {0})}}, number_of(3)), 0);
  for (const double beyond : {-1.0, 4.0, 0x1p62}) {
    EXPECT_THROW(wrong("gather", {{"dim", 1}, {"index", whole({3, 1}, {1, 0, beyond})}}, tensor({3, 1}, {1, 4, 11})),
                 NotJudged);
    EXPECT_THROW(wrong("index_select", {{"dim", 1}, {"index", whole({1}, {beyond})}}, tensor({3, 1}, {1, 4, 11})),
                 NotJudged);
    EXPECT_THROW(
        wrong("embedding", {{"weight", grid()}, {"indices", whole({1}, {beyond})}}, tensor({1, 4}, counted(4))),
        NotJudged);
  }
  EXPECT_THROW(wrong("embedding", table, vector_of({1, 2, 3})), NotJudged);
}

}  // namespace
}  // namespace tally::oracle::operations::moves_test
