#include "oracle/thing.hpp"
