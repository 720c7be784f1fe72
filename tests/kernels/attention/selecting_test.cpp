// Attention that selects: a row's score is exactly 0 for the keys with its own code, and so far below for all others
// that their weights are exactly 0. Each code stands in a sequence once or twice, so that every weight is 1 or 1/2,
// every sum of dyadic numbers is exact, and every kernel, in any order of additions, must leave the same bits: the
// exact ones.
#include <gtest/gtest.h>

#include <array>

#include "kernels/training_step/run/run.hpp"
#include "oracle/case/io.hpp"
#include "oracle/exact/trajectory.hpp"
#include "tests/kernels/attention_case.hpp"

namespace tally::selecting_test {
namespace {

constexpr std::int64_t size = 8;  // four for the code, one that makes a match cancel, three free
constexpr std::array<std::array<int, 4>, 4> codes{{{1, 1, 1, 1}, {1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}}};
/// Of the rows of two sequences.
constexpr std::array<std::size_t, 13> code_of_row{0, 1, 0, 2, 1, 3, 2, 3, /**/ 2, 2, 0, 3, 0};
const std::vector<std::int64_t> sequences{8, 5};

/// q = (16 a, 64, 0, 0, 0), k = (32 a, -32, free): q · k is 512 a · a' - 2048, which is 0 for a = a' and at most -2048
/// else; times 1/4 that is -512.
Case selecting_case(Dtype storage) {
  Case c = small_case();
  c.name = "selecting attention";
  c.precision.storage = storage;
  c.model.input = 3 * size;
  const auto picks = [](const char* name) {
    return reading({"input"}, layer_of("linear", name, {{"out", size}, {"bias", false}}));
  };
  c.model.layers = {
      picks("q"), picks("k"), picks("v"),
      reading({"q", "k", "v"}, layer_of("attention", "att", {{"heads", std::int64_t{1}}, {"scale", Decimal{"0.25"}}}))};
  c.model.loss = choice_of("loss", "mse");
  const auto rows = static_cast<std::int64_t>(code_of_row.size());
  c.windows = {{rows}};
  c.sequences = sequences;
  c.normalisation = Normalisation::sum;
  c.tensors.clear();
  Sequence small;  // multiples of 1/16 below 1
  Tensor x(storage, {rows, 3 * size}), target(storage, {rows, size});
  for (std::size_t row = 0; row < code_of_row.size(); ++row) {
    const auto put = [&](std::size_t column, double value) { x.set(row * 3 * size + column, value); };
    for (std::size_t i = 0; i < 4; ++i) {
      put(i, 16 * codes[code_of_row[row]][i]);
      put(size + i, 32 * codes[code_of_row[row]][i]);
    }
    put(4, 64), put(size + 4, -32);
    for (std::size_t i = 5; i < size; ++i) put(i, 0), put(size + i, small.next());
    for (std::size_t i = 0; i < size; ++i) put(2 * size + i, small.next());
    for (std::size_t i = 0; i < size; ++i) target.set(row * size + i, small.next());
  }
  c.tensors["x"] = x;
  c.tensors["target"] = target;
  for (std::size_t part = 0; part < 3; ++part) {
    Tensor weight(Dtype::fp32, {size, 3 * size});
    for (std::size_t i = 0; i < size; ++i) weight.set(i * 3 * size + part * size + i, 1);
    c.tensors[std::string(1, "qkv"[part]) + ".weight"] = weight;
  }
  return c;
}

/// The mean of the values, up to and with this row of its sequence, that stand beside its code.
double selected(const Case& c, std::size_t row, std::size_t feature) {
  const std::size_t first = row < 8 ? 0 : 8;
  double sum = 0, count = 0;
  for (std::size_t j = first; j <= row; ++j)
    if (code_of_row[j] == code_of_row[row]) sum += c.tensors.at("x").value(j * 3 * size + 2 * size + feature), ++count;
  return sum / count;
}

TEST(SelectingAttention, LeavesTheSameBitsByEveryKernel) {
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16}) {
    Case c = selecting_case(storage);
    ASSERT_TRUE(validate(c).empty());
    const Trace first = run(c);
    for (const char* forward :
         {"naive", "online_blocks", "online_pairs", "eager", "online_cast", "online_cast_sum", "online_exp2"}) {
      for (const char* backward : {"naive", "recompute_blocks", "recompute_cast", "recompute_atomic"}) {
        c.execution.kernels = {{"attention.forward", forward}, {"attention.backward", backward}};
        const Trace trace = run(c);
        for (const char* tap : {"forward/att.y", "forward/att.lse", "backward/att.delta", "backward/d.att.q",
                                "backward/d.att.k", "backward/d.att.v"})
          EXPECT_EQ(*trace.find(std::string("w0/m0/") + tap), *first.find(std::string("w0/m0/") + tap))
              << name_of(storage) << " " << forward << " " << backward << " " << tap;
      }
    }
  }
}

TEST(SelectingAttention, LeavesTheExactOutput) {
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16}) {
    const Case c = selecting_case(storage);
    const Tensor y = *run(c).find("w0/m0/forward/att.y");
    ASSERT_EQ(y.elements(), code_of_row.size() * size);
    for (std::size_t i = 0; i < y.elements(); ++i) EXPECT_EQ(y.value(i), selected(c, i / size, i % size)) << i;
  }
}

/// Through the weights of the linear layers, whose sums over rows are exact as well. q's gradient is not 0. What the
/// exact weights of e^-512 come to is below the range of a float.
TEST(SelectingAttention, LeavesTheExactGradients) {
  using Wide = long double;
  const Case c = selecting_case(Dtype::fp32);
  const Trace trace = run(c);
  const auto answer = oracle::evaluate_window<Wide>(c, 0, oracle::Branch::accumulated, oracle::initial_state<Wide>(c));
  for (const char* name : {"q", "k", "v"}) {
    const auto& exact = answer.grad.at(std::string(name) + ".weight");
    const Tensor& got = *trace.find(std::string("w0/m0/backward/d.") + name + ".weight");
    EXPECT_NE(exact.cwiseAbs().maxCoeff(), 0) << name;
    for (std::size_t i = 0; i < got.elements(); ++i)
      EXPECT_EQ(got.value(i), static_cast<float>(exact.data()[i])) << name << " " << i;
  }
}

}  // namespace
}  // namespace tally::selecting_test
