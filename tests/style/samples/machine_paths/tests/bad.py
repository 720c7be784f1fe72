open("/home/someone/data")
open("oracle/home/data")
open("/work/x")
open("/usr/local/cuda")
HOST = "https://pypi.org/simple"
open("/root/x")
open("/workspace/x")
open("/Users/someone/x")
open("/builds/x")
open("C:\\x")
open("D:\x")
HOST = "files.pythonhosted.org"
HOST = "deb.debian.org/debian"
HOST = "archive.ubuntu.com/ubuntu"
HOST = "registry.npmjs.org"
HOST = "crates.io"
