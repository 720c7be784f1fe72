numpy.allclose(a, b)
math.isclose(a, b)
torch.testing.assert_allclose(a, b)
self.assertAlmostEqual(a, b)
assert a == pytest.approx(b)
close(a, b, atol=1)
loss_atol = 0.5
