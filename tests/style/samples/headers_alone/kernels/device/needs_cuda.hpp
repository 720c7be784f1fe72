#pragma once
#include <cuda_no_such_header.h>
