// (good.3)  y = x, defined where no formula is.
