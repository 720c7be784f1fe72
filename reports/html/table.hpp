// Tables of a page: any, of judged tensors, of ranks.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

// A table of the page: caption, scoped headers, in a region that scrolls by itself where the window is narrow.

class Table {
 public:
  /// A title that starts with '>' sets numbers: flush right.
  Table(Markup& page, const std::string& caption, const std::vector<std::string>& titles);

  /// Ends with the scope it is kept in. `status` and `precision` let the filters find it; empty otherwise. A column
  /// whose title is a precision is found by itself.
  class Row {
   public:
    Row(Markup& page, const Table& table, const std::string& status, const std::string& id,
        const std::string& precision);
    void cell(std::string_view text);
    void head(std::string_view text, const std::string& link = "");
    /// Folded where it is long.
    void code(std::string_view text);
    void status(Status status, const std::string& link = "");
    /// A cell that the caller fills.
    [[nodiscard]] Markup::Open open(const std::string& extra_class = "");

   private:
    Attributes next(const std::string& extra = "");
    Markup& page_;
    const Table& table_;
    std::size_t column_ = 0;
    Markup::Open row_;
  };
  [[nodiscard]] Row row(const std::string& status = "", const std::string& id = "", const std::string& precision = "") {
    page_.newline();
    return {page_, *this, status, id, precision};
  }

 private:
  Markup& page_;
  std::vector<bool> right_;
  std::vector<std::string> precisions_;  // of each column; empty where it has none
  Markup::Open region_, table_;
  bool head_;
  Markup::Open body_;
};

// Judged tensors in a table, and the elements of one that failed.

/// A row a check, with its worst element. Nothing for an empty list.
void tensor_table(Markup& page, const std::string& caption, const std::vector<TensorCheck>& checks);

/// Elements and figures of the first tensor that has any, folded; more would say the same again. `id` is theirs alone.
void tensor_elements(Markup& page, const std::string& id, const std::vector<TensorCheck>& checks);

// Ranks that train together as a grid: a row for ranks that are alike, a column a stage.

/// Nothing without rows. The cell of `first_tap`, the first failing tensor, is marked; empty: none fails.
void rank_grid(Markup& page, const std::vector<RankRow>& rows, const std::string& title, const std::string& first_tap);

}  // namespace tally
