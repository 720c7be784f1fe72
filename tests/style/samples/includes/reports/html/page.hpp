#pragma once
#include "reports/record/record.hpp"
