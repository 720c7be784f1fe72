#include "properties/judge/certified.hpp"

#include "oracle/tolerance/bounded.hpp"
#include "properties/judge/verdict.hpp"
#include "tests/properties/compare/lens_cases.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::certified_test {
namespace {

/// A number that draws the case.
std::uint64_t taking_draw(std::uint64_t from) {
  for (;; ++from) {
    const CertifiedSample sample(from);
    if (wants_expectations()) return from;
  }
}

CertifiedRecord certified(const Case& c, std::uint64_t draw) {
  const Trace trace = run(c);
  const CertifiedSample sample(draw);
  local_lens(c, trace);
  return sample.record();
}

void expect_agreement(const Case& c) {
  const CertifiedRecord record = certified(c, taking_draw(1));
  EXPECT_GT(record.stages, 0u);
  EXPECT_GT(record.elements, 0u);
  for (const std::string& what : record.disagreements) ADD_FAILURE() << what;
}

TEST(CertifiedSample, AgreesWithTheLongDoublesThatTheLensesUse) {
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      expect_agreement(normal_everything(seed, storage));
      expect_agreement(mlp(seed, storage));
    }
  }
}

TEST(CertifiedSample, TakesASmallCaseWhole) { EXPECT_EQ(certified(normal_case(4), taking_draw(1)).cases, 1u); }

TEST(CertifiedSample, TakesRanksWholeAndRanksWhoseNumberChanges) {
  Case together = three::three_ranks(), changing = case_of(three::small_plan());
  changing.dealt = {{1, 2, 1}, {2}};
  for (const Case& c : {together, changing}) {
    const Trace trace = run(c);
    const CertifiedSample sample(taking_draw(1));

    hard_lenses(c, trace, Grouping::declared);

    std::size_t parameters = 0;
    for (const std::string& p : parameters_of(c.model)) parameters += c.tensors.at(p).elements();
    EXPECT_EQ(sample.record().cases, 1u);
    EXPECT_GE(sample.record().elements, c.windows.size() * 3 * parameters);  // gradient, parameter, momentum of each
    EXPECT_TRUE(sample.record().disagreements.empty());
  }
}

/// Lion over logits of 0 and -256: a gradient of -7/4 e^-256, which long double has as 0.
TEST(CertifiedSample, LeavesASignOpenThatLongDoubleTakesForZero) {
  const Case c = case_of_token(
      "tly1:pdnnle6bolndaeeg556qyxjdgkjehqhykumimeosqi2zcjkxsibzj4n3o5lqtyfwzr2hvsfbc5nvvl56lx6776wc4achvsbwpdlfzwa"
      "3iqhs5unsavs3mlre3qyn2dx6bugbwoil2fagitn5tifscomlubb5odyzlczvolqbmz2mdabdql27raiw55a2xxpakq6lgrskjry6udaryfv"
      "2y2f5yefnb3oaddvq7dbtv45mjmjdii46wvijn4yq2tvmtfq43izvxfsu2npsbpnvtfj6jpzsxs2zb4vn4qibxpqoksovg5ml5xakdm6pqeh"
      "brylofrwqcfz3nydtbt6zsuohhnynxvefsbn6vmwb2tknupjsomolb5qr5sq4lxl2gohlpswuioej24rwvehyswi2hk5bl2tg2ot6qsxlufb"
      "xsscew3xv6ksmxcuxudlufjsrf7v2j44ui5myetsd3ptoeyil6b5cnnt7wyxny7cxz4cahy5jjsetwcy5irjfkxblo6cgqhqr3csvttwzlrr"
      "2cr7l2smdpx2ikqakewwrypgaq47nxtx6uchbcdkzjgbky6czk5s33gqyqzbiyvynw4dliowthe4gsnyyebi67okvogr5wgkfcqqut3qe34d"
      "7agtiurpltzas6ozxf3v42xsvmfloygtrbc7nhae46v53f3gkrdfegujspuj7bgcd6wwipytkpeozt6qv7pz52xjxh56q5ra6yk2ouiacnh7"
      "3zf6kivwroywsllzwepurgd7qufafjrzs2nv4t24fvdc2fhwxf5jkybe2v2ouucis7y4vhjs5zqt4qzpbqu3zj6dxlysuknixzps7zznvlyx"
      "mip7q6d3x72esprqm57yv7gnto5dzdt3hbjdrlyxxbgrx4o3z7lnxvjxq");

  const CertifiedRecord record = certified(c, taking_draw(1));

  for (const std::string& what : record.disagreements) ADD_FAILURE() << what;
  EXPECT_EQ(record.cases, 0u);
  EXPECT_EQ(record.undecided, 1u);
}

TEST(CertifiedSample, TakesOneRunOfOneCaseInSixteen) {
  std::uint64_t taken = 0;
  for (std::uint64_t draw = 0; draw < 1600; ++draw) {
    const CertifiedSample sample(draw);
    taken += wants_expectations();
  }
  EXPECT_GT(taken, 1600 / CertifiedSample::one_in / 2);
  EXPECT_LT(taken, 1600 / CertifiedSample::one_in * 2);
  EXPECT_FALSE(wants_expectations());
}

/// One value of the expectations off by `factor` times what the bound sets apart for long double.
CertifiedRecord with_one_value_off(const std::string& stage, long double factor) {
  const Case c = normal_case(4);
  const Trace trace = run(c);
  Expectations judged;
  {
    const JudgeObserver observer([&](const Place& place, const oracle::Expected& expected, const Tensor&) {
      judged.insert_or_assign(place.tap, expected);
    });
    local_lens(c, trace);
  }
  for (auto& [tap, expected] : judged) {
    if (tap.find(stage) == std::string::npos) continue;
    for (Eigen::Index i = 0; i < expected.v.size(); ++i)
      expected.v.data()[i] += factor * (oracle::pays - 1) * expected.e.data()[i];
  }
  const CertifiedSample sample(taking_draw(1));
  certify(c, trace, judged);
  return sample.record();
}

TEST(CertifiedSample, NamesAValueThatLongDoubleIsNotAllowed) {
  EXPECT_TRUE(with_one_value_off("backward/d.", 0.5L).disagreements.empty());
  const CertifiedRecord record = with_one_value_off("backward/d.", 3);
  ASSERT_FALSE(record.disagreements.empty());
  EXPECT_NE(record.disagreements.front().find("/backward/d."), std::string::npos) << record.disagreements.front();
}

}  // namespace
}  // namespace tally::certified_test
