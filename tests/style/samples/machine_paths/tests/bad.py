open("/home/someone/data")
open("oracle/home/data")
open("/work/x")
open("/usr/local/cuda")
HOST = "https://pypi.org/simple"
