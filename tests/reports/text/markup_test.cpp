#include "reports/text/markup.hpp"

#include <gtest/gtest.h>

#include "reports/text/text.hpp"

namespace tally::markup_test {
namespace {

TEST(Escaped, LeavesNoMarkup) {
  EXPECT_EQ(escaped("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

TEST(Visible, ShowsWhatWouldHideOrReorder) {
  EXPECT_EQ(visible("a\x1b[31m\x7f\r\n\t"), "a\u241B[31m\u2421\u240D\n\t");
  EXPECT_EQ(visible("\u202Egpj\u2066"), "\u27E8U+202E\u27E9gpj\u27E8U+2066\u27E9");
  EXPECT_EQ(visible("\u0085"), "\uFFFD");
}

TEST(Visible, ReplacesEveryByteThatIsNoUtf8) {
  EXPECT_EQ(visible("\xff\xc3"), "\uFFFD\uFFFD");
  EXPECT_EQ(visible("\xc0\xaf"), "\uFFFD\uFFFD");                      // overlong '/'
  EXPECT_EQ(visible("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");            // half of a pair
  EXPECT_EQ(visible("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond the last code point
  EXPECT_EQ(visible("\uFFFE"), "\uFFFD");                              // XML forbids it
  EXPECT_EQ(visible("\u00E9 \u221E \U0001F600"), "\u00E9 \u221E \U0001F600");
}

TEST(Markup, ClosesWhatItOpensAndEscapesValues) {
  std::string out;
  {
    Markup page(out);
    const auto outer = page.open("p", {{"class", "a\"b"}, {"id", ""}});
    page.element("b", {}, "1 < 2");
    page.empty("br", {});
  }
  EXPECT_EQ(out, "<p class=\"a&quot;b\"><b>1 &lt; 2</b><br/></p>");
}

}  // namespace
}  // namespace tally::markup_test
