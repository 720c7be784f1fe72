#include <gtest/gtest.h>

#include <algorithm>

#include "properties/faults/trials/trials.hpp"

namespace tally::fault_matrix_test {
namespace {

FaultRow row_of(const char* fault) { return fault_row(*find_fault(fault), {}); }

const FaultCell& at(const FaultRow& row, const std::string& precision, const std::string& path,
                    const std::string& optimizer) {
  return *std::find_if(row.cells.begin(), row.cells.end(), [&](const FaultCell& cell) {
    return cell.precision == precision && cell.path == path && cell.optimizer == optimizer;
  });
}

TEST(FaultMatrix, HasACellForEveryPrecisionPathAndOptimizer) {
  const FaultRow row = row_of("mean-of-means");

  EXPECT_EQ(row.cells.size(), 3 * fault_paths().size() * fault_optimizers().size());
  EXPECT_EQ(at(row, "fp32", "separate", "sgd").found, Planted::caught);
  EXPECT_EQ(at(row, "bf16", "into_buffer", "adam").found, Planted::caught);
  for (const FaultCell& cell : row.cells) {
    EXPECT_EQ(cell.reason.empty(), cell.found == Planted::caught) << cell.path << ": " << cell.reason;
  }
}

TEST(FaultMatrix, SaysWhyAFaultCannotBePlantedThere) {
  const FaultCell fused = at(row_of("clip-epsilon-dropped"), "fp32", "fused step", "sgd");
  const FaultCell captured = at(row_of("activations-kept"), "fp32", "captured", "sgd");

  EXPECT_EQ(fused.found, Planted::cannot);
  EXPECT_NE(fused.reason.find("does the work of clip itself"), std::string::npos) << fused.reason;
  EXPECT_EQ(captured.found, Planted::cannot);
  EXPECT_NE(captured.reason.find("while work is captured"), std::string::npos) << captured.reason;
}

TEST(FaultMatrix, ShowsAMarkForEachInItsText) {
  const std::string text = text_of({row_of("mean-of-means")});

  EXPECT_NE(text.find("mean-of-means"), std::string::npos);
  for (const std::string& path : fault_paths()) EXPECT_NE(text.find(path), std::string::npos) << path;
}

}  // namespace
}  // namespace tally::fault_matrix_test
