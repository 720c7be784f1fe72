// The page of claims and the record name the same fields, and so does the guide that a kernel's author reads.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace tally::claims_page_test {
namespace {

std::string content_of(const std::string& file) {
  std::ifstream in(std::string(TALLY_SOURCE_DIR) + "/" + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// What a pattern's first group matches, everywhere in the text.
std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

std::set<std::string> fields_of_the_record() {
  std::string text = content_of("oracle/layers/claim.hpp");
  text.erase(0, text.find("struct KernelClaim {"));
  text.erase(text.find("\n};"));
  return matches(text, R"(\n  [A-Za-z_:0-9]+ ([a-z_]+)(?: = [^;]+)?;)");
}

TEST(ClaimsPage, HasEveryFieldOfAClaimAndNoOther) {
  const auto fields = fields_of_the_record();
  ASSERT_TRUE(fields.contains("variant") && fields.contains("as_written") && fields.contains("height"));
  EXPECT_EQ(matches(content_of("kernels/claims.md"), R"re(<a id="([a-z_]+)"></a>)re"), fields);
}

TEST(ClaimsPage, IsLinkedFieldByFieldWhereKernelsAreAdded) {
  EXPECT_EQ(matches(content_of("kernels/adding.md"), R"(\]\(claims\.md#([a-z_]+)\))"), fields_of_the_record());
}

}  // namespace
}  // namespace tally::claims_page_test
