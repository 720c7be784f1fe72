#include <charconv>
#include <stdexcept>

#include "kernels/trace/trace.hpp"
#include "oracle/case/json_form.hpp"

namespace tally {
namespace {

/// Reads `<letter><digits>/` off the front of text; -1 when it does not start so.
int take_number(std::string_view& text, char letter) {
  if (text.empty() || text.front() != letter) return -1;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '/' || number < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

}  // namespace

std::string TapName::text() const {
  std::string path = "w" + std::to_string(window) + "/";
  if (micro_batch >= 0) path += "m" + std::to_string(micro_batch) + "/";
  return path + stage + "/" + tensor;
}

TapName tap_name_of(std::string_view text) {
  std::string_view rest = text;
  TapName name;
  name.window = take_number(rest, 'w');
  name.micro_batch = take_number(rest, 'm');
  const auto slash = rest.find('/');
  const bool whole = slash != std::string_view::npos && slash != 0 && slash + 1 != rest.size();
  if (whole) {
    name.stage = rest.substr(0, slash);
    name.tensor = rest.substr(slash + 1);
  }
  if (!whole || name.window < 0 || name.text() != text) {  // one name, one way to write it
    throw std::runtime_error("'" + shortened(text) +
                             "' is no tap name; expected w<window>/[m<micro-batch>/]<stage>/<tensor>");
  }
  return name;
}

}  // namespace tally
