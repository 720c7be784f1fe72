// How the products of balls of fixed size (oracle/real/product.hpp) are computed in a thread.
#pragma once

#include "oracle/fixed/product.hpp"

namespace tally::oracle::fixed {

/// The route and the cut of products in this thread until the block ends; no bit of theirs depends on it.
class ProductsScope {
 public:
  ProductsScope(Route route, const Schedule& schedule);
  ~ProductsScope();
  ProductsScope(const ProductsScope&) = delete;
  ProductsScope& operator=(const ProductsScope&) = delete;

 private:
  Route route_before_;
  Schedule schedule_before_;
};

/// The threads of products in this thread.
int threads_of_products();

}  // namespace tally::oracle::fixed
