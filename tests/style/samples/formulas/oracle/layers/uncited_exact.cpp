// (uncited.1)  y = x

/// (uncited.1) of one element.
