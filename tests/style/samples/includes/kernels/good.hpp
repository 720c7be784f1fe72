#pragma once
#include "oracle/layers/claim.hpp"
