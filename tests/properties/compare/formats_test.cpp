// Every combination of formats that a case may name runs, passes both hard lenses, and is seen.
#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::formats_test {
namespace {

std::vector<Precision> combinations() {
  std::vector<Precision> all;
  const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};
  for (const Dtype storage : formats) {
    for (const Dtype accumulate : formats) {
      for (const Dtype master : formats) {
        for (const bool other : {false, true}) {
          if (other && storage == Dtype::bf16) continue;
          const Dtype compute = other && storage == Dtype::fp16 ? Dtype::fp16 : Dtype::fp32;
          all.push_back({storage, compute, accumulate, master, other && storage == Dtype::fp32});
        }
      }
    }
  }
  return all;
}

std::string name_of(const Precision& p) {
  std::string name;
  for (const Dtype each : {p.storage, p.compute, p.accumulate, p.master})
    name += std::string(tally::name_of(each)) + " ";
  return name + (p.tf32 ? "tf32" : "");
}

Case with(const Precision& precision, bool sgd) {
  Case c = case_with_everything();
  c.precision = precision;
  if (sgd) {
    c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}, {"nesterov", true}});
    c.recipe.weight_decay = choice_of("weight_decay", "l2", {{"lambda", Decimal{"0.01"}}});
  }
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);
  return c;
}

TEST(Formats, PassBothLensesInEveryCombination) {
  for (const Precision& precision : combinations()) {
    for (const bool sgd : {false, true}) {
      const Case c = with(precision, sgd);
      ASSERT_TRUE(validate(c).empty()) << name_of(precision);
      const Trace trace = run(c);
      const auto local = local_lens(c, trace), end_to_end = end_to_end_lens(c, trace);
      EXPECT_EQ(first_failure(local), nullptr) << name_of(precision) << told(first_failure(local));
      EXPECT_EQ(first_failure(end_to_end), nullptr) << name_of(precision) << told(first_failure(end_to_end));
      EXPECT_EQ(count(local, Status::not_run), 0u) << name_of(precision);
      EXPECT_GT(count(local, Status::pass) * 2, local.size()) << name_of(precision);
    }
  }
}

/// A run in other formats than the case names is outside its bounds.
TEST(Formats, AreSeenWhereTheyAreNotDeclared) {
  const Precision plain{};
  for (const Precision other :
       {Precision{.accumulate = Dtype::bf16}, Precision{.master = Dtype::bf16}, Precision{.tf32 = true}}) {
    Case declared = with(plain, true), run_as = declared;
    if (other.master != Dtype::fp32) {  // the same bits in both masters
      run_as.precision.master = other.master;
      run_as.tensors.clear();
      fill_tensors(run_as);
      declared.tensors = run_as.tensors;
      for (auto& [name, tensor] : declared.tensors) {
        if (tensor.dtype != other.master) continue;
        Tensor wide(Dtype::fp32, tensor.shape);
        for (std::size_t i = 0; i < tensor.elements(); ++i) wide.set(i, tensor.value(i));
        tensor = wide;
      }
    }
    run_as.precision = other;
    Trace trace = run(run_as);
    trace.case_hash = hash_of(declared);
    const auto local = local_lens(declared, trace);
    EXPECT_NE(first_failure(local), nullptr) << name_of(other);
  }
}

}  // namespace
}  // namespace tally::formats_test
