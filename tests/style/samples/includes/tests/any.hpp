#pragma once
#include "reports/page/page.hpp"
