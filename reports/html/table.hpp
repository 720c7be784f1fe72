// A table of the page: caption, scoped headers, in a region that scrolls by itself where the window is narrow.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

class Table {
 public:
  /// A title that starts with '>' sets numbers: flush right.
  Table(Markup& page, const std::string& caption, const std::vector<std::string>& titles);

  /// Ends with the scope it is kept in. `status` lets the row filter find it; empty otherwise.
  class Row {
   public:
    Row(Markup& page, const std::vector<bool>& right, const std::string& status, const std::string& id);
    void cell(std::string_view text);
    void head(std::string_view text, const std::string& link = "");
    /// Folded where it is long.
    void code(std::string_view text);
    void status(Status status, const std::string& link = "");
    /// A cell that the caller fills.
    [[nodiscard]] Markup::Open open(const std::string& extra_class = "");

   private:
    std::string next_class(const std::string& extra = "");
    Markup& page_;
    const std::vector<bool>& right_;
    std::size_t column_ = 0;
    Markup::Open row_;
  };
  [[nodiscard]] Row row(const std::string& status = "", const std::string& id = "") {
    page_.newline();
    return {page_, right_, status, id};
  }

 private:
  Markup& page_;
  std::vector<bool> right_;
  Markup::Open region_, table_;
  bool head_;
  Markup::Open body_;
};

}  // namespace tally
