// The worst error / bound of every rule, by class of data: printed, so that looseness is seen, and held to at most 1.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "tests/oracle/emulated/drawn.hpp"
#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::emulated {

class Table {
 public:
  explicit Table(std::string title) : title_(std::move(title)) {}

  void hold(const std::string& rule, Data data, const Expected& expected, const Matrix<float>& got) {
    rows_[rule][data].hold(expected, got);
  }
  void hold(const std::string& rule, Data data, long double exact, double e, double got) {
    Expected expected{Matrix<long double>(1, 1), Matrix<double>(1, 1)};
    expected.v(0, 0) = exact;
    expected.e(0, 0) = e;
    hold(rule, data, expected, Matrix<float>::Constant(1, 1, static_cast<float>(got)));
  }

  /// Every rule compared something that was not exact, and nothing left its bound.
  void expect_sound() const {
    std::printf("  %s, worst error / bound\n  %-44s", title_.c_str(), "");
    for (const Data data : data_classes) std::printf("%9s", name_of(data).c_str());
    std::printf("\n");
    for (const auto& [rule, cells] : rows_) expect_sound(rule, cells);
    EXPECT_FALSE(rows_.empty());
  }

 private:
  using Cells = std::map<Data, emulation::Worst>;

  static void expect_sound(const std::string& rule, const Cells& cells) {
    double worst = 0;
    std::printf("  %-44s", rule.c_str());
    for (const Data data : data_classes) {
      const auto cell = cells.find(data);
      if (cell != cells.end()) {
        std::printf("%9.4f", cell->second.ratio);
      } else {
        std::printf("%9s", "");
      }
    }
    std::printf("\n");
    for (const auto& [data, cell] : cells) {
      EXPECT_EQ(cell.over, 0u) << rule << ", " << name_of(data) << ": " << cell.ratio;
      worst = std::max(worst, cell.ratio);
    }
    EXPECT_GT(worst, 0.0) << rule << " compared nothing but exact results";
  }

  std::string title_;
  std::map<std::string, Cells> rows_;
};

}  // namespace tally::oracle::emulated
