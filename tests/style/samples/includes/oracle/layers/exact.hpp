#pragma once
#include "oracle/real/real.hpp"
