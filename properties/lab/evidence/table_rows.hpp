// A study's table, written row by row.
#pragma once

#include <string>
#include <utility>

#include "reports/record/study.hpp"

namespace tally {

/// Every row names the same columns in the same order.
class TableRows {
 public:
  TableRows(std::string title, std::string note) : table_{std::move(title), std::move(note), {}} {}
  TableRows& word(const std::string& column, std::string text) {
    at(column).words.push_back(std::move(text));
    return *this;
  }
  TableRows& number(const std::string& column, double value) {
    at(column).numbers.push_back(value);
    return *this;
  }
  TableRows& count(const std::string& column, std::uint64_t value) {
    return number(column, static_cast<double>(value));
  }
  StudyTable table() && { return std::move(table_); }

 private:
  StudyColumn& at(const std::string& name) {
    for (StudyColumn& column : table_.columns) {
      if (column.name == name) return column;
    }
    return table_.columns.emplace_back(StudyColumn{name, {}, {}});
  }

  StudyTable table_;
};

}  // namespace tally
