// Every file that holds a registration record did register when this program started.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/registered_records.hpp"

namespace tally::registration_test {
namespace {

const std::filesystem::path root = TALLY_SOURCE_DIR;

std::set<std::string> on_disk() { return files_with_record(root, {"oracle", "kernels", "properties"}); }

TEST(Registration, RecognisesARecordAndNoCommentAboutOne) {
  EXPECT_TRUE(holds_record("int a;\nconst RegisterKernel registered_forward(\"gelu.forward\", run);\n"));
  EXPECT_TRUE(holds_record("const Register<LayerNorm, Pass> registered{{}};\n"));
  EXPECT_FALSE(holds_record("// const RegisterLaw registered{law};\n"));
  EXPECT_FALSE(holds_record("RegisterLaw::RegisterLaw(Law law) {}\n"));
}

TEST(Registration, FindsARecordByItsNameAndRefusesAnotherOfThatName) {
  struct Sample {
    std::string name;
    int value;
  };
  const Register<Sample> second({"b", 2}), first({"a", 1});
  ASSERT_EQ(all_records<Sample>().size(), 2u);
  EXPECT_EQ(all_records<Sample>().front()->name, "a");
  EXPECT_EQ(find_record<Sample>("b")->value, 2);
  EXPECT_EQ(find_record<Sample>("c"), nullptr);
  EXPECT_THROW(Register<Sample>({"a", 3}), std::logic_error);
}

TEST(Registration, EveryFileWithARecordRegistered) {
  const auto with_record = on_disk();
  const auto in_program = files_that_registered(root);

  ASSERT_FALSE(with_record.empty()) << "no file below " << root << " holds a record";
  for (const auto& path : with_record) EXPECT_TRUE(in_program.contains(path)) << path << " holds a record that is lost";
}

TEST(Registration, EveryRegisteredFileHoldsARecordThatAReaderFinds) {
  const auto with_record = on_disk();

  std::size_t found = 0;
  for (const auto& path : files_that_registered(root)) {
    if (path.starts_with("tests/")) continue;
    EXPECT_TRUE(with_record.contains(path)) << path << " registered without a line `Register… registered`";
    ++found;
  }
  EXPECT_GT(found, 0u);
}

}  // namespace
}  // namespace tally::registration_test
