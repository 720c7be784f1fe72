#pragma once
#include "reports/html/page.hpp"
