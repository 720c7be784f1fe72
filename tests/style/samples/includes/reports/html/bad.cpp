#include "oracle/layers/claim.hpp"
