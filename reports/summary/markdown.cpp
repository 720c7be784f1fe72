#include "reports/summary/markdown.hpp"

#include <algorithm>

#include "reports/text/utf8.hpp"

namespace tally {

std::string markdown(std::string_view text) {
  constexpr std::string_view special = "\\`*_{}[]()#|!~@:";  // @ and : stop mentions and links
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (special.find(c) != special.npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string code_block(std::string_view text) {
  const std::string line = one_line(text);
  std::size_t longest = 2, run = 0;
  for (const char c : line) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(longest + 1, '`');
  return fence + "\n" + line + "\n" + fence + "\n\n";
}

}  // namespace tally
