const double rtol = 1e-3;
