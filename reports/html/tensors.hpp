// Judged tensors in a table, and the elements of one that failed.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// A row a check, with its worst element. Nothing for an empty list.
void tensor_table(Markup& page, const std::string& caption, const std::vector<TensorCheck>& checks);

/// Elements and figures of the first tensor that has any, folded; more would say the same again. `id` is theirs alone.
void tensor_elements(Markup& page, const std::string& id, const std::vector<TensorCheck>& checks);

}  // namespace tally
