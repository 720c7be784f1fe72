#include <gtest/gtest.h>

#include "kernels/window/arguments.hpp"
#include "tests/kernels/on_device.hpp"
#include "tests/kernels/reduction/kernel_sums.hpp"

namespace tally::adafactor_test {
namespace {

/// One matrix, or a vector, and a step that divides sums by 1, keeps nothing and clips nothing.
struct Step {
  std::int64_t rows, columns;
  DeviceTensor gradient, parameter, row, column, sums = room(3);
  bool factored = true;
  AdafactorArguments arguments() const {
    return {.gradient = gradient.as<float>(),
            .parameter = parameter.data(),
            .row = row.data(),
            .column = factored ? column.data() : nullptr,
            .sums = sums.as<float>(),
            .matrices = 1,
            .rows = rows,
            .columns = columns,
            .per_row = 1,
            .per_column = 1,
            .per_tensor = 1,
            .share = 1,
            .rho = 0,
            .eps1 = 0,
            .squared_eps1 = 0,
            .eps2 = 0,
            .d = 1};
  }
};

TEST(AdafactorKernel, StepsByTheFactorsOfTheSquares) {
  // Squares 1, 1; 9, 9: rows 1 and 9, columns 5 and 5, mean 5; v = 1, 1; 9, 9 and u = 1, -1; 1, 1.
  const Step matrix{2, 2, on_device({1, -1, 3, 3}), on_device({2, 2, 2, 2}), on_device({7, 7}), on_device({7, 7})};
  AdafactorArguments a = matrix.arguments();
  a.per_row = a.per_column = 2;
  a.per_tensor = 4;
  a.rho = 0.25f;
  call("adafactor", a);
  EXPECT_EQ(values_of(matrix.row), (std::vector<double>{1, 9}));
  EXPECT_EQ(values_of(matrix.column), (std::vector<double>{5, 5}));
  EXPECT_EQ(values_of(matrix.parameter), (std::vector<double>{1.5, 2.5, 1.5, 1.5}));
  a.eps2 = 64;   // above the root mean square of the parameter
  a.d = 0.125f;  // an eighth of the update's
  call("adafactor", a);
  EXPECT_EQ(values_of(matrix.parameter), (std::vector<double>{-0.5, 4.5, -0.5, -0.5}));  // 64 / 4 / 8 = 2 further
}

TEST(AdafactorKernel, KeepsEverySquareOfAVector) {
  const Step vector{2, 1, on_device({2, -4}), on_device({3, 3}), on_device({8, 8}), on_device({1}), room(3), false};
  AdafactorArguments a = vector.arguments();
  a.per_tensor = 2;
  a.share = 0.25f;
  a.rho = 1;
  call("adafactor", a);
  EXPECT_EQ(values_of(vector.row), (std::vector<double>{7, 10}));  // 8 + (4 - 8) / 4, 8 + (16 - 8) / 4
}

/// Where v = 1, the update is the gradient.
Step of_a_vector(const std::vector<double>& gradient, const std::vector<double>& parameter) {
  const std::vector<double> ones(gradient.size(), 1);
  return {static_cast<std::int64_t>(ones.size()),
          1,
          on_device(gradient),
          on_device(parameter),
          on_device(ones),
          on_device({1}),
          room(3),
          false};
}

double row_squares(const std::string& variant, const Addends& addends) {
  const std::vector<double> ones = ones_of(addends);
  const Step step{1, count(addends), on_device(squared(addends)), on_device(ones), on_device({1}), on_device(ones)};
  call("adafactor", step.arguments(), variant);
  return values_of(step.row)[0];
}

double column_squares(const std::string& variant, const Addends& addends) {
  const std::vector<double> ones = ones_of(addends);
  const Step step{count(addends), 1, on_device(squared(addends)), on_device(ones), on_device(ones), on_device({1})};
  call("adafactor", step.arguments(), variant);
  return values_of(step.column)[0];
}

double mean_of_rows(const std::string& variant, const Addends& addends) {
  const std::vector<double> ones = ones_of(addends);
  const Step step{count(addends), 1, on_device(ones), on_device(ones), on_device(plain(addends)), on_device({1})};
  AdafactorArguments a = step.arguments();
  a.share = 0;
  call("adafactor", a, variant);
  return values_of(step.sums)[2];
}

template <int which>
double tensor_squares(const std::string& variant, const Addends& addends) {
  const std::vector<double> ones = ones_of(addends);
  const Step step = which == 0 ? of_a_vector(ones, squared(addends)) : of_a_vector(squared(addends), ones);
  AdafactorArguments a = step.arguments();
  a.share = 0;
  call("adafactor", a, variant);
  return values_of(step.sums)[which];
}

const Register<KernelSum> of_rows({"adafactor", "rows", row_squares});
const Register<KernelSum> of_columns({"adafactor", "columns", column_squares});
const Register<KernelSum> of_means({"adafactor", "means of rows", mean_of_rows});
const Register<KernelSum> of_parameter({"adafactor", "parameter", tensor_squares<0>});
const Register<KernelSum> of_update({"adafactor", "update", tensor_squares<1>});

}  // namespace
}  // namespace tally::adafactor_test
