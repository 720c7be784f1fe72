#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernels/trace/trace.hpp"
#include "kernels/trace/trace_findings.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/io.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::trace_file_test {
namespace {

class TraceFile : public testing::Test {
 protected:
  std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("trace-") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".safetensors");
  void TearDown() override { std::filesystem::remove(file_); }

  /// Reads `trace` back against the small case and returns what it was refused with.
  std::string refusal(const Trace& trace) {
    write_trace(trace, file_);
    try {
      read_trace(file_, small_case());
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
  /// What the file's reading ends in.
  InvalidTrace refused() const {
    try {
      read_trace(file_, small_case());
    } catch (const InvalidTrace& found) {
      return found;
    }
    return {"nothing", {}};
  }
  Trace with(const std::string& name, const Tensor& value) {
    Trace trace;
    trace.case_hash = hash_of(small_case());
    trace.add(tap_name_of(name), value);
    return trace;
  }
};

TEST_F(TraceFile, ComesBackAsItWasWritten) {
  const Case c = case_with_everything();
  const Trace written = run(c);
  write_trace(written, file_);
  const Trace read = read_trace(file_, c);
  EXPECT_EQ(read.case_hash, hash_of(c));
  EXPECT_EQ(to_json(read.claims), to_json(written.claims));
  ASSERT_EQ(read.taps().size(), written.taps().size());
  for (std::size_t i = 0; i < read.taps().size(); ++i) {
    EXPECT_EQ(read.taps()[i].name, written.taps()[i].name);
    EXPECT_TRUE(read.taps()[i].value == written.taps()[i].value) << read.taps()[i].name.text();
  }
}

TEST_F(TraceFile, ComesBackWhereALayerIsNamedAsAMarkOfTaps) {
  for (const char* name : {"in", "d"}) {
    Case c = small_case();
    c.model.layers[0].name = name;
    c.tensors.clear();
    fill_tensors(c);
    const Trace written = run(c);
    write_trace(written, file_);
    EXPECT_EQ(read_trace(file_, c).taps().size(), written.taps().size()) << name;
  }
}

TEST_F(TraceFile, RefusesAShapeThatTheCaseDoesNotHave) {
  EXPECT_EQ(refusal(with("w0/cast/fc1.weight", Tensor(Dtype::fp32, {5, 4}))),
            file_.string() + ": w0/cast/fc1.weight: found fp32 [5, 4]; expected fp32 [4, 5]");
}

TEST_F(TraceFile, NamesEverythingThatIsWrongAtOnce) {
  Trace trace = with("w0/cast/fc1.weight", Tensor(Dtype::fp32, {5, 4}));
  trace.claims.constants = "decimal";
  trace.groups = {{"clip", "unscale"}};
  trace.add(tap_name_of("w0/m1/loss/in.target"), Tensor(Dtype::fp32, {3}));
  trace.add(tap_name_of("w0/cast/fc1.bias"), Tensor(Dtype::fp32, {4}));

  write_trace(trace, file_);
  const InvalidTrace found = refused();

  EXPECT_EQ(found.what(), file_.string() + ": claims: constants is \"decimal\"; expected binary64 | fp32 (and 3 more)");
  EXPECT_EQ(found.further(), (std::vector<std::string>{"group 'clip..unscale': expected the earlier stage first",
                                                       "w0/cast/fc1.weight: found fp32 [5, 4]; expected fp32 [4, 5]",
                                                       "w0/m1/loss/in.target: found fp32 [3]; expected i64 [3]"}));
}

TEST_F(TraceFile, CountsWhatItDoesNotName) {
  for (const std::size_t wrong : {TraceFindings::most_named, 30 * TraceFindings::most_named}) {
    Trace trace = with("w0/guess/0", Tensor(Dtype::u8, {}));
    for (std::size_t i = 1; i < wrong; ++i)
      trace.add(tap_name_of("w0/guess/" + std::to_string(i)), Tensor(Dtype::u8, {}));
    write_trace(trace, file_);
    const InvalidTrace found = refused();
    const std::size_t unnamed = wrong - TraceFindings::most_named;
    EXPECT_NE(std::string(found.what()).find("(and " + std::to_string(wrong - 1) + " more)"), std::string::npos);
    ASSERT_EQ(found.further().size(), TraceFindings::most_named - 1 + (unnamed > 0));
    EXPECT_EQ(found.further().back() == "and " + std::to_string(unnamed) + " more", unnamed > 0);
  }
}

TEST_F(TraceFile, ShowsTheWholeNameThatHoldsANul) {
  const std::string nul(1, '\0');
  EXPECT_EQ(refusal(with("w0/ca" + nul + "st/fc1.weight", Tensor(Dtype::fp32, {4, 5}))),
            file_.string() + ": w0/ca\u2400st/fc1.weight: found fp32 [4, 5]; expected no such tap in this case");
  TensorFile content;
  content.metadata = {{"tally_trace", "1"}, {"case", hash_of(small_case())}, {"claims", to_json(Claims{})}};
  content.tensors["w0" + nul + "cast"] = Tensor(Dtype::u8, {});
  std::ofstream(file_, std::ios::binary) << write_safetensors(content);
  EXPECT_NE(std::string(refused().what()).find(": 'w0\u2400cast' is no tap name"), std::string::npos);
}

TEST_F(TraceFile, RefusesAFormatThatTheCaseDoesNotHave) {
  EXPECT_EQ(refusal(with("w0/m1/loss/in.target", Tensor(Dtype::fp32, {3}))),
            file_.string() + ": w0/m1/loss/in.target: found fp32 [3]; expected i64 [3]");
}

TEST_F(TraceFile, RefusesTapsThatTheCaseCannotHave) {
  for (const char* name : {"w2/cast/fc1.weight", "w0/m2/loss/loss", "w0/loss/loss", "w0/guess/fc1.weight",
                           "w0/cast/fc9.weight", "w0/optimizer/exp_avg.fc1.weight"}) {
    EXPECT_NE(refusal(with(name, Tensor(Dtype::fp32, {4, 5}))).find("expected no such tap in this case"),
              std::string::npos)
        << name;
  }
}

TEST_F(TraceFile, RefusesTapsOfStagesThatTheRecipeDoesNotUse) {
  const std::pair<const char*, Dtype> unused[] = {{"w0/overflow_check/found", Dtype::u8},
                                                  {"w0/scaler/in.found", Dtype::u8},
                                                  {"w0/scaler/growth_counter", Dtype::i64},
                                                  {"w0/norm/norm", Dtype::fp32},
                                                  {"w0/clip/in.norm", Dtype::fp32}};
  for (const auto& [name, dtype] : unused)
    EXPECT_NE(refusal(with(name, Tensor(dtype, {}))).find("expected no such tap in this case"), std::string::npos)
        << name;
  EXPECT_EQ(refusal(with("w0/schedule/in.found", Tensor(Dtype::u8, {}))).find("no such tap"), std::string::npos);
}

TEST_F(TraceFile, RefusesATraceOfAnotherCase) {
  Trace trace = with("w0/cast/fc1.weight", Tensor(Dtype::fp32, {4, 5}));
  trace.case_hash = "0";
  EXPECT_NE(refusal(trace).find("metadata case is '0'"), std::string::npos);
}

TEST_F(TraceFile, StandsInTheOrderOfAWindowWhenNoOrderIsWritten) {
  TensorFile content;
  content.metadata = {{"tally_trace", "1"}, {"case", hash_of(small_case())}, {"claims", to_json(Claims{})}};
  for (const char* name : {"w0/m0/loss/loss", "w0/m0/loss/in.factor", "w0/cast/fc1.weight", "w0/schedule/step"}) {
    const std::string text = name;
    content.tensors[text] = text.ends_with("step")     ? Tensor(Dtype::i64, {})
                            : text.ends_with("factor") ? Tensor(Dtype::fp32, {})
                            : text.ends_with("loss")   ? Tensor(Dtype::fp32, {2})
                                                       : Tensor(Dtype::fp32, {4, 5});
  }
  std::ofstream(file_, std::ios::binary) << write_safetensors(content);
  std::string names;
  const Trace trace = read_trace(file_, small_case());
  for (const Tap& tap : trace.taps()) names += tap.name.text() + " ";
  EXPECT_EQ(names, "w0/cast/fc1.weight w0/m0/loss/in.factor w0/m0/loss/loss w0/schedule/step ");
}

}  // namespace
}  // namespace tally::trace_file_test
