// The one writer of HTML, SVG and XML. What it is given as text or as an attribute's value is escaped here and nowhere
// else, so no section of a page can forget to.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally {

/// visible(), and & < > " ' as entities.
std::string escaped(std::string_view text);

/// An attribute with an empty value is left out.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

class Markup {
 public:
  explicit Markup(std::string& out) : out_(out) {}

  /// An element that ends with the scope it is kept in.
  class Open {
   public:
    Open(std::string& out, std::string_view name) : out_(out), name_(name) {}
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open();

   private:
    std::string& out_;
    std::string name_;
  };
  [[nodiscard]] Open open(std::string_view name, const Attributes& attributes = {});
  void element(std::string_view name, const Attributes& attributes, std::string_view text);
  void empty(std::string_view name, const Attributes& attributes);
  void text(std::string_view text) { out_ += escaped(text); }
  /// For the style sheet and the document type, which are the program's own.
  void trusted(std::string_view text) { out_ += text; }
  void newline() { out_ += '\n'; }

 private:
  void start(std::string_view name, const Attributes& attributes);
  std::string& out_;
};

}  // namespace tally
