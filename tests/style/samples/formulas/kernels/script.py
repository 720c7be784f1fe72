# (good.6)
print("(good.5)")
