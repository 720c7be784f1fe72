#include <string>
#include "oracle/second_in_its_source.hpp"
