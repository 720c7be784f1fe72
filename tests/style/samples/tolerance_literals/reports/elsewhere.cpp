if (width <= 1e-6) return;
