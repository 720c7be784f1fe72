numpy.allclose(a, b)
